# SPDX-License-Identifier: Apache-2.0
"""ir_measures' measures by trec_eval's names."""

from __future__ import annotations

from karat.doors.ir_measures.measure import MEASURES, Measure
from karat.doors.pytrec_eval import FAMILIES, divided, supported_nicknames
from karat.metric import MetricError

NAMES = {
    "map": "AP", "map_cut": "AP", "ndcg": "nDCG", "ndcg_cut": "nDCG", "P": "P", "recall": "R", "success": "Success",
    "Rprec": "Rprec", "bpref": "Bpref", "recip_rank": "RR", "infAP": "infAP", "iprec_at_recall": "IPrec",
    "set_map": "SetAP", "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF", "set_relative_P": "SetRelP",
    "num_q": "NumQ", "num_rel": "NumRel", "num_rel_ret": "NumRelRet", "num_ret": "NumRet",
}  # fmt: skip
OFFICIAL = ("P", "Rprec", "bpref", "iprec_at_recall", "map", "num_q", "num_rel", "num_rel_ret", "num_ret", "recip_rank")
"""ir_measures' own order of trec_eval's official measures, without those it has no measure for."""


def parse_trec_measure(measure: str) -> list[Measure]:
    """One measure, or as many as the name means.

    >>> parse_trec_measure("P_3,8"), parse_trec_measure("map"), parse_trec_measure("set_F.0.5")
    ([P@3, P@8], [AP], [SetF(beta=0.5)])
    """
    group = OFFICIAL if measure == "official" else sorted(supported_nicknames.get(measure, []))
    if group:
        return [part for name in group if name in NAMES for part in parse_trec_measure(name)]
    family, numbers = divided(measure)
    if family not in NAMES:
        raise MetricError(f"ir_measures has no measure for trec_eval's {family}")
    known = MEASURES[NAMES[family]]
    numbers = numbers or [name.removeprefix(f"{family}_") for name in FAMILIES[family] if name != family]
    if family == "set_F":
        return [known(beta=float(n)) for n in numbers] or [known]
    return [known @ (float(n) if known.kind.at == "recall" else int(n)) for n in numbers] or [known]
