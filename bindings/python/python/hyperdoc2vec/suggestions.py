"""Links suggested for a draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from hyperdoc2vec import notebook
from hyperdoc2vec._native import Suggestion

#: The columns of a DataFrame.
COLUMNS = ("start", "end", "words", "id", "title", "probability", "why", "wanted")


class Suggestions(Sequence[Suggestion]):
    """Links that could be put into a draft, in the order of its text."""

    def __init__(self, text: str, found: list[Suggestion]) -> None:
        self._text = text
        self._found = found

    @overload
    def __getitem__(self, index: int) -> Suggestion: ...
    @overload
    def __getitem__(self, index: slice) -> list[Suggestion]: ...
    def __getitem__(self, index: int | slice) -> Suggestion | list[Suggestion]:
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self._found)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The suggestions as dicts."""
        return [suggestion.to_dict() for suggestion in self._found]

    def to_frame(self) -> Any:
        """The suggestions as a DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(self.to_dicts(), columns=list(COLUMNS))

    def apply(self) -> str:
        """The draft with all suggested links in it."""
        text = self._text
        edits = [edit for suggestion in self._found for edit in suggestion.edits]
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._found)) or "<no suggestions>"

    def _repr_html_(self) -> str:
        rows = ((one.words, f"{one.probability:.2f}", one.id, one.title, one.why) for one in self._found)
        return notebook.table(("words", "probability", "id", "title", "why"), rows)
