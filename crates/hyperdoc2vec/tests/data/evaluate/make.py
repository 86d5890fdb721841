"""Records what scikit-learn and trec_eval say: python make.py (needs numpy, scikit-learn, pytrec_eval-terrier).

Writes svm.json (points, classes, predictions of SVC), f1.json (classifications with their F1) and trec.json (places of
truths with the measures of trec_eval) beside this file.
"""

import json
import pathlib

import numpy as np
import pytrec_eval
from sklearn.metrics import f1_score
from sklearn.svm import SVC

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(1)


def write(name, value):
    (here / name).write_text(json.dumps(value, separators=(",", ":")) + "\n")


def svm():
    classes, dim = 5, 8
    centres = rng.normal(size=(classes, dim))
    sizes = [160, 120, 90, 60, 30]
    y = rng.permutation(np.repeat(np.arange(classes), sizes))
    x = np.round(centres[y] + 1.3 * rng.normal(size=(len(y), dim)), 2)
    train, test = slice(0, 230), slice(230, None)
    cases = []
    for c, gamma in [(1.0, "auto"), (10.0, 0.5), (0.1, 0.02)]:
        machine = SVC(C=c, gamma=gamma, tol=1e-3).fit(x[train].astype(np.float32), y[train])
        cases.append({"c": c, "gamma": None if gamma == "auto" else gamma,
                      "predictions": machine.predict(x[test].astype(np.float32)).tolist()})
    write("svm.json", {"dim": dim, "train": x[train].ravel().tolist(), "classes": y[train].tolist(),
                       "test": x[test].ravel().tolist(), "truths": y[test].tolist(), "cases": cases})


def f1():
    cases = []
    for classes, items in [(2, 12), (3, 40), (6, 25)]:
        truths, predictions = rng.integers(classes, size=items), rng.integers(classes, size=items)
        labels = sorted(set(truths) | set(predictions))
        each = f1_score(truths, predictions, labels=labels, average=None, zero_division=0)
        by_class = {int(label): float(value) for label, value in zip(labels, each)}
        cases.append({"classes": [by_class.get(c) for c in range(classes)],
                      "truths": truths.tolist(), "predictions": predictions.tolist(),
                      "macro": float(f1_score(truths, predictions, average="macro", zero_division=0)),
                      "micro": float(f1_score(truths, predictions, average="micro", zero_division=0))})
    write("f1.json", cases)


def trec():
    cases = []
    for _ in range(60):
        documents = 40
        truths = rng.choice(documents, size=rng.integers(1, 15), replace=False)
        order = rng.permutation(documents)[: rng.integers(1, documents)]
        run = {"q": {f"d{d}": float(-place) for place, d in enumerate(order[:10])}}
        qrels = {"q": {f"d{d}": 1 for d in truths}}
        measures = {"recall_10", "map_cut_10", "recip_rank", "ndcg_cut_10"}
        values = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)["q"]
        places = [place + 1 for place, d in enumerate(order) if d in set(truths)]
        cases.append({"places": places, "truths": len(truths), "recall": values["recall_10"],
                      "map": values["map_cut_10"], "mrr": values["recip_rank"], "ndcg": values["ndcg_cut_10"]})
    write("trec.json", cases)


svm()
f1()
trec()
