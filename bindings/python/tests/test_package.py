"""The package itself: docstrings that run, stubs that are true."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import hyperdoc2vec

MODULES = ["", ".corpus", ".document", ".evaluation", ".model", ".sample", ".sklearn", ".training", ".views"]


@pytest.fixture(scope="module")
def head() -> dict:
    """The names that the example at the head of the package makes, which those of the model's methods use."""
    names: dict = {}
    for example in doctest.DocTestParser().get_examples(hyperdoc2vec.__doc__):
        exec(example.source, names)
    return names


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module, head, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if module == ".sklearn":
        pytest.importorskip("sklearn")
    names = {"model": head["model"]} if module == ".model" else {}
    found = doctest.testmod(importlib.import_module(f"hyperdoc2vec{module}"), extraglobs=names)
    assert found.failed == 0 and found.attempted > 0


def test_everything_public_is_documented():
    for name in hyperdoc2vec.__all__:
        one = getattr(hyperdoc2vec, name)
        if callable(one):
            assert one.__doc__ and "\n" not in one.__doc__.split(".")[0].strip(), name


def guides() -> list[Path]:
    guide = Path(__file__).parents[3] / "docs" / "guide" / "python.md"
    return [guide] if guide.exists() else []


@pytest.mark.parametrize("guide", guides(), ids=lambda path: path.name)
def test_the_guide_runs(guide, tmp_path, monkeypatch):
    """All blocks of Python of the guide, one after the other, as one program."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: the guide was not run")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    samples = guide.parents[2] / "samples"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "samples").symlink_to(samples)
    blocks = [block.split("```")[0] for block in guide.read_text().split("```python\n")[1:]]
    assert len(blocks) > 5
    names: dict = {}
    for block in blocks:
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, str(guide), str(guide), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            runner.run(test, clear_globs=False)
            assert runner.failures == 0, block
            names.update(test.globs)
        else:
            exec(compile(block, str(guide), "exec"), names)


def test_stubs_are_true(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed: the stubs were not checked")
    options = tmp_path / "mypy.ini"
    options.write_text("[mypy]\nignore_missing_imports = True\n")
    command = [sys.executable, "-m", "mypy.stubtest", "hyperdoc2vec._native", "--mypy-config-file", options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_are_true(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed: the types were not checked")
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "-p", "hyperdoc2vec"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
