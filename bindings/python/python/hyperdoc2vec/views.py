"""Vectors by name, with the methods of gensim's ``KeyedVectors``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Union

from hyperdoc2vec.checks import strings, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

#: A name, or a vector.
Key = Union[str, "Floats"]


class VectorView:
    """Vectors of words or documents by their names, as ``model.wv`` and ``model.dv``.

    >>> import hyperdoc2vec as hd
    >>> notes = [{"id": f"note {n}", "text": f"words and [[note {(n + 1) % 40}]] links"} for n in range(40)]
    >>> model = hd.train(hd.Corpus.from_documents(notes), dim=8)
    >>> model.wv["words"].shape, model.dv.index_to_key[1], len(model.dv.most_similar("note 1", topn=3))
    ((8,), 'note 1', 3)
    """

    def __init__(self, vectors: Floats, names: Sequence[str], row: Callable[[str], int]) -> None:
        self._vectors = vectors
        self._names = names
        self._row = row

    @property
    def vectors(self) -> Floats:
        """The matrix, a read-only view of the mapped file."""
        return self._vectors

    @property
    def vector_size(self) -> int:
        """Numbers of a vector."""
        return int(self._vectors.shape[1])

    @property
    def index_to_key(self) -> Sequence[str]:
        """The names, by their rows."""
        return self._names

    @cached_property
    def key_to_index(self) -> dict[str, int]:
        """The rows, by their names."""
        return {name: row for row, name in enumerate(self._names)}

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, key: object) -> bool:
        return key in self.key_to_index

    def __getitem__(self, key: str | Sequence[str]) -> Floats:
        rows = self._row(key) if isinstance(key, str) else [self._row(one) for one in strings("key", key)]
        found: Floats = self._vectors[rows]
        return found

    def get_vector(self, key: str, norm: bool = False) -> Floats:
        """The vector of a name, on request of length 1."""
        vector = self[key]
        return self._unit(vector) if norm else vector

    def similarity(self, a: str, b: str) -> float:
        """The cosine of two names' vectors."""
        return float(self._unit(self[a]) @ self._unit(self[b]))

    def most_similar(
        self,
        positive: Key | Iterable[Key] | None = None,
        negative: Key | Iterable[Key] | None = None,
        topn: int = 10,
    ) -> list[tuple[str, float]]:
        """The names nearest to the mean of the positive and the negated negative vectors, without these themselves."""
        import numpy as np

        plus, minus = _listed(positive), _listed(negative)
        if not plus and not minus:
            raise ValueError("most_similar needs a name or a vector")
        topn = whole("topn", topn)
        known = {self._row(key) for key in plus + minus if isinstance(key, str)}
        unit = [self._unit(self._vector(key)) for key in plus] + [-self._unit(self._vector(key)) for key in minus]
        scores = (self._vectors @ self._unit(np.mean(unit, axis=0))) / self._lengths
        scores[list(known)] = -np.inf
        count = min(topn, len(self) - len(known))
        best = np.argsort(-scores, kind="stable")[:count]
        return [(self._names[row], float(scores[row])) for row in best]

    def similar_by_vector(self, vector: Floats, topn: int = 10) -> list[tuple[str, float]]:
        """The names nearest to a vector."""
        return self.most_similar(positive=[vector], topn=topn)

    def to_gensim(self) -> Any:
        """A ``KeyedVectors`` of gensim, with a copy of the vectors."""
        from gensim.models import KeyedVectors  # type: ignore[import-not-found,import-untyped,unused-ignore]

        copy = KeyedVectors(self.vector_size)
        copy.add_vectors(list(self._names), self._vectors)
        return copy

    def __repr__(self) -> str:
        return f"<VectorView of {len(self):,} names, {self.vector_size} numbers each>"

    @cached_property
    def _lengths(self) -> Floats:
        import numpy as np

        lengths: Floats = np.linalg.norm(self._vectors, axis=1)
        lengths[lengths == 0] = 1
        return lengths

    def _vector(self, key: Key) -> Floats:
        import numpy as np

        if isinstance(key, str):
            return self[key]
        vector = np.asarray(key, dtype=np.float32)
        if vector.shape != (self.vector_size,):
            raise ValueError(f"expected a vector of {self.vector_size} numbers, found the shape {vector.shape}")
        if not np.isfinite(vector).all():
            raise ValueError("the vector has numbers that are not finite")
        return vector

    @staticmethod
    def _unit(vector: Floats) -> Floats:
        import numpy as np

        length = np.linalg.norm(vector)
        unit: Floats = vector / length if length > 0 else vector
        return unit


def _listed(keys: Key | Iterable[Key] | None) -> list[Key]:
    if keys is None:
        return []
    if isinstance(keys, str) or getattr(keys, "ndim", 0) == 1:
        return [keys]  # type: ignore[list-item]
    return list(keys)
