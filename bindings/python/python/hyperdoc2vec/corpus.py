"""Corpora: documents with their words and links."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from hyperdoc2vec import _native, arrow, checks, notebook
from hyperdoc2vec.__main__ import program
from hyperdoc2vec.checks import flag, optional, string, strings, whole
from hyperdoc2vec.document import Document
from hyperdoc2vec.progress import Reporter, Show
from hyperdoc2vec.scratch import Scratch

PathLike = Union[str, "os.PathLike[str]"]

#: Dicts, :class:`Document` objects, or a table with the Arrow PyCapsule interface (pandas, polars, pyarrow, DuckDB).
Documents = Union[Iterable[Union[Document, Mapping[str, Any]]], Any]


@dataclass(frozen=True)
class Loss:
    """Something that an import could not keep."""

    what: str
    count: int
    samples: list[str]


class Corpus:
    """Documents with their words and links, in a directory that is mapped into memory.

    >>> corpus = Corpus.from_documents([
    ...     Document("bleu", "a metric for translations", title="BLEU"),
    ...     {"id": "moses", "text": "a toolkit, scored by [[bleu]]", "date": 2007, "labels": ["tool"]},
    ... ])
    >>> len(corpus), corpus.counts["links"]
    (2, 1)
    >>> corpus["moses"].text
    'a toolkit, scored by [[bleu]]'
    """

    def __init__(self, native: _native.Corpus, scratch: Scratch | None = None) -> None:
        self._native = native
        self._scratch = scratch

    @classmethod
    def open(cls, path: PathLike) -> Corpus:
        """Opens a corpus that was built before, here or by ``hd2v import``."""
        return cls(_native.Corpus.open(path))

    @classmethod
    def from_documents(
        cls,
        documents: Documents,
        path: PathLike | None = None,
        *,
        min_count: int | None = None,
        lowercase: bool | None = None,
        threads: int = 0,
        replace: bool = False,
        progress: Show = None,
    ) -> Corpus:
        """Builds a corpus.

        :param documents: dicts or :class:`Document` objects, or a table with such columns: ``id`` and ``text``,
            optionally ``title``, ``authors``, ``date``, ``labels``, ``url``, ``language``. Iterators are read as they
            come.
        :param path: the directory to make; without it, the corpus lasts as long as this object.
        :param min_count: words that occur less often get no vectors.
        :param lowercase: whether upper and lower case are the same.
        :param threads: 0 for one a core; any number gives the same corpus.
        :param replace: whether a corpus that is there may be replaced.
        :param progress: see :data:`hyperdoc2vec.progress.Show`.
        """
        scratch, path = _place(path, "corpus")
        options = _options(min_count, lowercase, threads, replace)
        rows = arrow.documents(documents) if arrow.is_table(documents) else documents
        with Reporter(progress) as reporter:
            return cls(_native.build(rows, path, options, reporter.reading), scratch)

    @property
    def path(self) -> str:
        """The directory."""
        return os.fspath(self._native.path)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of documents, words, links and so on."""
        counts: dict[str, int] = self._native.about()["counts"]
        return counts

    @property
    def about(self) -> dict[str, Any]:
        """Counts, options, provenance and checksums, as the corpus keeps them."""
        return self._native.about()

    @property
    def losses(self) -> list[Loss]:
        """What could not be kept, by kind."""
        return [Loss(*loss) for loss in self._native.losses()]

    @property
    def ids(self) -> list[str]:
        """The ids of all documents, in the order of the input."""
        return self._native.ids()

    def __len__(self) -> int:
        return len(self._native)

    def __contains__(self, id: object) -> bool:
        try:
            return isinstance(id, str) and self._native.has(id)
        except UnicodeEncodeError:
            return False  # half a character is in no id

    def __getitem__(self, id: str) -> Document:
        return Document(**self._native.find(id))

    def __iter__(self) -> Iterator[Document]:
        for number in range(len(self)):
            yield Document(**self._native.document(number))

    def __reduce__(self) -> tuple[Any, ...]:
        if self._scratch is not None:
            raise TypeError("this corpus has no path of its own; build it with a path to pickle it")
        return (_reopen, (os.path.abspath(self.path), self.about["fingerprint"]))

    def __repr__(self) -> str:
        counts = self.counts
        place = "temporary" if self._scratch is not None else self.path
        return f"<Corpus of {counts['documents']:,} documents, {counts['links']:,} links: {place}>"

    def _repr_html_(self) -> str:
        counts = self.counts
        facts = {name: f"{counts[name]:,}" for name in ("documents", "words", "links")}
        facts["lost"] = f"{sum(loss.count for loss in self.losses):,}"
        facts["directory"] = "temporary" if self._scratch is not None else self.path
        return notebook.facts(facts)


def import_(
    format: str,
    *inputs: PathLike,
    path: PathLike | None = None,
    min_count: int | None = None,
    lowercase: bool | None = None,
    skip_bad: bool = False,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    base_url: str | None = None,
    code_links: bool | None = None,
    sections: bool = False,
    namespaces: Sequence[int] | None = None,
    metadata: PathLike | None = None,
    files: Sequence[PathLike] = (),
    cited_works: bool | None = None,
    grobid: str | None = None,
    texts: PathLike | None = None,
    threads: int = 0,
    replace: bool = False,
    progress: Show = None,
) -> Corpus:
    """Builds a corpus from files, as ``hd2v import`` does.

    >>> with open("note.md", "w") as file:
    ...     _ = file.write("# A note\\n\\nIt has a few words.\\n")
    >>> import_("markdown", "note.md").ids
    ['note']

    :param format: one of :data:`hyperdoc2vec.FORMATS`: ``"jsonl"``, ``"markdown"``, ``"html"``, ``"library"``…
    :param inputs: files or directories.
    :param path: the directory to make; without it, the corpus lasts as long as the object.
    :param skip_bad: leave out records that cannot be read, and count them.
    :param include: globs of the pages to take, below the root.
    :param exclude: globs of pages to leave out.
    :param base_url: the web address of the root.
    :param code_links: whether links inside code are links.
    :param sections: whether sections of pages are documents, too.
    :param namespaces: numbers of the namespaces of a wiki that are read.
    :param metadata: the table of metadata, for papers.
    :param files: directories in which the files of a library are looked for.
    :param cited_works: whether works that are cited, but are not there, become documents.
    :param grobid: the address of a GROBID server that reads PDFs.
    :param texts: a directory that keeps the text of PDFs.

    The other parameters are those of :meth:`Corpus.from_documents`.
    """
    if not inputs:
        raise ValueError("import_ needs a file or a directory to read")
    read = [checks.path("inputs", one) for one in inputs]
    scratch, path = _place(path, "corpus")
    of_files = {
        "format": string("format", format),
        "skip_bad": flag("skip_bad", skip_bad),
        "include": strings("include", include),
        "exclude": strings("exclude", exclude),
        "base_url": optional(string, "base_url", base_url),
        "code_links": optional(flag, "code_links", code_links),
        "sections": flag("sections", sections),
        "namespaces": optional(checks.integers, "namespaces", namespaces),
        "metadata": optional(checks.path, "metadata", metadata),
        "files": _paths("files", files),
        "cited_works": optional(flag, "cited_works", cited_works),
        "grobid": optional(string, "grobid", grobid),
        "texts": optional(checks.path, "texts", texts),
        "pdf_commands": _pdf_commands(),
    }
    options = (_options(min_count, lowercase, threads, replace), of_files)
    with Reporter(progress) as reporter:
        return Corpus(_native.import_files(read, path, options, reporter.reading), scratch)


def native_corpus(corpus: Corpus) -> _native.Corpus:
    """The native half of a corpus; an error where it is something else."""
    if isinstance(corpus, Corpus):
        return corpus._native
    found = type(corpus).__name__
    raise TypeError(f"corpus: expected a Corpus, found {found}; build one with Corpus.from_documents or import_")


def _reopen(path: str, fingerprint: str) -> Corpus:
    """Opens a pickled corpus again."""
    corpus = Corpus.open(path)
    if corpus.about["fingerprint"] != fingerprint:
        raise ValueError(f"{path}: not the corpus that was pickled; it has been replaced since")
    return corpus


def _place(path: PathLike | None, name: str) -> tuple[Scratch | None, PathLike]:
    """Where something is written: at the path, or in a directory of its own."""
    if path is not None:
        return None, path
    scratch = Scratch()
    return scratch, scratch.path(name)


def _paths(name: str, paths: Any) -> list[str]:
    """Paths, or one."""
    if isinstance(paths, Iterable) and not isinstance(paths, (str, bytes)):
        return [checks.path(name, one) for one in paths]
    return [checks.path(name, paths)]


def _options(min_count: int | None, lowercase: bool | None, threads: int, replace: bool) -> dict[str, Any]:
    return {
        "min_count": optional(whole, "min_count", min_count),
        "lowercase": optional(flag, "lowercase", lowercase),
        "threads": checks.threads(threads),
        "replace": flag("replace", replace),
    }


def _pdf_commands() -> list[tuple[str, str, list[str]]]:
    """Commands that print the text of a PDF, the best first, and its title, as ``hd2v import`` uses them."""
    own, *first = program()
    commands = [
        ("built-in", own, [*first, "pdf-text", "{}"]),
        ("titles", own, [*first, "pdf-text", "--titles", "{}"]),
    ]
    pdftotext = shutil.which("pdftotext")
    if pdftotext is not None:
        plain = ["-q", "-enc", "UTF-8", "{}", "-"]
        commands[:0] = [("pdftotext-raw", pdftotext, ["-raw", *plain]), ("pdftotext", pdftotext, plain)]
    return commands
