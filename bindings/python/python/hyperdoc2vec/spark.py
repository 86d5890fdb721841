"""Imports, embeds and adds on Spark: a task a shard, then a merge, with the bytes of one process.

Spark starts the tasks, and starts them again where they fail; parts stand on a file system that all machines see. It
needs ``pyspark`` (or ``pyspark-client``) and ``pyarrow``, nothing of which is imported before a function is called.

>>> from hyperdoc2vec import spark                              # doctest: +SKIP
>>> parts = spark.import_parts(session, "jsonl", ["/data/papers.jsonl.zst"], "/data/parts", shards=64)  # doctest: +SKIP
>>> spark.merge(parts, "/data/papers.corpus")                   # doctest: +SKIP
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hyperdoc2vec.__main__ import program

if TYPE_CHECKING:
    import pyarrow

PathLike = str | os.PathLike[str]

__all__ = ["add_parts", "embed_parts", "embedder", "import_parts", "merge"]


def import_parts(
    session: Any,
    format: str,
    inputs: Sequence[PathLike],
    folder: PathLike,
    *,
    shards: int,
    arguments: Sequence[str] = (),
) -> list[str]:
    """Imports shards of files, each in a task, and returns the paths of the parts, for :func:`merge`.

    :param session: a Spark session, of Spark itself or of a server that speaks Spark Connect.
    :param folder: where the parts are written; all machines must see it, as they must the inputs.
    :param shards: how many; some times the number of cores, so that a slow shard holds up little.
    :param arguments: further arguments of ``hd2v import``, such as ``["--min-count", "2"]``.
    """
    command = ["import", format, *(os.fspath(path) for path in inputs), *arguments]
    return _parts(session, command, os.fspath(folder), "import", shards)


def embed_parts(
    session: Any,
    model: PathLike,
    inputs: Sequence[PathLike],
    folder: PathLike,
    *,
    shards: int,
    arguments: Sequence[str] = (),
) -> list[str]:
    """Embeds shards of files, each in a task, and returns the paths of the parts, for :func:`merge`."""
    command = ["embed", os.fspath(model), *(os.fspath(path) for path in inputs), *arguments]
    return _parts(session, command, os.fspath(folder), "embed", shards)


def add_parts(
    session: Any,
    model: PathLike,
    corpus: PathLike,
    folder: PathLike,
    *,
    shards: int,
    arguments: Sequence[str] = (),
) -> list[str]:
    """Infers the vectors of new documents, a shard a task, and returns the paths of the parts, for :func:`merge` with
    ``arguments=["--model", model, "--corpus", corpus]``."""
    command = ["add", os.fspath(model), os.fspath(corpus), *arguments]
    return _parts(session, command, os.fspath(folder), "add", shards)


def merge(parts: Sequence[PathLike], output: PathLike, *, arguments: Sequence[str] = ()) -> None:
    """Merges parts, on this machine, into the output that one process would have written."""
    _run(["merge", *(os.fspath(path) for path in parts), "-o", os.fspath(output), *arguments])


def embedder(
    model: PathLike, *, text: str = "text", vector: str = "vector"
) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """A function for ``DataFrame.mapInArrow`` that adds to each row the vector of its text.

    The schema of the result is that of the data frame with ``vector array<float>`` behind it:

    >>> schema = "id string, text string, vector array<float>"            # doctest: +SKIP
    >>> vectors = frame.mapInArrow(spark.embedder("/data/papers.model"), schema)  # doctest: +SKIP
    """
    path = os.fspath(model)

    def embed(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        from hyperdoc2vec import Model

        opened = None
        for batch in batches:
            opened = opened or Model.open(path)
            texts = ["" if value is None else value for value in batch.column(text).to_pylist()]
            rows: Any = opened.embed(texts) if texts else []
            column = pyarrow.array([list(map(float, row)) for row in rows], pyarrow.list_(pyarrow.float32()))
            yield pyarrow.RecordBatch.from_arrays([*batch.columns, column], [*batch.schema.names, vector])

    return embed


def _parts(session: Any, command: list[str], folder: str, name: str, shards: int) -> list[str]:
    """Runs a command for each shard, a task each."""
    if shards < 1:
        raise ValueError(f"expected at least one shard, found {shards}")
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, f"{name}-{i}-of-{shards}.part") for i in range(1, shards + 1)]

    def make(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        for batch in batches:
            numbers = batch.column(0).to_pylist()
            for i in numbers:
                # A task that is started again writes its part anew.
                _run([*command, "--shard", f"{i}/{shards}", "-o", paths[i - 1], "--force", "--threads", "1"])
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([paths[i - 1] for i in numbers])], ["part"])

    frame = session.range(1, shards + 1, 1, shards).mapInArrow(make, "part string")
    made = {row[0] for row in frame.collect()}
    missing = [path for path in paths if path not in made]
    if missing:
        raise RuntimeError(f"{len(missing)} of {shards} shards were not made, the first: {missing[0]}")
    return paths


def _run(arguments: list[str]) -> None:
    """Runs hd2v, which the package carries, in a process of its own."""
    done = subprocess.run([*program(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"hd2v ended with {done.returncode}"]
        raise RuntimeError(last[0])
