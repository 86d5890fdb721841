"""How far long work has come: for a function of yours, or as a line on the terminal or in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple, Optional, TextIO, Union


class Progress(NamedTuple):
    """How far the work has come."""

    #: What is being done: a phase of training, a method that is evaluated, ``documents``.
    phase: str
    #: The share of this phase that is done, from 0 to 1; ``None`` where nobody knows.
    done: float | None
    #: The seconds that are left of it, at the pace so far.
    seconds_left: float | None
    #: Documents so far, in an import.
    documents: int | None = None
    #: The pass, counting from 0, and how many there are.
    epoch: int | None = None
    epochs: int | None = None
    #: The batch of this pass, and how many there are.
    batch: int | None = None
    batches: int | None = None
    #: The mean loss of the last batches.
    loss: float | None = None


#: ``True`` shows a line, ``False`` shows nothing, ``None`` shows a line on terminals and in notebooks; a function is
#: called with a :class:`Progress`, at most ten times a second, and may raise an exception to stop the work.
Show = Union[bool, None, Callable[[Progress], object]]


class Reporter:
    """Passes progress on to whoever wants it, with an estimate of the time."""

    def __init__(self, show: Show) -> None:
        self._line: Line | None = None
        self._call: Optional[Callable[[Progress], object]] = None
        if callable(show):
            self._call = show
        elif show is not None and not isinstance(show, bool):
            raise TypeError(f"progress: expected True, False, None or a function, found {type(show).__name__}")
        elif sys.stderr is not None and (show or (show is None and watched(sys.stderr))):
            self._line = Line(sys.stderr)
            self._call = self._line.show
        self._phase: str | None = None
        self._started = 0.0

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.end()

    def training(
        self, phase: str, epoch: int, epochs: int, batch: int, batches: int, loss: float | None, done: float
    ) -> None:
        self._report(phase, done, epoch=epoch, epochs=epochs, batch=batch, batches=batches, loss=loss)

    def reading(self, phase: str, read: int, total: int | None, documents: int) -> None:
        self._report(phase, read / total if total else None, documents=documents)

    def evaluating(self, phase: str, done: float) -> None:
        self._report(phase, done)

    def _report(
        self,
        phase: str,
        done: float | None,
        *,
        documents: int | None = None,
        epoch: int | None = None,
        epochs: int | None = None,
        batch: int | None = None,
        batches: int | None = None,
        loss: float | None = None,
    ) -> None:
        if self._call is None:
            return
        now = time.monotonic()
        if phase != self._phase:
            self._phase, self._started = phase, now
        left = (now - self._started) * (1 - done) / done if done else None
        self._call(Progress(phase, done, left, documents, epoch, epochs, batch, batches, loss))


class Line:
    """A line that is written over itself."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._width = 0

    def show(self, progress: Progress) -> None:
        parts = [progress.phase]
        if progress.done is not None:
            full = int(progress.done * 20)
            parts.append(f"{'█' * full}{'·' * (20 - full)} {progress.done:4.0%}")
        if progress.documents is not None:
            parts.append(f"{progress.documents:,}")
        if progress.loss is not None:
            parts.append(f"loss {progress.loss:.4f}")
        if progress.seconds_left is not None:
            parts.append(f"{progress.seconds_left:.0f} s left")
        text = "  ".join(parts)
        self._out.write(f"\r{text:<{self._width}}")
        self._out.flush()
        self._width = max(self._width, len(text))

    def end(self) -> None:
        if self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._out.flush()


def watched(out: TextIO) -> bool:
    """Whether somebody looks at what is written: a terminal, or a notebook."""
    return "ipykernel" in sys.modules or out.isatty()
