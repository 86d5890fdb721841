"""A small kitchen: notes on cooking and baking, which link to their tools."""

from __future__ import annotations

from pathlib import Path

import pytest

import hyperdoc2vec as hd


def kitchen(notes: int = 90) -> list[dict]:
    """Two tools, and notes that link to one of them."""
    tools = [
        {"id": "spoon", "title": "Wooden spoon", "text": "a spoon made of wood", "date": "2001", "labels": ["tool"]},
        {"id": "oven", "title": "Oven", "text": "a hot box for bread", "date": 2002, "labels": ["tool", "hot"]},
    ]
    texts = [
        "stir the sauce with a [wooden spoon][[spoon]] until it is thick",
        "heat the [oven][[oven]] before the dough of the bread goes in",
        "nothing is linked in this note about the sauce and the bread",
    ]
    title = {0: "Cooking", 1: "Baking", 2: "Talking"}
    return tools + [
        {"id": f"note-{n}", "title": f"{title[n % 3]} {n}", "text": texts[n % 3], "date": 2010 + n % 5}
        for n in range(notes)
    ]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> hd.Corpus:
    path = tmp_path_factory.mktemp("kitchen") / "kitchen.corpus"
    return hd.Corpus.from_documents(kitchen(), path)


@pytest.fixture(scope="session")
def model(corpus: hd.Corpus) -> hd.Model:
    path = Path(corpus.path).with_name("kitchen.model")
    return hd.train(corpus, path, dim=12, epochs=3)
