"""Random inputs for PyEvALL: every kind of value, broken rows, tables, hierarchies, odd parameters."""

from __future__ import annotations

import json
import random
from typing import Any

METRICS = [
    "Accuracy",
    "SystemPrecision",
    "Kappa",
    "Precision",
    "Recall",
    "FMeasure",
    "ICM",
    "ICMNorm",
    "ICMSoft",
    "ICMSoftNorm",
    "CrossEntropy",
    "MAE",
    "PrecisionAtK",
    "RPrecision",
    "MRR",
    "MAP",
    "DCG",
    "nDCG",
    "ERR",
    "RBP",
    "Purity",
    "InversePurity",
    "FMeasurePurityInversePurity",
    "FMeasureClustering",
    "RandStatistics",
    "Jaccard",
    "FolkesAndMallows",
    "NMI-SG",
    "NMISG",
    "ReliabilityBCubed",
    "SensitivityBCubed",
    "Entropy",
    "ClassEntropy",
    "VariationOfInformation",
    "Nope",
]
OF_KIND = {
    "mono": METRICS[:8],
    "multi": [*METRICS[3:8], *METRICS[20:34]],
    "soft": METRICS[8:12],
    "ranking": METRICS[12:20],
}
TREES: list[Any] = [
    {"A": ["a1", "a2"], "B": {"b1": ["b11", "b12"], "b2": []}, "C": []},
    {"A": ["a1", "a2", "C"], "B": []},
    {"root": {"A": ["a1"], "B": ["b1", "C"]}, "a2": [], "b11": []},
    {"A": {"a1": {}, "a2": {}}, "B": []},
    ["A", "B", "C"],
    {},
    {"A": ["C", "a1"], "B": ["C", "b1"]},
    {"A": {"B": {"C": ["a1"]}}, "a2": {"b1": []}},
    {"A": "a1", "B": {"b1": "b11"}},
    {"A": None, "B": ["b1"]},
    {"A": {"a1": {}, "a2": None}},
]
LABELS = ["A", "B", "C", "a1", "a2", "b1", "b11"]
BAD_PARAMS = [None, "x", True, -1, 2, 0.3, 1.0, 0, [], 7]


def case(seed: int) -> dict[str, Any]:
    """One case: file texts, metrics and parameters."""
    rng = random.Random(seed)
    kind = rng.choice(list(OF_KIND))
    labels = rng.sample(LABELS, rng.randint(1, len(LABELS)))
    gold, pred = sides(rng, kind, labels)
    metrics = rng.sample(METRICS, 6) if rng.random() < 0.25 else OF_KIND[kind]
    if kind in ("soft", "multi") and rng.random() < 0.8:
        metrics = rng.sample(OF_KIND[kind], rng.randint(1, 3))
    formats = [rng.choice(["json"] * 4 + ["tsv", "csv"]) for _ in range(2)]
    same = rng.random() < 0.05
    return {
        "name": f"seed {seed}",
        "metrics": metrics,
        "params": params(rng),
        "gold": written(rng, gold, formats[0]),
        "pred": written(rng, pred, formats[1]),
        "gold_file": "data.x" if same else "gold.x",
        "pred_file": "data.x" if same else "pred.x",
    }


def params(rng: random.Random) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if rng.random() < 0.5:
        out["hierarchy"] = json.loads(json.dumps(rng.choice(TREES)))
    for name in ("alfa_param", "alpha_1", "alpha_2", "beta", "k_param", "r_param", "p_param"):
        if rng.random() < 0.08:
            out[name] = rng.choice(BAD_PARAMS)
    if rng.random() < 0.1:
        out["metric_params"] = rng.choice(
            [
                [1],
                None,
                {"FMeasure": 3, "ICM": "x"},
                {"PrecisionAtK": {"k_param": 2}},
                {"FMeasure": {"alfa_param": 0.9}, "ICMNorm": {"beta": "y"}, "RBP": {"p_param": 0.1}},
            ]
        )
    return out


def sides(rng: random.Random, kind: str, labels: list[str]) -> tuple[list[Any], list[Any]]:
    gold, pred = [], []
    for number in range(rng.choice([1, 1, 1, 2, 3])):
        some = labels if rng.random() < 0.6 else rng.sample(LABELS, rng.randint(1, 4))
        size = rng.choice([1, 2, 5, 8, 25])
        ids = [f"i{index:02d}" for index in range(size)]
        truth = [(f"t{number}", id, value(rng, kind, some)) for id in ids]
        guess = [
            (test_case, id, right if rng.random() < 0.5 else value(rng, kind, labels))
            for test_case, id, right in truth
            if rng.random() < rng.choice([0.8, 1])
        ]
        guess += [(f"t{number}", f"x{extra}", value(rng, kind, labels)) for extra in range(rng.choice([0, 0, 1, 2]))]
        rng.shuffle(guess)
        gold += truth
        pred += guess
    return spoilt(rng, gold), spoilt(rng, pred)


def value(rng: random.Random, kind: str, labels: list[str]) -> Any:
    if kind == "mono":
        return rng.choice(labels)
    if kind == "multi":
        return rng.sample(labels, rng.choice([1, 1, 2, min(3, len(labels))]) if len(labels) > 1 else 1)
    if kind == "soft":
        low = -0.2 if "C" in labels else 0.0
        return {label: round(rng.uniform(low, 1), 2) for label in rng.sample(labels, rng.randint(1, len(labels)))}
    return rng.choice([0, 0, 1, 2, 3, rng.randint(0, 30), *([-1] if len(labels) == 2 else [])])


def spoilt(rng: random.Random, rows: list[Any]) -> list[Any]:
    """Now and then a repeated id, an empty value, a value of another kind, another test case."""
    rows = list(rows)
    while rows and rng.random() < 0.12:
        test_case, id, good = rng.choice(rows)
        bad = rng.choice(
            [
                (test_case, id, good),
                (test_case, "z1", ""),
                (test_case, "z2", []),
                ("other", id, good),
                (test_case, id, ""),
                (test_case, "z3", ["A", "A", ""]),
                (test_case, "z4", "A"),
                (test_case, "z5", 1),
                (test_case, "z6", 2.0),
            ]
        )
        rows.insert(rng.randrange(len(rows) + 1), bad)
    return rows if rng.random() < 0.97 else []


def written(rng: random.Random, rows: list[Any], format: str) -> str:
    if format == "json":
        keys = ["test_case", "id", "value"] if rng.random() < 0.9 else rng.sample(["test_case", "id", "value"], 3)
        return json.dumps(
            [{key: dict(zip(("test_case", "id", "value"), row, strict=True))[key] for key in keys} for row in rows]
        )
    separator = {"tsv": "\t", "csv": ","}[format]
    lines = [separator.join([row[0], row[1], quoted(row[2], format)]) for row in rows]
    if lines and rng.random() < 0.15:
        odd = [
            "",
            "t0",
            f"t0{separator}q1{separator}NA",
            f"t0{separator}q2",
            separator.join("abcd"),
            f't0{separator}q3{separator}"open',
            f"t0{separator}q4{separator}{separator}",
            f"t0{separator}q5{separator} 7 ",
            f"t0{separator}q6{separator}[A]",
        ]
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(odd))
    header = [rng.choice(["test_case"] * 9 + ["test_case "]), "id", "value"] if rng.random() < 0.5 else []
    start = "\ufeff" if rng.random() < 0.05 else ""
    return start + "\n".join([separator.join(header)] * bool(header) + lines + ([""] if rng.random() < 0.9 else []))


def quoted(value: Any, format: str) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return '"' + text.replace('"', '""') + '"' if format == "csv" and not isinstance(value, str) else text
