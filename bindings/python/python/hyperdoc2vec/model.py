"""Models: opened, asked, extended, exported."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from hyperdoc2vec import _native, checks, notebook
from hyperdoc2vec._native import Answer, Hit
from hyperdoc2vec.checks import flag, optional, real, string, strings, whole
from hyperdoc2vec.corpus import Corpus, Documents, PathLike, _place
from hyperdoc2vec.document import Date, date_text
from hyperdoc2vec.progress import Reporter, Show
from hyperdoc2vec.scratch import Scratch
from hyperdoc2vec.suggestions import Suggestions
from hyperdoc2vec.views import VectorView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float32]

#: Formats of exports, by the ending of the file.
ENDINGS = {".npy": "npy", ".tsv": "tsv", ".bin": "word2vec-bin", ".txt": "word2vec", ".vec": "word2vec"}


class Model:
    """Vectors, a search index and a learnt ranker, in one file that is mapped into memory.

    Models do not change; threads may share them, and so may the processes of ``multiprocessing``. The examples of its
    methods ask the model of the notes at the head of the package, see ``help(hyperdoc2vec)``.
    """

    def __init__(self, native: _native.Model, scratch: Scratch | None = None) -> None:
        self._native = native
        self._scratch = scratch

    @classmethod
    def open(cls, path: PathLike, *, in_memory: bool = False) -> Model:
        """Opens a model that was trained before, here or by ``hd2v train``.

        :param in_memory: read the whole file, rather than map it: for files that others overwrite in place. (This
            program never does: a model that is replaced leaves those alone that are open.)
        """
        return cls(_native.Model.open(path, flag("in_memory", in_memory)))

    # -- asking

    @overload
    def recommend(  # type: ignore[overload-overlap]
        self,
        text: str,
        *,
        top: int = ...,
        source: str | None = ...,
        source_text: str | None = ...,
        only: Sequence[str] = ...,
        exclude: Sequence[str] = ...,
        before: Date | None = ...,
        rank: str | None = ...,
        min_probability: float | None = ...,
        explain: bool = ...,
    ) -> Answer: ...
    @overload
    def recommend(
        self,
        text: Iterable[str],
        *,
        top: int = ...,
        source: str | None = ...,
        source_text: str | None = ...,
        only: Sequence[str] = ...,
        exclude: Sequence[str] = ...,
        before: Date | None = ...,
        rank: str | None = ...,
        min_probability: float | None = ...,
        explain: bool = ...,
    ) -> list[Answer]: ...
    def recommend(
        self,
        text: str | Iterable[str],
        *,
        top: int = _native.DEFAULTS["top"],
        source: str | None = None,
        source_text: str | None = None,
        only: Sequence[str] = (),
        exclude: Sequence[str] = (),
        before: Date | None = None,
        rank: str | None = None,
        min_probability: float | None = None,
        explain: bool = False,
    ) -> Answer | list[Answer]:
        """Recommends documents that a text should link to.

        >>> model.recommend("the sauce is stirred with a [[?]]")[0].id
        'spoon'
        >>> [answer.ids[0] for answer in model.recommend(["stir the sauce [[?]]", "before the dough [[?]]"])]
        ['spoon', 'oven']

        :param text: a text, in which ``[[?]]`` may mark the place of the link; or several, which are answered together.
        :param top: the number of hits.
        :param source: the id of the document that the text stands in.
        :param source_text: the text of that document, if the model does not have it.
        :param only: only these ids, or documents with one of these labels.
        :param exclude: ids that are no hits.
        :param before: only documents dated before this.
        :param rank: one of :data:`hyperdoc2vec.RANKINGS`; the best that the model has if there is none.
        :param min_probability: leave out less probable documents.
        :param explain: whether hits say why they were found.
        """
        asked = {
            "top": whole("top", top),
            "source": optional(string, "source", source),
            "source_text": optional(string, "source_text", source_text),
            "only": strings("only", only),
            "exclude": strings("exclude", exclude),
            "before": date_text(before),
            "rank": optional(string, "rank", rank),
            "min_probability": optional(real, "min_probability", min_probability),
            "explain": flag("explain", explain),
        }
        if isinstance(text, str):
            return self._native.recommend([text], asked)[0]
        return self._native.recommend(text, asked)

    def suggest(
        self,
        text: str,
        *,
        format: str = "markdown",
        path: PathLike | None = None,
        min_probability: float = _native.DEFAULTS["min_probability"],
        max: int | None = None,
        never: Iterable[str] = (),
    ) -> Suggestions:
        """Suggests links for a draft: where, and to what.

        >>> found = model.suggest("First heat the oven, then stir the sauce.", min_probability=0.01)
        >>> found[0].words, found[0].id
        ('oven', 'oven')

        :param format: markdown, latex, rst, html, mediawiki or plain.
        :param path: where the draft stands among the documents, if it does; it is then not suggested itself.
        :param min_probability: the minimum probability of a suggestion.
        :param max: the maximum number of suggestions; all of them by default.
        :param never: titles, ids, labels and phrases that are never linked.
        """
        options = {
            "format": string("format", format),
            "path": None if path is None else os.fspath(path),
            "min_probability": real("min_probability", min_probability),
            "max": optional(whole, "max", max),
            "never": [never] if isinstance(never, str) else strings("never", never),
        }
        return Suggestions(text, self._native.suggest(text, options))

    def similar(
        self, to: str | ArrayLike, *, by: str = "in", top: int = _native.DEFAULTS["top"]
    ) -> list[Hit]:
        """The documents near a document, by the cosine of their vectors.

        >>> len(model.similar("spoon", by="out", top=3))
        3

        :param to: the id of a document, or a vector, as :meth:`embed` makes them.
        :param by: ``"in"`` (what documents say) or ``"out"`` (what others say of them).
        """
        if isinstance(to, str):
            return self._native.similar(to, string("by", by), whole("top", top))
        import numpy as np

        vector = np.asarray(to, dtype=np.float32)
        if vector.ndim != 1:
            raise ValueError(f"expected one vector, found an array of {vector.ndim} dimensions")
        if not np.isfinite(vector).all():
            raise ValueError("the vector has numbers that are not finite")
        return self._native.similar_to(vector.tolist(), string("by", by), whole("top", top))

    def similar_words(
        self, word: str, *, by: str = "in", top: int = _native.DEFAULTS["top"]
    ) -> list[tuple[str, float]]:
        """The words near a word, with their cosines."""
        return self._native.similar_words(word, string("by", by), whole("top", top))

    def embed(self, texts: str | Iterable[str], *, marked: bool = False) -> Floats:
        """The IN vectors of texts that the model was not trained on: a row a text, or one vector for one text.

        >>> model.embed(["heat the oven", "stir the sauce"]).shape
        (2, 16)

        :param marked: whether links are marked in the texts, as in documents; they are left out.
        """
        import numpy as np

        one = isinstance(texts, str)
        listed = [texts] if isinstance(texts, str) else texts
        rows: Floats = np.array(self._native.embed(listed, flag("marked", marked)))
        return rows.reshape(-1) if one else rows

    # -- vectors

    @property
    def doc_in(self) -> Floats:
        """IN vectors of documents, what they say: a read-only view of the mapped file."""
        return self._vectors("doc-in")

    @property
    def doc_out(self) -> Floats:
        """OUT vectors of documents, what others say of them: a read-only view of the mapped file."""
        return self._vectors("doc-out")

    @property
    def word_in(self) -> Floats:
        """IN vectors of words: a read-only view of the mapped file."""
        return self._vectors("word-in")

    @property
    def word_out(self) -> Floats:
        """OUT vectors of words: a read-only view of the mapped file."""
        return self._vectors("word-out")

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of documents, by their rows."""
        return tuple(self._native.ids())

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The titles of documents, by their rows; empty where there is none."""
        return tuple(self._native.titles())

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The labels of documents, by their rows."""
        return tuple(map(tuple, self._native.labels()))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words that have vectors, by their rows."""
        return tuple(self._native.vocabulary())

    @cached_property
    def wv(self) -> VectorView:
        """IN vectors of words by name, with the methods of gensim."""
        return VectorView(self.word_in, self.words, self._native.word_row)

    @cached_property
    def dv(self) -> VectorView:
        """IN vectors of documents by id, with the methods of gensim."""
        return VectorView(self.doc_in, self.ids, self._native.document_row)

    @cached_property
    def dv_out(self) -> VectorView:
        """OUT vectors of documents by id, with the methods of gensim."""
        return VectorView(self.doc_out, self.ids, self._native.document_row)

    def _vectors(self, which: str) -> Floats:
        import numpy as np

        return np.asarray(self._native.vectors(which))

    # -- files

    def add(
        self,
        documents: Corpus | Documents,
        path: PathLike | None = None,
        *,
        threads: int = 0,
        replace: bool = False,
        progress: Show = None,
    ) -> Model:
        """A model with these documents, too, without training it again. This one stays as it is.

        >>> more = model.add([{"id": "pan", "text": "the sauce is in a pan"}])
        >>> len(model), len(more), "pan" in more
        (82, 83, True)
        """
        scratch, path = _place(path, "model")
        if not isinstance(documents, Corpus):
            lowercase = self.about["corpus"]["options"]["lowercase"]
            documents = Corpus.from_documents(documents, min_count=1, lowercase=lowercase, progress=False)
        with Reporter(progress) as reporter:
            options = {"path": path, "threads": checks.threads(threads), "replace": flag("replace", replace)}
            native = self._native.add(documents._native, options, reporter.reading)
            return Model(native, scratch)

    def export(
        self,
        path: PathLike,
        what: str = "doc-in",
        *,
        format: str | None = None,
        normalize: bool = False,
        replace: bool = False,
    ) -> None:
        """Writes vectors for other programs, as ``hd2v export`` does.

        >>> model.export("notes.npy", "doc-out")
        >>> model.export("words.txt", "word-in", normalize=True)

        :param what: word-in, word-out, doc-in or doc-out.
        :param format: npy, tsv, word2vec or word2vec-bin; by the ending of the path if there is none.
        :param normalize: write vectors of length 1.
        :param replace: whether vectors of the same format that are there may be replaced.
        """
        if format is None:
            ending = os.path.splitext(os.fspath(path))[1].lower()
            if ending not in ENDINGS:
                raise ValueError(f"{path}: the ending does not tell the format; name it")
            format = ENDINGS[ending]
        options = {
            "which": string("what", what).replace("_", "-"),
            "format": string("format", format),
            "normalize": flag("normalize", normalize),
            "replace": flag("replace", replace),
        }
        self._native.export(path, options)

    def save(self, path: PathLike, *, replace: bool = False) -> Model:
        """Writes the model to a path, as it was opened, and opens what was written.

        :param replace: whether a model that is there may be replaced.
        """
        self._native.save(path, flag("replace", replace))
        return Model.open(path)

    @property
    def path(self) -> str:
        """The file."""
        return os.fspath(self._native.path)

    # -- facts

    @property
    def dim(self) -> int:
        """Numbers of a vector."""
        return self._native.dim

    @property
    def method(self) -> str:
        """The method that it was trained by."""
        return self._native.method

    @property
    def rankings(self) -> list[str]:
        """The rankings that it can give; the first answers where none is named."""
        return self._native.rankings()

    @cached_property
    def about(self) -> dict[str, Any]:
        """Counts, parameters and provenance, as the file keeps them."""
        return self._native.about()

    @cached_property
    def fingerprint(self) -> str:
        """Tells models apart: it follows from the checksums of all parts of the file."""
        import hashlib

        return hashlib.sha256(self._native.about_text().encode()).hexdigest()[:16]

    def __len__(self) -> int:
        return self._native.documents

    def __contains__(self, id: object) -> bool:
        return id in self.dv

    def __repr__(self) -> str:
        native = self._native
        place = "temporary" if self._scratch is not None else self.path
        return f"<Model of {native.documents:,} documents, {native.words:,} words, {native.dim} dimensions: {place}>"

    def _repr_html_(self) -> str:
        facts = {
            "documents": f"{self._native.documents:,}",
            "words": f"{self._native.words:,}",
            "dimensions": str(self.dim),
            "method": self.method,
            "rankings": ", ".join(self.rankings),
            "file": "temporary" if self._scratch is not None else self.path,
        }
        return notebook.facts(facts)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._scratch is None:
            return (_reopen, (os.path.abspath(self.path), self.fingerprint))
        with open(self.path, "rb") as file:
            return (_unpack, (file.read(),))


def _reopen(path: str, fingerprint: str) -> Model:
    """Opens a pickled model again."""
    model = Model.open(path)
    if model.fingerprint != fingerprint:
        raise ValueError(f"{path}: not the model that was pickled; it has been replaced since")
    return model


def _unpack(content: bytes) -> Model:
    """Makes a pickled model that had no path of its own."""
    scratch, path = _place(None, "model")
    with open(path, "wb") as file:
        file.write(content)
    return Model(_native.Model.open(path, False), scratch)
