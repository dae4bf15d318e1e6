"""Classification: PyEvALL from JSON files, scikit-learn in memory, growth from files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Case, Data, Side

SEVEN = ["Accuracy", "Kappa", "Precision", "Recall", "FMeasure", "ICM", "ICMNorm"]
OURS = ["accuracy", "kappa", "precision", "recall", "f1", "icm", "icm_norm"]
REPORT = ["precision", "recall", "f1", "accuracy", "kappa"]


def labels(rows: int, classes: int, right: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    """Gold and predicted codes: skewed classes, a share of right answers, the rest at random."""
    rng = np.random.default_rng(rows + classes)
    share = 1 / np.arange(1, classes + 1)
    gold = rng.choice(classes, rows, p=share / share.sum()).astype(np.int32)
    pred = np.where(rng.random(rows) < right, gold, rng.integers(0, classes, rows)).astype(np.int32)
    return gold, pred


def names(classes: int) -> np.ndarray:
    return np.array([f"class_{code:04d}" for code in range(classes)])


def json_files(rows: int, classes: int = 10) -> Data:
    """PyEvALL's layout: an array of records, predictions in gold's order."""

    def make(folder: Path) -> None:
        for role, codes in zip(("gold", "pred"), labels(rows, classes), strict=True):
            write_json(folder / f"{role}.json", names(classes)[codes].tolist())

    return Data(f"mono-json-{rows}", make)


def write_json(path: Path, values: list[Any]) -> None:
    """Written in one stream: ten million records do not fit in memory as Python objects."""
    with path.open("w") as out:
        for index, value in enumerate(values):
            out.write(
                f'{"[" if index == 0 else ","}\n{{"test_case":"t1","id":"i{index:08d}","value":{json.dumps(value)}}}'
            )
        out.write("\n]\n")


def parquet_files(rows: int, classes: int = 10) -> Data:
    def make(folder: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        ids = pa.array([f"i{index:08d}" for index in range(rows)])
        for role, codes in zip(("gold", "pred"), labels(rows, classes), strict=True):
            values = pa.array(names(classes)).take(pa.array(codes))
            pq.write_table(pa.table({"id": ids, "value": values}), folder / f"{role}.parquet")

    return Data(f"mono-parquet-{rows}", make)


def codes(rows: int, classes: int) -> Data:
    def make(folder: Path) -> None:
        np.save(folder / "codes.npy", np.stack(labels(rows, classes)))

    return Data(f"codes-{rows}-{classes}", make)


def label_sets(rows: int, of: int = 100, each: int = 3) -> Data:
    """Three distinct labels of a hundred for each item; a predicted label is right six times in ten."""

    def make(folder: Path) -> None:
        rng = np.random.default_rng(rows)
        gold = np.argpartition(rng.random((rows, of), dtype=np.float32), each, axis=1)[:, :each].astype(np.int16)
        other = np.argpartition(rng.random((rows, of), dtype=np.float32), each, axis=1)[:, :each].astype(np.int16)
        np.save(folder / "gold.npy", gold)
        np.save(folder / "pred.npy", np.where(rng.random((rows, 1)) < 0.6, gold, other))

    return Data(f"sets-{rows}-{of}-{each}", make)


def karat_files(suffix: str, metrics: list[str], answer: str = "accuracy") -> Side:
    def run(folder: Path) -> float:
        import karat

        result = karat.evaluate(str(folder / f"gold.{suffix}"), str(folder / f"pred.{suffix}"), metrics=metrics)
        return float(result[answer].value)

    def load(folder: Path) -> Path:
        import karat  # noqa: F401  (start-up is not what is measured)

        return folder

    return Side("karat", run, load)


def pyevall(repeat: int) -> Side:
    def run(folder: Path) -> float:
        from pyevall.evaluation import PyEvALLEvaluation

        report = PyEvALLEvaluation().evaluate(
            str(folder / "pred.json"), str(folder / "gold.json"), SEVEN, report="embedded", log_level="none"
        )
        return float(report.report["metrics"]["Accuracy"]["results"]["average_per_test_case"])

    def load(folder: Path) -> Path:
        import pyevall.evaluation  # noqa: F401

        return folder

    return Side("PyEvALL 0.2.11", run, load, repeat=repeat, env="oracle")


def wide(folder: Path) -> tuple[Any, Any]:
    """NumPy's fixed-width strings."""
    pair = np.load(folder / "codes.npy")
    text = names(int(pair.max()) + 1)
    return text[pair[0]], text[pair[1]]


def objects(folder: Path) -> tuple[Any, Any]:
    gold, pred = wide(folder)
    return gold.astype(object), pred.astype(object)


def integers(folder: Path) -> tuple[Any, Any]:
    gold, pred = np.load(folder / "codes.npy")
    return gold, pred


def categories(folder: Path) -> tuple[Any, Any]:
    """A pandas categorical column each, as a frame with labels usually comes."""
    import pandas as pd

    pair = np.load(folder / "codes.npy")
    text = names(int(pair.max()) + 1)
    gold, pred = (pd.Series(pd.Categorical.from_codes(one, categories=text)) for one in pair)
    return gold, pred


def sklearn_report(pair: tuple[Any, Any]) -> float:
    from sklearn.metrics import classification_report, cohen_kappa_score, confusion_matrix

    report = classification_report(*pair, output_dict=True, zero_division=0)
    cohen_kappa_score(*pair)
    confusion_matrix(*pair)
    return float(report["accuracy"])


def karat_report(pair: tuple[Any, Any]) -> float:
    import karat

    return float(karat.evaluate(*pair, metrics=REPORT)["accuracy"].value)


def in_memory(kind: str, load: Any, classes: int, target: float) -> Case:
    return Case(
        f"sklearn-{kind}-{classes}",
        codes(1_000_000, classes),
        Side("karat", karat_report, load),
        (Side("scikit-learn", sklearn_report, load, repeat=1),),
        target,
        f"1M labels of {classes} classes in memory: report, kappa, confusion matrix",
    )


def sets_for_sklearn(folder: Path) -> Any:
    """Indicator matrices: what scikit-learn's report takes."""
    from scipy.sparse import csr_matrix

    def indicators(sets: np.ndarray) -> Any:
        rows = np.repeat(np.arange(len(sets)), sets.shape[1])
        return csr_matrix((np.ones(sets.size, np.int8), (rows, sets.ravel())), shape=(len(sets), 100))

    return indicators(np.load(folder / "gold.npy")), indicators(np.load(folder / "pred.npy"))


def sklearn_sets(pair: Any) -> float:
    from sklearn.metrics import classification_report

    return float(classification_report(*pair, output_dict=True, zero_division=0)["macro avg"]["f1-score"])


def lists(folder: Path) -> Any:
    """A list of labels for each item."""
    text = np.array([f"label_{code:03d}" for code in range(100)], dtype=object)
    return tuple(text[np.load(folder / f"{role}.npy")].tolist() for role in ("gold", "pred"))


def sklearn_lists(pair: Any) -> float:
    """From lists, scikit-learn must make the matrices first."""
    from sklearn.preprocessing import MultiLabelBinarizer

    binarizer = MultiLabelBinarizer(sparse_output=True).fit([*pair[0], *pair[1]])
    return sklearn_sets(tuple(binarizer.transform(side) for side in pair))


def karat_sets(pair: Any) -> float:
    import karat

    return float(karat.evaluate(*pair, context="multilabel", metrics=["precision", "recall", "f1"])["f1"].value)


def small_files(context: str, rows: int = 1_000) -> Data:
    """What a test set most often is: a label, a list of labels, weights of four labels or a cluster for each item."""

    def make(folder: Path) -> None:
        rng = np.random.default_rng(rows)
        text = names(10)
        for role in ("gold", "pred"):
            some = rng.integers(0, 10, (rows, 2))
            share = rng.dirichlet(np.ones(4), rows).round(4).tolist()
            values: dict[str, list[Any]] = {
                "monolabel": text[some[:, 0]].tolist(),
                "multilabel": [sorted({*pair}) for pair in text[some].tolist()],
                "soft": [dict(zip("ABCD", row, strict=True)) for row in share],
                "clustering": [[label] for label in text[some[:, 0]].tolist()],
            }
            write_json(folder / f"{role}.json", values[context])

    return Data(f"small-{context}", make)


def karat_small(context: str) -> Side:
    def run(folder: Path) -> None:
        import karat

        karat.evaluate(folder / "gold.json", folder / "pred.json", context=context)

    return Side("karat", run)


CASES = [
    *(
        Case(
            f"small-{context}",
            small_files(context),
            karat_small(context),
            (),
            None,
            "two JSON files of 1,000 records, the context's own metrics: at most 0.025 CPU s",
        )
        for context in ("monolabel", "multilabel", "soft", "clustering")
    ),
    Case(
        "pyevall-1k",
        json_files(1_000),
        karat_files("json", OURS),
        (pyevall(3),),
        None,
        "seven metrics from two JSON files of 1,000 records",
    ),
    Case(
        "pyevall-10k",
        json_files(10_000),
        karat_files("json", OURS),
        (pyevall(1),),
        300,
        "seven metrics from two JSON files of 10,000 records",
    ),
    *(
        in_memory(kind, load, classes, target)
        for classes in (10, 1000)
        for kind, load, target in (
            ("unicode", wide, 20),
            ("object", objects, 20),
            ("categorical", categories, 50),
            ("codes", integers, 50),
        )
    ),
    Case(
        "sklearn-multilabel-matrices",
        label_sets(1_000_000),
        Side("karat", karat_sets, sets_for_sklearn),
        (Side("scikit-learn", sklearn_sets, sets_for_sklearn, repeat=1),),
        None,
        "1M items, 3 of 100 labels in sparse matrices",
    ),
    Case(
        "sklearn-multilabel",
        label_sets(1_000_000),
        Side("karat", karat_sets, lists),
        (Side("scikit-learn", sklearn_lists, lists, repeat=1),),
        None,
        "1M items, 3 of 100 labels in lists",
    ),
    *(
        Case(
            f"growth-{suffix}-{rows}", files(rows), karat_files(suffix, REPORT), (), None, "two files in the same order"
        )
        for suffix, files in (("parquet", parquet_files), ("json", json_files))
        for rows in (100_000, 1_000_000, 10_000_000)
    ),
]
