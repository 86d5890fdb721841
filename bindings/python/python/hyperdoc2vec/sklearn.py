"""An estimator for pipelines of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hyperdoc2vec import _native, arrow
from hyperdoc2vec.corpus import Corpus
from hyperdoc2vec.training import train

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class HyperDoc2Vec(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Turns texts into the IN vectors of a model that is trained on linked documents.

    Documents are texts, dicts or :class:`hyperdoc2vec.Document` objects, or a table. Texts alone have the ids ``"0"``,
    ``"1"``… Where documents link to each other the method is hyperdoc2vec, and PV-DBOW where they do not.

    >>> from hyperdoc2vec import HyperDoc2Vec
    >>> HyperDoc2Vec(dim=8).fit_transform(["stir the sauce", "heat the oven"] * 20).shape
    (40, 8)

    :param dim: numbers of a vector.
    :param method: one of :data:`hyperdoc2vec.METHODS`, or ``None``: by whether there are links.
    :param window: words that count on each side of a link; ``None`` for the library's default.
    :param epochs: passes over the links; the method's own number if there is none.
    :param content_epochs: passes over the text.
    :param min_count: words that occur less often get no vectors.
    :param seed: everything random follows from it.
    :param threads: 0 for one a core; any number gives the same vectors.
    """

    def __init__(
        self,
        dim: int = _native.DEFAULTS["dim"],
        *,
        method: str | None = None,
        window: int | None = None,
        epochs: int | None = None,
        content_epochs: int | None = None,
        min_count: int = _native.DEFAULTS["min_count"],
        seed: int = _native.DEFAULTS["seed"],
        threads: int = 0,
    ) -> None:
        self.dim = dim
        self.method = method
        self.window = window
        self.epochs = epochs
        self.content_epochs = content_epochs
        self.min_count = min_count
        self.seed = seed
        self.threads = threads

    def fit(self, X: Any, y: object = None) -> HyperDoc2Vec:
        """Trains a model on documents; it is then in ``model_``."""
        corpus = Corpus.from_documents(
            _documents(X), min_count=self.min_count, threads=self.threads, progress=False
        )
        method = self.method
        if method is None:
            method = _native.DEFAULTS["method"] if corpus.counts["links"] else "pv-dbow"
        self.model_ = train(
            corpus,
            dim=self.dim,
            method=method,
            window=self.window,
            epochs=self.epochs,
            content_epochs=self.content_epochs,
            hybrid=False,
            seed=self.seed,
            threads=self.threads,
            progress=False,
        )
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """The IN vectors of texts; those of documents, by their texts."""
        check_is_fitted(self)
        return self.model_.embed([_text(one) for one in _rows(X)], marked=True)

    @property
    def _n_features_out(self) -> int:
        return self.model_.dim

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _documents(X: Any) -> Any:
    """Documents, with ids where they are texts alone."""
    if _is_table(X):
        return X
    return ({"id": str(number), "text": one} if isinstance(one, str) else one for number, one in enumerate(_rows(X)))


def _is_table(X: Any) -> bool:
    # A single column may be a stream, too.
    return arrow.is_table(X) and hasattr(X, "columns")


def _rows(X: Any) -> Iterable[Any]:
    if isinstance(X, (str, bytes)):
        raise ValueError("expected several texts, found one")
    if _is_table(X):
        return arrow.documents(X, needed=("text",))
    if getattr(X, "ndim", 1) != 1:
        raise ValueError(f"expected texts or documents in one dimension, found {X.ndim} dimensions")
    return X  # type: ignore[no-any-return]


def _text(one: Any) -> Any:
    if isinstance(one, Mapping):
        return one["text"]
    return getattr(one, "text", one)
