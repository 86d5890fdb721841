"""The package itself: docstrings that run, stubs that are true."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys

import pytest

import hyperdoc2vec

MODULES = ["", ".corpus", ".document", ".model", ".training", ".views", ".evaluation", ".suggestions", ".progress"]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module):
    found = doctest.testmod(importlib.import_module(f"hyperdoc2vec{module}"))
    assert found.failed == 0
    if module in ("", ".corpus", ".document", ".views"):
        assert found.attempted > 0


def test_everything_public_is_documented():
    for name in hyperdoc2vec.__all__:
        one = getattr(hyperdoc2vec, name)
        if callable(one):
            assert one.__doc__ and "\n" not in one.__doc__.split(".")[0].strip(), name


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
