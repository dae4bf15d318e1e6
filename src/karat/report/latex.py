# SPDX-License-Identifier: Apache-2.0
"""The LaTeX report: booktabs tables to paste into a paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from karat.evaluation import Evaluation
from karat.findings import Finding, folded
from karat.report.rows import Grid
from karat.report.terminal import tables
from karat.report.text import brief, clear

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "—": "---", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "κ": r"$\kappa$",
}  # fmt: skip


def render(evaluation: Evaluation, by: Sequence[str] = (), digits: int = 4, show: Sequence[str] = ()) -> str:
    """One ``table`` environment per table; needs the package booktabs."""
    every = [table(g) for g in tables(evaluation, by, digits, show)]
    return "\n".join(["% needs \\usepackage{booktabs}", *comments(evaluation.findings), *every]) + "\n"


def comments(findings: Iterable[Finding]) -> list[str]:
    """What speaks against the numbers, as comments beside them: what a paper says of it is for its authors."""
    lines = (
        f"% {first}" + (f" ({rest})" if rest else "")
        for first, rest in folded(f for f in findings if f.severity != "note")
    )
    return [clear(" ".join(line.splitlines())) for line in lines]


def table(grid: Grid) -> str:
    lines = [
        r"\begin{table}", r"\centering", rf"\caption{{{escape(grid.title)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(grid.head) - 1)}}}", r"\toprule", _row(grid.head), r"\midrule",
        *map(_row, grid.rows), r"\bottomrule", r"\end{tabular}",
        *(rf"\par{{\footnotesize {escape(note)}\par}}" for note in grid.notes), r"\end{table}",
    ]  # fmt: skip
    return "\n".join(lines)


def _row(fields: Sequence[str]) -> str:
    # Behind the end of a row or a rule, a bracket or a star would be an argument of it.
    text = " & ".join(map(escape, fields)) + r" \\"
    return "{}" + text if text.startswith(("[", "*")) else text


def escape(text: str) -> str:
    """Text with LaTeX's own characters disarmed."""
    return "".join(_SPECIAL.get(c, c) for c in clear(" ".join(brief(text).splitlines())))
