# SPDX-License-Identifier: Apache-2.0
"""ir_measures' measures as values: written, printed, compared and parsed as there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from karat.metric import Metric, MetricError, parse

CUT = {"cutoff": "k"}
LEVEL = {"rel": "rel"}
ELSEWHERE = ("judged_only", "gains")
"""Parameters that change what is evaluated, not how it is scored."""


@dataclass(frozen=True)
class Kind:
    """A measure's name there, karat's metric, its parameters with karat's names for them, and their defaults."""

    name: str
    ours: str | None
    takes: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    at: str = "cutoff"
    fixed: Mapping[str, Any] = field(default_factory=dict)
    ties: str = "trec"
    """Order of documents of one score: by falling id (trec), by rising id (id), or as given (order)."""


ONE = {"rel": 1, "judged_only": False}
ALPHA, HALF = LEVEL | {"alpha": "alpha"}, {"alpha": 0.5}
GRADES = {"min_rel": "min_grade", "max_rel": "max_grade"}
WANTED = GRADES | {"T": "T"}
ZERO = {"min_rel": 0}
KINDS = [
    Kind("AP", "average_precision", CUT | LEVEL, ONE),
    Kind("nDCG", "ndcg", CUT | {"dcg": "gain"}, {"dcg": "log2", "judged_only": False}),
    Kind("P", "precision", CUT | LEVEL, ONE),
    Kind("R", "recall", CUT | LEVEL, ONE),
    Kind("RR", "reciprocal_rank", CUT | LEVEL, ONE),
    Kind("Rprec", "r_precision", LEVEL, ONE),
    Kind("Success", "success", CUT | LEVEL, ONE),
    Kind("Bpref", "bpref", LEVEL, ONE),
    Kind("infAP", "infap", LEVEL, ONE),
    Kind("IPrec", "interpolated_precision", {"recall": "recall"} | LEVEL, ONE, at="recall"),
    Kind("Judged", "judged", CUT, ties="id"),
    Kind("RBP", "rbp", CUT | LEVEL | {"p": "p"}, {"p": 0.8}, ties="order"),
    Kind("BPM", "bpm", CUT | WANTED, ZERO | {"T": 1.0}, ties="order"),
    Kind("SDCG", "sdcg", CUT | GRADES, ZERO | {"dcg": "log2"}, ties="order"),
    Kind("INST", "inst", WANTED, ZERO | {"T": 1.0}, ties="order"),
    Kind("INSQ", "insq", WANTED, ZERO | {"T": 1.0}, ties="order"),
    Kind("NERR8", "nerr8", CUT | GRADES, ZERO, ties="order"),
    Kind("NERR9", "nerr9", CUT | GRADES, ZERO, ties="order"),
    Kind("NERR10", "nerr10", GRADES | {"p": "p"}, ZERO | {"p": 0.9}, ties="order"),
    Kind("NERR11", "nerr11", WANTED, ZERO | {"T": 1.0}, ties="order"),
    Kind("ERR", "err", CUT, fixed={"max_grade": 4}),
    Kind("Compat", "compatibility", {"p": "p", "normalize": "normalize"}, {"p": 0.95, "normalize": True}, ties="id"),
    Kind("SetP", "precision", LEVEL, ONE | {"relative": False}),
    Kind("SetR", "recall", LEVEL, ONE),
    Kind("SetF", "f", LEVEL | {"beta": "beta"}, ONE | {"beta": 1.0}),
    Kind("SetAP", "set_map", LEVEL, ONE),
    Kind("NumQ", "num_q"),
    Kind("NumRel", "num_rel", LEVEL, ONE),
    Kind("NumRet", "num_ret", LEVEL),
    Kind("alpha_DCG", "alpha_dcg", CUT | ALPHA, ONE | HALF, fixed={"normalize": True}, ties="id"),
    Kind("alpha_nDCG", "alpha_ndcg", CUT | ALPHA, ONE | HALF, ties="id"),
    Kind("ERR_IA", "err_ia", CUT | LEVEL, ONE, fixed={"normalize": True}, ties="id"),
    Kind("nERR_IA", "nerr_ia", CUT | LEVEL, ONE, ties="id"),
    Kind("NRBP", "nrbp", ALPHA | {"beta": "beta"}, {"rel": 1, "beta": 0.5} | HALF, ties="id"),
    Kind("nNRBP", "nnrbp", ALPHA | {"beta": "beta"}, {"rel": 1, "beta": 0.5} | HALF, ties="id"),
    Kind("AP_IA", "average_precision_ia", LEVEL, ONE, ties="id"),
    Kind("P_IA", "precision_ia", CUT | LEVEL, ONE, ties="id"),
    Kind("StRecall", "subtopic_recall", CUT | LEVEL, ONE, ties="id"),
    Kind("Accuracy", None),
]  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """How documents of one score are ordered (ir_measures' providers differ), unjudged ones, and gains of grades."""

    ties: str = "trec"
    unjudged: str = "keep"
    gains: tuple[tuple[int, float], ...] = ()


class Measure:
    """A measure with parameters; equal measures print alike.

    >>> AP = Measure(KINDS[0])
    >>> AP(rel=2) @ 10
    AP(rel=2)@10
    """

    def __init__(self, kind: Kind, **params: Any) -> None:
        self.kind, self.params = kind, params

    @property
    def NAME(self) -> str:
        return self.kind.name

    def __call__(self, **params: Any) -> Measure:
        return Measure(self.kind, **self.params | params)

    def __matmul__(self, at: Any) -> Measure:
        return self(**{self.kind.at: at})

    def __getitem__(self, param: str) -> Any:
        return self.params.get(param, self.kind.defaults.get(param))

    def __repr__(self) -> str:
        given = {name: value for name, value in self.params.items() if name != self.kind.at}
        told = [f"{name}={spelt(value)}" for name, value in given.items() if value != self.kind.defaults.get(name)]
        end = f"@{self.params[self.kind.at]}" if self.kind.at in self.params else ""
        return f"{self.kind.name}({','.join(told)}){end}" if told else f"{self.kind.name}{end}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    @property
    def metric(self) -> Metric:
        """karat's metric for it."""
        changed = {name: value for name, value in self.params.items() if value != self.kind.defaults.get(name)}
        ours, given = adapted(self.kind, {name: value for name, value in changed.items() if name not in ELSEWHERE})
        unknown = given.keys() - self.kind.takes.keys()
        if ours is None or unknown:
            what = f"{self.kind.name}({', '.join(sorted(unknown))})" if ours else self.kind.name
            raise MetricError(f"karat does not compute ir_measures' {what}; `karat metrics` lists what it does")
        params = {self.kind.takes[name]: value for name, value in given.items()}
        return Metric(ours)(**params | dict(self.kind.fixed))

    @property
    def setting(self) -> Setting:
        """The evaluation that it needs."""
        ties = "id" if self.kind.name == "RR" and "cutoff" in self.params else self.kind.ties
        gains = tuple(sorted((self["gains"] or {}).items()))
        return Setting(ties, "drop" if self["judged_only"] else "keep", gains)

    def calc_aggregate(self, qrels: Any, run: Any) -> float:
        from karat.doors.ir_measures.calculation import calc_aggregate

        return calc_aggregate([self], qrels, run)[self]

    def iter_calc(self, qrels: Any, run: Any) -> Iterator[Any]:
        from karat.doors.ir_measures.calculation import iter_calc

        return iter_calc([self], qrels, run)

    def calc(self, qrels: Any, run: Any) -> Any:
        from karat.doors.ir_measures.calculation import CalcResults, calc

        found = calc([self], qrels, run)
        return CalcResults(found.aggregated[self], found.per_query)

    def evaluator(self, qrels: Any) -> Any:
        from karat.doors.ir_measures.calculation import Evaluator

        return Evaluator([self], qrels)


def spelt(value: Any) -> str:
    pairs = value.items() if isinstance(value, dict) else ()
    return "{" + ",".join(f"{key}:{one}" for key, one in sorted(pairs)) + "}" if pairs else repr(value)


def adapted(kind: Kind, given: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Where a parameter there is another metric, or another value, here."""
    if kind.name == "NumRet" and given:
        return "num_rel_ret", given
    if kind.name == "SetP" and given.get("relative"):
        return "relative_precision", {name: value for name, value in given.items() if name != "relative"}
    if kind.name == "SetF" and "beta" in given:  # trec_eval's weight of recall is the square of beta
        return kind.ours, given | {"beta": float(given["beta"]) ** 0.5}
    if given.get("dcg") == "exp-log2":
        return kind.ours, given | {"dcg": "exponential"}
    return kind.ours, given


MEASURES = {kind.name: Measure(kind) for kind in KINDS}
MEASURES |= {
    alias: MEASURES[name]
    for alias, name in {
        "MAP": "AP", "NDCG": "nDCG", "Precision": "P", "Recall": "R", "MRR": "RR", "RPrec": "Rprec", "BPref": "Bpref",
        "MAP_IA": "AP_IA", "α_DCG": "alpha_DCG", "α_nDCG": "alpha_nDCG",
    }.items()
}  # fmt: skip
MEASURES |= {"NumRelRet": MEASURES["NumRet"](rel=1), "SetRelP": MEASURES["SetP"](relative=True)}


def parse_measure(measure: Any) -> Measure:
    """A measure out of its text.

    >>> parse_measure("P(rel=2)@10")
    P(rel=2)@10
    """
    if isinstance(measure, Measure):
        return measure
    try:
        node: Any = ast.parse(measure, mode="eval").body
        at = [ast.literal_eval(node.right)] if isinstance(node, ast.BinOp) else []
        node = node.left if at else node
        params = {one.arg: ast.literal_eval(one.value) for one in getattr(node, "keywords", [])}
        name = ast.unparse(getattr(node, "func", node))
        if getattr(node, "args", None):
            raise ValueError("parameters need names")
    except (SyntaxError, ValueError, AttributeError) as error:
        raise MetricError(f"{measure!r} is not a measure; write name, name@k or name(parameter=value)@k") from error
    if name not in MEASURES:
        raise NameError(f"measure not found: {name}")
    found = MEASURES[name](**params) if params else MEASURES[name]
    return found @ at[0] if at else found


def meant(measure: Any) -> tuple[Metric, Setting]:
    """karat's metric for a measure of this module, of ir_measures itself (by its text), or in karat's own words."""
    if isinstance(measure, Metric):
        return measure, Setting()
    try:
        found = parse_measure(measure if isinstance(measure, Measure) else str(measure))
    except NameError:
        return parse(str(measure)), Setting()
    return found.metric, found.setting
