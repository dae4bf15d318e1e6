# SPDX-License-Identifier: Apache-2.0
"""Other tools' names as a reader would write them, and karat's: the aliases are regular expressions, which nobody reads.

A test sees that every alias has an example, and that each example is read as what its row says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.metric import ALIASES

EXAMPLES: dict[str, dict[str, str]] = {
    r"[fF](?!1\b)(\d+(?:\.\d+)?)": {"fbeta(beta=2)": "F2 f2", "fbeta(beta=0.5)": "F0.5 f0.5"},
    r"map_cut[_.](\d+)|map@(\d+)": {"average_precision@10": "map_cut_10 map_cut.10 map@10"},
    r"P[_.](\d+)": {"precision@10": "P_10 P.10"},
    "PrecisionAtK(?=@)": {"precision@5": "PrecisionAtK@5"},
    r"recall[_.](\d+)": {"recall@100": "recall_100 recall.100"},
    r"ndcg_cut[_.](\d+)": {"ndcg@10": "ndcg_cut_10 ndcg_cut.10"},
    r"Rprec_mult[_.]([\d.]+)": {"r_precision(multiple=0.2)": "Rprec_mult_0.20 Rprec_mult.0.20"},
    r"(?:iprec_at_recall[_.]|IPrec@)([\d.]+)": {
        "interpolated_precision(recall=0.1)": "iprec_at_recall_0.10 iprec_at_recall.0.10 IPrec@0.1"
    },
    r"success[_.](\d+)": {"success@5": "success_5 success.5"},
    r"relative_P[_.](\d+)": {"relative_precision@10": "relative_P_10 relative_P.10"},
    r"set_relative_P|SetRelP|SetP\(relative=[tT]rue\)": {
        "relative_precision": "set_relative_P SetRelP SetP(relative=True) SetP(relative=true)"
    },
    r"unj[_.](\d+)": {"unjudged@10": "unj_10 unj.10"},
    r"rbp(?:\.|_0\.)(\d+)": {"rbp(p=0.95)": "rbp.95 rbp_0.95"},
    r"NumRelRet|NumRet(?=\(rel)": {"num_rel_ret": "NumRelRet", "num_rel_ret(rel=2)": "NumRet(rel=2)"},
}
"""By alias, what is written in karat for each of the spellings behind it, for aliases that are more than lists of names."""


def plain(pattern: str) -> bool:
    """Whether an alias is a list of names."""
    return re.fullmatch(r"[\w|-]+", pattern) is not None


def rows() -> Iterator[tuple[str, str, list[str]]]:
    """Each alias, karat's name, and spellings that are read as it."""
    for pattern, name in ALIASES.items():
        found = {name: pattern.replace("|", " ")} if plain(pattern) else EXAMPLES[pattern]
        for meant, spelt in found.items():
            yield pattern, meant, spelt.split()
