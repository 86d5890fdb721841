"""How many held-out links each method finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hyperdoc2vec import _native, checks, notebook
from hyperdoc2vec.checks import flag, optional, real, strings, whole
from hyperdoc2vec.corpus import Corpus, native_corpus
from hyperdoc2vec.document import Date, date_text
from hyperdoc2vec.progress import Reporter, Show
from hyperdoc2vec.training import parameters

#: The figures that are shown.
FIGURES = ("recall@10", "map@10", "mrr@10", "ndcg@10")


class Evaluation:
    """The figures of an evaluation; a method's are a dict."""

    def __init__(self, split: dict[str, Any], methods: list[dict[str, Any]]) -> None:
        #: What was asked.
        self.split = split
        #: The figures of each method.
        self.methods = methods

    def __getitem__(self, method: str) -> dict[str, Any]:
        for figures in self.methods:
            if figures["method"] == method:
                return figures
        names = ", ".join(figures["method"] for figures in self.methods)
        raise KeyError(f"no method is called {method!r}; there are {names}")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.methods)

    def __len__(self) -> int:
        return len(self.methods)

    def to_dict(self) -> dict[str, Any]:
        """All of it as a dict."""
        return {"split": self.split, "methods": self.methods}

    def to_frame(self) -> Any:
        """The main figures as a DataFrame of pandas."""
        import pandas

        rows = [[figures[name] for name in FIGURES] for figures in self.methods]
        return pandas.DataFrame(rows, index=[figures["method"] for figures in self.methods], columns=list(FIGURES))

    def __repr__(self) -> str:
        width = max(len(figures["method"]) for figures in self.methods)
        lines = [f"{'':{width}}  " + "  ".join(FIGURES)]
        for figures in self.methods:
            numbers = "  ".join(f"{figures[name]:{len(name)}.1%}" for name in FIGURES)
            lines.append(f"{figures['method']:{width}}  {numbers}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = ([figures["method"], *(f"{figures[name]:.1%}" for name in FIGURES)] for figures in self.methods)
        return notebook.table(("", *FIGURES), rows)


def evaluate_links(
    corpus: Corpus,
    methods: Sequence[str] | None = None,
    *,
    until: Date | None = None,
    holdout: float = 0.1,
    every: int = 1,
    anchors: bool = True,
    dim: int = _native.DEFAULTS["dim"],
    window: int | None = None,
    epochs: int | None = None,
    content_epochs: int | None = None,
    min_count: int | None = None,
    seed: int = _native.DEFAULTS["seed"],
    threads: int = 0,
    progress: Show = None,
) -> Evaluation:
    """Trains each method on a part of a corpus, and asks it for the links of the rest, as ``hd2v evaluate links`` does.

    >>> import hyperdoc2vec as hd
    >>> found = hd.evaluate_links(hd.glossary(), ["popular", "bm25-cited"], holdout=0.2)
    >>> found["bm25-cited"]["recall@10"] > 3 * found["popular"]["recall@10"]
    True

    :param methods: names, as ``["bm25-cited", "h-d2v", "hybrid"]``; all the usual ones if there are none.
    :param until: train on documents dated up to this, ask for links of later ones.
    :param holdout: without ``until``, ask for links of this share of the documents.
    :param every: ask only about every so many positions.
    :param anchors: whether the links' own words are part of the questions.
    """
    native = native_corpus(corpus)
    names = optional(strings, "methods", methods)
    if names == []:
        raise ValueError("methods is empty; name one or more, or give None for the usual ones")
    if whole("every", every) == 0:
        raise ValueError("every is 0, but must be 1 or more")
    evaluated = {
        "methods": names,
        "until": date_text(until),
        "holdout": real("holdout", holdout),
        "every": whole("every", every),
        "anchors": flag("anchors", anchors),
        "threads": checks.threads(threads),
    }
    given = parameters(
        dim=dim, window=window, epochs=epochs, content_epochs=content_epochs, min_count=min_count, seed=seed
    )
    with Reporter(progress) as reporter:
        return Evaluation(**_native.evaluate_links(native, evaluated, given, reporter.evaluating))
