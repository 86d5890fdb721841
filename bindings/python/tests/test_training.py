"""Training from Python: parameters, progress, interruption, the same bytes as the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import kitchen

import hyperdoc2vec as hd


def hd2v(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs the program inside the wheel."""
    command = [sys.executable, "-m", "hyperdoc2vec", *map(os.fspath, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("method", ["h-d2v", "h-d2v-paper", "pv-dm", "deepwalk"])
def test_a_model_has_the_bytes_of_the_command_line(tmp_path, method):
    documents = "".join(json.dumps(document | {"date": str(document["date"])}) + "\n" for document in kitchen())
    (tmp_path / "kitchen.jsonl").write_text(documents)
    corpus = hd.import_("jsonl", tmp_path / "kitchen.jsonl", path=tmp_path / "python.corpus")
    model = hd.train(corpus, tmp_path / "python.model", method=method, epochs=2, threads=1)
    done = hd2v("import", "jsonl", tmp_path / "kitchen.jsonl", "-o", tmp_path / "program.corpus")
    assert done.returncode == 0, done.stderr
    options = ["-o", tmp_path / "program.model", "--method", method, "--epochs", "2"]
    done = hd2v("train", tmp_path / "program.corpus", *options)
    assert done.returncode == 0, done.stderr
    assert Path(model.path).read_bytes() == (tmp_path / "program.model").read_bytes()


def test_vectors_in_half_precision_are_rounded_and_widened_for_numpy(corpus, tmp_path):
    options = {"dim": 8, "epochs": 1, "content_epochs": 1, "hybrid": False}
    whole = hd.train(corpus, tmp_path / "whole.model", **options)
    half = hd.train(corpus, tmp_path / "half.model", storage="f16", **options)
    assert half.doc_in.dtype == "float32"
    assert (half.doc_in == whole.doc_in.astype("float16").astype("float32")).all()
    assert (half.word_out == whole.word_out.astype("float16").astype("float32")).all()
    assert Path(half.path).stat().st_size < Path(whole.path).stat().st_size


def test_the_program_answers_as_the_package_does(model):
    text = "stir the sauce with a [[?]]"
    done = hd2v("recommend", model.path, "--text", text, "--top", "3", "--json")
    assert [hit["id"] for hit in json.loads(done.stdout)["hits"]] == model.recommend(text, top=3).ids


def test_the_program_exits_as_it_does_alone():
    assert hd2v("--version").stdout.startswith("hd2v ")
    assert hd2v("recommend").returncode == 2
    assert hd2v("info", "/no/such/file").returncode == 1


def test_defaults_are_those_of_the_library(corpus):
    import inspect

    parameters = inspect.signature(hd.train).parameters
    help = hd2v("train", "--help").stdout
    assert f"[default: {parameters['seed'].default}]" in help
    assert parameters["method"].default == "h-d2v"
    for method, dim in (("h-d2v", 100), ("deepwalk", 64)):
        assert hd.train(corpus, method=method, epochs=1, hybrid=False).dim == dim


def test_progress_goes_to_a_function(corpus):
    seen = []
    hd.train(corpus, dim=8, progress=seen.append)
    assert all(0 <= one.done <= 1 for one in seen)
    assert all(one.phase for one in seen)


def test_an_exception_of_the_function_stops_the_run(corpus, tmp_path):
    def stop(progress):
        raise RuntimeError("enough")

    path = tmp_path / "m"
    with pytest.raises(RuntimeError, match="enough"):
        hd.train(corpus, path, dim=64, epochs=100_000, hybrid=False, progress=stop)
    assert not path.exists() and (tmp_path / "m.checkpoint").exists()
    with pytest.raises(FileExistsError, match="resume=True"):
        hd.train(corpus, path, dim=64, epochs=100_000, hybrid=False)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_stops_within_a_second_and_leaves_a_checkpoint(corpus, tmp_path):
    script = (
        "import sys, hyperdoc2vec as hd\n"
        "print('ready', flush=True)\n"
        "hd.train(hd.Corpus.open(sys.argv[1]), sys.argv[2], dim=64, epochs=100_000, hybrid=False)\n"
    )
    command = [sys.executable, "-c", script, corpus.path, tmp_path / "m"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=60)[1]
    assert "KeyboardInterrupt: stopped; resume from the checkpoint" in error
    assert (tmp_path / "m.checkpoint").exists()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"dim": 0}, ValueError, "dim is 0"),
        ({"dim": -1}, ValueError, "dim is -1"),
        ({"dim": 2.5}, TypeError, "dim: expected a whole number, found float"),
        ({"dim": 10**30}, ValueError, "dim is 1000"),
        ({"method": "best"}, ValueError, "expected a method .*h-d2v"),
        ({"storage": "f8"}, ValueError, "expected a storage .f32, f16., found"),
        ({"until": "soon"}, ValueError, "expected a date"),
        ({"until": 1900}, ValueError, None),
        ({"rate": float("nan")}, ValueError, "rate"),
        ({"seconds": -1}, ValueError, "seconds is -1"),
        ({"seconds": "1"}, TypeError, "seconds: expected a number, found str"),
        ({"hybrid": "yes"}, TypeError, "hybrid: expected True or False, found str"),
        ({"method": 7}, TypeError, "method: expected a str, found int"),
        ({"threads": None}, TypeError, "threads: expected a whole number, found NoneType"),
        ({"dim": 2**62}, ValueError, "dim"),
        ({"threads": 10**9}, ValueError, "threads is 1000000000, but must be from 0 .* to 1024"),
        ({"progress": 7}, TypeError, "progress: expected"),
    ],
)
def test_bad_parameters_are_refused(corpus, arguments, error, words):
    with pytest.raises(error, match=words):
        hd.train(corpus, **arguments)


def test_only_corpora_are_trained_on():
    with pytest.raises(TypeError, match="expected a Corpus, found list"):
        hd.train(kitchen())
    words = [{"id": str(n), "text": "words without a link"} for n in range(20)]
    with pytest.raises(ValueError, match="learns from links"):
        hd.train(hd.Corpus.from_documents(words), method="deepwalk")


def test_held_out_links_are_evaluated(corpus):
    found = hd.evaluate_links(corpus, ["popular", "bm25-cited", "h-d2v"], holdout=0.3, dim=8, epochs=2)
    assert [figures["method"] for figures in found] == ["popular", "bm25-cited", "h-d2v"]
    assert found["bm25-cited"]["recall@10"] == 1
    assert "h-d2v" in repr(found) and found.split["positions"] > 5
    with pytest.raises(KeyError, match="there are popular"):
        found["best"]
    with pytest.raises(ValueError):
        hd.evaluate_links(corpus, ["best"])
    with pytest.raises(ValueError, match="methods is empty"):
        hd.evaluate_links(corpus, [])
    with pytest.raises(ValueError, match="every is 0"):
        hd.evaluate_links(corpus, ["popular"], every=0)
    with pytest.raises(ValueError):
        hd.evaluate_links(corpus, ["popular"], holdout=2.0)
