"""Training."""

from __future__ import annotations

from typing import Any

from hyperdoc2vec import _native, checks
from hyperdoc2vec.checks import flag, optional, real, string, whole
from hyperdoc2vec.corpus import Corpus, PathLike, _place, native_corpus
from hyperdoc2vec.document import Date, date_text
from hyperdoc2vec.model import Model
from hyperdoc2vec.progress import Reporter, Show


def train(
    corpus: Corpus,
    path: PathLike | None = None,
    *,
    dim: int | None = None,
    method: str = _native.DEFAULTS["method"],
    window: int | None = None,
    epochs: int | None = None,
    content_epochs: int | None = None,
    min_count: int | None = None,
    until: Date | None = None,
    hybrid: bool = _native.DEFAULTS["hybrid"],
    rate: float | None = None,
    decay: float | None = None,
    seed: int = _native.DEFAULTS["seed"],
    seconds: float | None = None,
    threads: int = 0,
    storage: str = _native.DEFAULTS["storage"],
    resume: bool = False,
    replace: bool = False,
    progress: Show = None,
) -> Model:
    """Trains a model. Where a parameter is ``None``, the library chooses for the method and the corpus.

    The same corpus, parameters and seed give the same file, byte for byte, for any number of threads, and as ``hd2v
    train`` does. Ctrl-C leaves a checkpoint beside ``path``, from which ``resume=True`` goes on.

    >>> import hyperdoc2vec as hd
    >>> hd.train(hd.glossary(), dim=16, epochs=2, hybrid=False).doc_in.shape
    (218, 16)

    :param path: the file to write; without it, the model lasts as long as this object (see :meth:`Model.save`).
    :param dim: numbers of a vector; 100, and 64 of DeepWalk's.
    :param method: one of :data:`hyperdoc2vec.METHODS`.
    :param window: words that count on each side of a link; 100, and 50 in the paper's methods.
    :param epochs: passes over the links.
    :param content_epochs: passes over the text before.
    :param min_count: words that occur less often get no vectors.
    :param until: only documents dated up to this are trained on.
    :param hybrid: whether the hybrid ranking is learnt, which gives probabilities.
    :param rate: the first learning rate on the links.
    :param decay: words this far from a link weigh 1/e.
    :param seed: everything random follows from it.
    :param seconds: make only as many passes as fit into this time.
    :param threads: 0 for one a core.
    :param storage: how the file holds vectors: ``"f32"``, or ``"f16"``, which takes half the space.
    :param resume: go on from the checkpoint of an interrupted run.
    :param replace: whether a file that is there may be replaced.
    :param progress: see :data:`hyperdoc2vec.progress.Show`.
    """
    native = native_corpus(corpus)
    scratch, path = _place(path, "model")
    given = parameters(
        dim=dim, method=method, window=window, epochs=epochs, content_epochs=content_epochs, min_count=min_count,
        until=until, hybrid=hybrid, rate=rate, decay=decay, seed=seed,
    )  # fmt: skip
    options = {
        "threads": checks.threads(threads),
        "seconds": optional(real, "seconds", seconds),
        "storage": string("storage", storage),
        "resume": flag("resume", resume),
        "replace": flag("replace", replace),
    }
    with Reporter(progress) as reporter:
        return Model(_native.train(native, path, (given, options), reporter.training), scratch)


def parameters(
    *,
    dim: int | None = None,
    method: str | None = None,
    window: int | None = None,
    epochs: int | None = None,
    content_epochs: int | None = None,
    min_count: int | None = None,
    until: Date | None = None,
    hybrid: bool | None = None,
    rate: float | None = None,
    decay: float | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """Parameters of training, as the native half takes them."""
    return {
        "dim": optional(whole, "dim", dim),
        "method": optional(string, "method", method),
        "window": optional(whole, "window", window),
        "epochs": optional(whole, "epochs", epochs),
        "content_epochs": optional(whole, "content_epochs", content_epochs),
        "min_count": optional(whole, "min_count", min_count),
        "until": date_text(until),
        "hybrid": optional(flag, "hybrid", hybrid),
        "rate": optional(real, "rate", rate),
        "decay": optional(real, "decay", decay),
        "seed": optional(whole, "seed", seed),
    }
