"""The native half of hyperdoc2vec."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypedDict, final, overload

__all__ = [
    "Answer",
    "Corpus",
    "DEFAULTS",
    "FORMATS",
    "Hit",
    "METHODS",
    "Model",
    "RANKINGS",
    "Rows",
    "Suggestion",
    "VECTORS",
    "VERSION",
    "VectorTable",
    "build",
    "evaluate_links",
    "glossary",
    "import_files",
    "main",
    "train",
]

_Path = str | os.PathLike[str]

class _Defaults(TypedDict):
    top: int
    method: str
    dim: int
    seed: int
    hybrid: bool
    storage: str
    min_count: int
    lowercase: bool
    min_probability: float

VERSION: str
DEFAULTS: _Defaults
FORMATS: list[str]
METHODS: list[str]
RANKINGS: list[str]
VECTORS: list[str]

def glossary() -> list[tuple[str, str]]: ...
def main(program: list[str], arguments: list[str]) -> int: ...
def build(
    documents: Any, path: _Path, options: dict[str, Any], progress: Callable[..., object] | None = None
) -> Corpus: ...
def import_files(
    inputs: list[Any],
    path: _Path,
    options: tuple[dict[str, Any], dict[str, Any]],
    progress: Callable[..., object] | None = None,
) -> Corpus: ...
def train(
    corpus: Corpus,
    path: _Path,
    asked: tuple[dict[str, Any], dict[str, Any]],
    progress: Callable[..., object] | None = None,
) -> Model: ...
def evaluate_links(
    corpus: Corpus,
    evaluated: dict[str, Any],
    parameters: dict[str, Any],
    progress: Callable[..., object] | None = None,
) -> dict[str, Any]: ...
@final
class Corpus:
    """Documents with their words and links, in a directory."""

    @staticmethod
    def open(path: _Path) -> Corpus: ...
    @property
    def path(self) -> str | os.PathLike[str]: ...
    def about(self) -> dict[str, Any]: ...
    def losses(self) -> list[tuple[str, int, list[str]]]: ...
    def __len__(self) -> int: ...
    def ids(self) -> list[str]: ...
    def has(self, id: str) -> bool: ...
    def document(self, number: int) -> dict[str, Any]: ...
    def find(self, id: str) -> dict[str, Any]: ...

@final
class Model:
    """An opened model."""

    @staticmethod
    def open(path: _Path, in_memory: bool) -> Model: ...
    @property
    def path(self) -> str | os.PathLike[str]: ...
    @property
    def documents(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def dim(self) -> int: ...
    @property
    def method(self) -> str: ...
    def rankings(self) -> list[str]: ...
    def about(self) -> dict[str, Any]: ...
    def about_text(self) -> str: ...
    def ids(self) -> list[str]: ...
    def titles(self) -> list[str]: ...
    def labels(self) -> list[list[str]]: ...
    def vocabulary(self) -> list[str]: ...
    def document_row(self, id: str) -> int: ...
    def word_row(self, word: str) -> int: ...
    def vectors(self, which: str) -> VectorTable: ...
    def recommend(self, questions: Iterable[str], asked: dict[str, Any]) -> list[Answer]: ...
    def similar(self, id: str, by: str, top: int) -> list[Hit]: ...
    def similar_to(self, vector: list[float], by: str, top: int) -> list[Hit]: ...
    def similar_words(self, word: str, by: str, top: int) -> list[tuple[str, float]]: ...
    def embed(self, values: Iterable[str], marked: bool) -> Rows: ...
    def suggest(self, text: str, parameters: dict[str, Any]) -> list[Suggestion]: ...
    def add(
        self, corpus: Corpus, options: dict[str, Any], progress: Callable[..., object] | None = None
    ) -> Model: ...
    def export(self, path: _Path, options: dict[str, Any]) -> None: ...
    def save(self, path: _Path, replace: bool) -> None: ...

@final
class VectorTable:
    """One of the matrices of a model."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...

@final
class Rows:
    """The vectors of texts, for NumPy to copy."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...

@final
class Answer:
    """The documents that a text should link to, the best first: a sequence of :class:`Hit`."""

    @property
    def ranking(self) -> str:
        """The ranking that was used."""
    @property
    def reason(self) -> str | None:
        """Why there are no hits, if there are none."""
    @property
    def unknown(self) -> list[str]:
        """Words of the text that the model does not know."""
    @property
    def hits(self) -> list[Hit]:
        """The hits, as a list."""
    @property
    def ids(self) -> list[str]:
        """The ids of the hits."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> Hit: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Hit]: ...
    def __iter__(self) -> Iterator[Hit]: ...
    def to_dicts(self) -> list[dict[str, Any]]:
        """The hits as dicts."""
    def to_frame(self) -> Any:
        """The hits as a DataFrame of pandas."""
    def _repr_html_(self) -> str: ...

@final
class Hit:
    """A document that was found."""

    @property
    def row(self) -> int:
        """The row of the document in the vectors of the model."""
    @property
    def id(self) -> str:
        """The id."""
    @property
    def title(self) -> str | None:
        """The title."""
    @property
    def score(self) -> float:
        """Higher is better; its meaning depends on the ranking."""
    @property
    def probability(self) -> float | None:
        """The probability that the link points at it, where the ranking gives one."""
    @property
    def links(self) -> int | None:
        """How many links point at it."""
    @property
    def date(self) -> str | None:
        """The date, as it is written: 2009, 2009-06 or 2009-06-30."""
    @property
    def url(self) -> str | None:
        """Where readers find it."""
    @property
    def why(self) -> dict[str, Any] | None:
        """Why it was found, if the question asked for that."""
    def to_dict(self) -> dict[str, Any]:
        """All of it as a dict."""

@final
class Suggestion:
    """A link that could be put into a draft."""

    @property
    def start(self) -> int:
        """Where its words begin: the number of characters before them."""
    @property
    def end(self) -> int:
        """Where they end."""
    @property
    def words(self) -> str:
        """The words."""
    @property
    def id(self) -> str:
        """The id of the document."""
    @property
    def title(self) -> str:
        """Its title."""
    @property
    def probability(self) -> float:
        """The probability of a link here, times that of this document."""
    @property
    def why(self) -> str:
        """Why it is suggested."""
    @property
    def wanted(self) -> bool:
        """Whether the draft asks for a link here."""
    @property
    def edits(self) -> list[tuple[int, int, str]]:
        """What puts the link into the text: start, end, new text, in characters."""
    def to_dict(self) -> dict[str, Any]:
        """All of it as a dict."""
