# SPDX-License-Identifier: Apache-2.0
"""What trec_eval calls the metrics, and the groups in which it prints them."""

from __future__ import annotations

import numpy as np

from karat.contexts.ranking.cells import RankingCells
from karat.metric import Metric

_CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_TENTHS = tuple(i / 10 for i in range(11))
_FIFTHS = tuple(i / 5 for i in range(1, 11))

COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret")
OFFICIAL = (
    *COUNTS,
    *("map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *(f"iprec_at_recall_{x:.2f}" for x in _TENTHS),
    *(f"P_{k}" for k in _CUTS),
)
SET = (*COUNTS, "utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F")
ALL_TREC = (
    *OFFICIAL,
    *(f"recall_{k}" for k in _CUTS),
    *("infAP", "gm_bpref"),
    *(f"Rprec_mult_{x:.2f}" for x in _FIFTHS),
    *("utility", "11pt_avg", "binG", "G", "ndcg", "ndcg_rel", "Rndcg"),
    *(f"ndcg_cut_{k}" for k in _CUTS),
    *(f"map_cut_{k}" for k in _CUTS),
    *(f"relative_P_{k}" for k in _CUTS),
    *(f"success_{k}" for k in (1, 5, 10)),
    *("set_P", "set_relative_P", "set_recall", "set_map", "set_F", "num_nonrel_judged_ret"),
)
RELSTRING = 10
"""Documents that relstring shows."""
_FAMILIES = ("iprec_at_recall", "Rprec_mult", "ndcg_cut", "map_cut", "relative_P")
GROUPS = {"official": OFFICIAL, "set": SET, "all_trec": ALL_TREC} | {
    name: tuple(measure for measure in ALL_TREC if measure.startswith(f"{name}_")) for name in _FAMILIES
}
"""What one name asks for in trec_eval; P, recall and success alone are karat's metrics of the whole list."""

_NAMES = {
    "average_precision": ("map", "map_cut"),
    "precision": ("set_P", "P"),
    "recall": ("set_recall", "recall"),
    "relative_precision": ("set_relative_P", "relative_P"),
    "ndcg": ("ndcg", "ndcg_cut"),
    "success": ("success", "success"),
    "unjudged": ("unj", "unj"),
    "reciprocal_rank": ("recip_rank", "recip_rank_cut"),
    "f": ("set_F", "F"),
    "infap": ("infAP", ""),
    "eleven_point": ("11pt_avg", ""),
    "bin_g": ("binG", ""),
    "g": ("G", ""),
    "r_ndcg": ("Rndcg", ""),
    "rbp_residual": ("rbp_resid", ""),
}
"""trec_eval's name of a metric without and with a cutoff."""


def trec_name(metric: Metric) -> str:
    """The name that trec_eval prints, or karat's where it has none.

    >>> trec_name(Metric("ndcg") @ 10), trec_name(Metric("rbp")(p=0.5))
    ('ndcg_cut_10', 'rbp(p=0.5)')
    """
    params = dict(metric.params)
    if metric.name == "interpolated_precision" and params.keys() <= {"recall"}:
        return f"iprec_at_recall_{params.get('recall', 0.0):.2f}"
    if metric.name == "r_precision" and params.keys() <= {"multiple"}:
        return f"Rprec_mult_{params['multiple']:.2f}" if params else "Rprec"
    if params.keys() - {"k"}:
        return str(metric)
    whole, cut = _NAMES.get(metric.name, (metric.name, metric.name))
    return f"{cut}_{params['k']}" if "k" in params else whole


def relstring(cells: RankingCells, query: int) -> str:
    """The grades of the first documents of a query: - if there is none, . if it is below 0, > if it is above 9."""
    rows = slice(*cells.judged.start[query : query + 2])
    rank, grade = cells.judged.rank[rows], cells.judged.grade[rows]
    shown = ["-"] * int(min(cells.retrieved[query], RELSTRING))
    for at in np.flatnonzero((rank > 0) & (rank <= RELSTRING)).tolist():
        whole = int(grade[at])
        shown[rank[at] - 1] = "." if whole < 0 else ">" if whole > 9 else str(whole)
    return "'" + "".join(shown) + "'"
