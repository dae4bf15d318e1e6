# SPDX-License-Identifier: Apache-2.0
"""ir_measures' measures by name, with karat's metric and parameters for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
    topics: bool = False
    """Does it look at a document's judgements one by one? To the others the last one counts."""


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
    Kind("alpha_DCG", "alpha_dcg", CUT | ALPHA, ONE | HALF, fixed={"normalize": True}, ties="id", topics=True),
    Kind("alpha_nDCG", "alpha_ndcg", CUT | ALPHA, ONE | HALF, ties="id", topics=True),
    Kind("ERR_IA", "err_ia", CUT | LEVEL, ONE, fixed={"normalize": True}, ties="id", topics=True),
    Kind("nERR_IA", "nerr_ia", CUT | LEVEL, ONE, ties="id", topics=True),
    Kind("NRBP", "nrbp", ALPHA | {"beta": "beta"}, {"rel": 1, "beta": 0.5} | HALF, ties="id", topics=True),
    Kind("nNRBP", "nnrbp", ALPHA | {"beta": "beta"}, {"rel": 1, "beta": 0.5} | HALF, ties="id", topics=True),
    Kind("AP_IA", "average_precision_ia", LEVEL, ONE, ties="id", topics=True),
    Kind("P_IA", "precision_ia", CUT | LEVEL, ONE, ties="id", topics=True),
    Kind("StRecall", "subtopic_recall", CUT | LEVEL, ONE, ties="id", topics=True),
    Kind("Accuracy", None),
]  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """How documents of one score are ordered, unjudged ones, gains of grades, subtopics, and how scores are compared.

    ir_measures' providers differ: trec_eval compares scores in single precision, the Perl script and the others do not.
    """

    ties: str = "trec"
    unjudged: str = "keep"
    gains: tuple[tuple[int, float], ...] = ()
    topics: bool = True
    score_type: str = "double"


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
