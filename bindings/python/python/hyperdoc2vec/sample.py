"""Sample data that the package carries."""

from __future__ import annotations

from hyperdoc2vec import _native
from hyperdoc2vec.corpus import Corpus, PathLike, import_
from hyperdoc2vec.scratch import Scratch


def glossary(path: PathLike | None = None, *, replace: bool = False) -> Corpus:
    """A corpus to try things on: a glossary of the field, 218 short notes that link to each other.

    They are about hypertext, retrieval, embeddings and citations, and have topics as labels.

    >>> from hyperdoc2vec import glossary
    >>> corpus = glossary()
    >>> len(corpus), corpus["BM25"].labels
    (218, ['retrieval'])

    :param path: the directory to make; without it, the corpus lasts as long as the object.
    :param replace: whether a corpus that is there may be replaced.
    """
    notes = Scratch()
    for name, text in _native.glossary():
        with open(notes.path(name), "w", encoding="utf-8", newline="") as file:
            file.write(text)
    # So few notes have few words twice.
    return import_("markdown", notes.folder, path=path, min_count=2, replace=replace, progress=False)
