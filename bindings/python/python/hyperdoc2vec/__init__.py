"""Embeddings for documents that link to each other.

>>> import hyperdoc2vec as hd
>>> notes = [{"id": "spoon", "text": "a spoon of wood"}, {"id": "oven", "text": "a hot box for bread"}]
>>> notes += [{"id": f"cook {n}", "text": "stir the sauce with a [wooden spoon][[spoon]]"} for n in range(40)]
>>> notes += [{"id": f"bake {n}", "text": "heat the [oven][[oven]] before the dough goes in"} for n in range(40)]
>>> corpus = hd.Corpus.from_documents(notes)
>>> model = hd.train(corpus, dim=16)
>>> model.recommend("the sauce is stirred with a [[?]]", top=1).ids
['spoon']

Everything is deterministic: the same documents, parameters and seed give the same bytes, as on the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hyperdoc2vec._native import FORMATS, METHODS, RANKINGS, Answer, Hit, Suggestion
from hyperdoc2vec._native import VERSION as __version__
from hyperdoc2vec.corpus import Corpus, Loss, import_
from hyperdoc2vec.document import Document
from hyperdoc2vec.evaluation import Evaluation, evaluate_links
from hyperdoc2vec.model import Model
from hyperdoc2vec.progress import Progress
from hyperdoc2vec.sample import glossary
from hyperdoc2vec.suggestions import Suggestions
from hyperdoc2vec.training import train
from hyperdoc2vec.views import VectorView

if TYPE_CHECKING:
    from hyperdoc2vec.sklearn import HyperDoc2Vec as HyperDoc2Vec

__all__ = [
    "FORMATS",
    "METHODS",
    "RANKINGS",
    "Answer",
    "Corpus",
    "Document",
    "Evaluation",
    "Hit",
    "Loss",
    "Model",
    "Progress",
    "Suggestion",
    "Suggestions",
    "VectorView",
    "__version__",
    "evaluate_links",
    "glossary",
    "import_",
    "train",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import: only for those who ask for its estimator.
    if name == "HyperDoc2Vec":
        from hyperdoc2vec.sklearn import HyperDoc2Vec

        return HyperDoc2Vec
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
