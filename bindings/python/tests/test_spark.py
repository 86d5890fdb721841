"""Shards on Spark: the API of PySpark, on the engine Sail, which needs no Java."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from hyperdoc2vec.__main__ import program

pytest.importorskip("pyarrow")
pysail = pytest.importorskip("pysail.spark", reason="SPARK IS NOT TESTED: pysail is not installed")
pyspark = pytest.importorskip("pyspark.sql", reason="SPARK IS NOT TESTED: pyspark-client is not installed")

from hyperdoc2vec import Model, spark  # noqa: E402

# PySpark warns of every pandas that is newer than itself; nothing here uses pandas.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")


@pytest.fixture(scope="module")
def session():
    server = pysail.SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    session = pyspark.SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    yield session
    session.stop()
    server.stop()


def hd2v(*arguments: object) -> None:
    subprocess.run([*program(), *map(str, arguments)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("spark")
    with open(folder / "in.jsonl", "w", encoding="utf-8") as file:
        for n in range(6000):
            text = f"w{n % 97} w{n % 89} [[d{n * 7 % 6000}]] " + "words and more of them " * 40
            file.write(json.dumps({"id": f"d{n}", "text": text}) + "\n")
    with open(folder / "new.jsonl", "w", encoding="utf-8") as file:
        for n in range(1200):
            file.write(json.dumps({"id": f"n{n}", "text": f"w{n % 50} w{n % 31} [[d{n}]] new"}) + "\n")
    hd2v("import", "jsonl", folder / "in.jsonl", "-o", folder / "whole")
    hd2v("import", "jsonl", folder / "new.jsonl", "-o", folder / "week")
    quick = ["--dim", "8", "--epochs", "1", "--content-epochs", "1", "--no-hybrid"]
    hd2v("train", folder / "whole", "-o", folder / "model", *quick)
    return folder


def test_a_corpus_imported_by_tasks_has_the_same_bytes(session, place: Path) -> None:
    parts = spark.import_parts(session, "jsonl", [place / "in.jsonl"], place / "parts", shards=3)
    spark.merge(parts, place / "merged")
    files = sorted(path.name for path in (place / "whole").iterdir())
    assert files == sorted(path.name for path in (place / "merged").iterdir())
    for name in files:
        assert (place / "whole" / name).read_bytes() == (place / "merged" / name).read_bytes(), name


def test_texts_embedded_by_tasks_have_the_same_bytes(session, place: Path) -> None:
    hd2v("embed", place / "model", place / "new.jsonl", "-o", place / "whole.npy")
    parts = spark.embed_parts(session, place / "model", [place / "new.jsonl"], place / "parts", shards=2)
    spark.merge(parts, place / "merged.npy")
    assert (place / "whole.npy").read_bytes() == (place / "merged.npy").read_bytes()


def test_documents_added_by_tasks_make_the_same_model(session, place: Path) -> None:
    hd2v("add", place / "model", place / "week", "-o", place / "more")
    parts = spark.add_parts(session, place / "model", place / "week", place / "parts", shards=2)
    arguments = ["--model", str(place / "model"), "--corpus", str(place / "week")]
    spark.merge(parts, place / "merged-more", arguments=arguments)
    assert (place / "more").read_bytes() == (place / "merged-more").read_bytes()


def test_rows_of_a_data_frame_get_the_vectors_of_their_texts(session, place: Path) -> None:
    rows = [(f"t{n}", f"w{n} words and w{n + 3}") for n in range(40)] + [("none", None)]
    frame = session.createDataFrame(rows, "id string, text string").repartition(3)
    made = frame.mapInArrow(spark.embedder(place / "model"), "id string, text string, vector array<float>").collect()
    model = Model.open(place / "model")
    assert len(made) == len(rows)
    for row in made:
        assert list(row["vector"]) == [float(x) for x in model.embed(row["text"] or "")], row["id"]


def test_a_task_that_fails_says_why(session, place: Path) -> None:
    with pytest.raises(Exception, match="no-such-file"):
        spark.import_parts(session, "jsonl", [place / "no-such-file.jsonl"], place / "parts", shards=2)
    with pytest.raises(RuntimeError, match="shard 2/3"):
        parts = [str(place / "parts" / f"import-{i}-of-3.part") for i in (1, 3)]
        spark.merge(parts, place / "other")
    assert not (place / "other").exists()
