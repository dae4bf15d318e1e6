# SPDX-License-Identifier: Apache-2.0
"""ranx's report of a comparison: a table in text or LaTeX, a dictionary, a frame."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from karat.doors.kit.table import Column

LETTERS = "abcdefghijklmnopqrstuvwxyz"
RAISED = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ۹ʳˢᵗᵘᵛʷˣʸᶻ"
LABELS = {
    "hits": "Hits", "hit_rate": "Hit Rate", "precision": "P", "recall": "Recall", "f1": "F1", "r-precision": "R-Prec",
    "mrr": "MRR", "map": "MAP", "dcg": "DCG", "dcg_burges": "DCG Burges", "ndcg": "NDCG", "ndcg_burges": "NDCG Burges",
    "bpref": "BPref", "rbp": "RBP",
}  # fmt: skip
TESTS = {"fisher": "Fisher's randomization test", "student": "paired Student's t-test", "tukey": "Tukey's HSD test"}

Value = TypeVar("Value")
Pairs = dict[tuple[str, str], Value]


@dataclass(repr=False)
class Report:
    """Means by run and metric, and p, significance, wins, ties and losses by pair of runs and metric."""

    model_names: list[str]
    results: dict[str, dict[str, float]]
    comparisons: Pairs[dict[str, Any]]
    metrics: list[str]
    max_p: float
    win_tie_loss: Pairs[dict[str, dict[str, int]]]
    rounding_digits: int = 3
    show_percentages: bool = False
    stat_test: str = "student"

    def format_score(self, score: float) -> str:
        if self.show_percentages:
            return f"{score * 100:.{max(0, self.rounding_digits - 2)}f}"
        return f"{score:.{self.rounding_digits}f}"

    def get_metric_label(self, m: str) -> str:
        """map@10-l2 as MAP@10-l2."""
        name, mark, rest = m.partition("@") if "@" in m else m.partition(".")
        if not mark:
            name, mark, rest = (*m.rsplit("-l", 1), "") if "-l" in m else (m, "", "")
            return f"{LABELS.get(name, name)}-l{mark}" if mark else LABELS.get(name, name)
        return f"{LABELS.get(name, name)}{mark}{rest}"

    def get_stat_test_label(self, stat_test: str) -> str:
        return TESTS[stat_test]

    def beaten(self, model: str, metric: str) -> list[bool]:
        """Which of the runs this one is significantly better than."""
        return [
            model != other
            and self.comparisons[model, other][metric]["significant"]
            and self.results[model][metric] > self.results[other][metric]
            for other in self.model_names
        ]

    def to_table(self) -> str:
        heads = ["#", "Model", *map(self.get_metric_label, self.metrics)]
        rows = [
            [LETTERS[number], model, *(self._cell(model, metric) for metric in self.metrics)]
            for number, model in enumerate(self.model_names)
        ]
        return columns(heads, rows)

    def _cell(self, model: str, metric: str) -> str:
        marks = [mark for mark, better in zip(RAISED, self.beaten(model, metric), strict=False) if better]
        return self.format_score(self.results[model][metric]) + "".join(marks)

    def to_latex(self) -> str:
        """A table for LaTeX; the best number of each metric is bold."""
        heads = " & ".join(
            f"\\textbf{{{head}}}" for head in ("\\#", "Model", *map(self.get_metric_label, self.metrics))
        )
        body = [
            " & ".join([LETTERS[number], model, *(self._latex(model, metric) for metric in self.metrics)]) + r" \\"
            for number, model in enumerate(self.model_names)
        ]
        test = f"Superscripts: significantly better than, {TESTS[self.stat_test]}, $p \\le {self.max_p}$."
        return "\n".join(
            [
                "% needs \\usepackage{booktabs}",
                r"\begin{table*}[ht]",
                r"\centering",
                f"\\caption{{Effectiveness of the models, the best in bold. {test}}}",
                f"\\begin{{tabular}}{{c|l{'|c' * len(self.metrics)}}}",
                r"\toprule",
                heads + r" \\",
                r"\midrule",
                *(line.replace("_", r"\_") for line in body),
                r"\bottomrule",
                r"\end{tabular}",
                r"\label{tab:results}",
                r"\end{table*}",
            ]
        )

    def _latex(self, model: str, metric: str) -> str:
        score, marks = self.format_score(self.results[model][metric]), self.beaten(model, metric)
        best = max(self.results, key=lambda name: self.results[name][metric]) == model
        raised = "".join(letter for letter, better in zip(LETTERS, marks, strict=False) if better)
        return (f"\\textbf{{{score}}}" if best else score) + (f"$^{{{raised}}}$" if raised else "")

    def to_dict(self) -> dict[str, Any]:
        """Scores, p-values, wins, ties and losses by run."""
        return {"stat_test": self.stat_test, "metrics": self.metrics, "model_names": self.model_names} | {
            model: {
                "scores": self.results[model],
                "comparisons": {other: self._p_values(model, other) for other in self._others(model)},
                "win_tie_loss": {other: dict(self.win_tie_loss[model, other]) for other in self._others(model)},
            }
            for model in self.model_names
        }

    def _others(self, model: str) -> list[str]:
        return [other for other in self.model_names if other != model]

    def _p_values(self, model: str, other: str) -> dict[str, float]:
        return {metric: self.comparisons[model, other][metric]["p_value"] for metric in self.metrics}

    def to_dataframe(self) -> Any:
        import pandas as pd

        return pd.DataFrame([{"model_names": model} | self.results[model] for model in self.model_names])

    def save(self, path: str) -> None:
        """The dictionary as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=4), encoding="utf-8")

    def print_results(self) -> None:
        """The means, on stdout."""
        print(json.dumps(self.results, indent=4))

    def __repr__(self) -> str:
        return self.to_table()


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Text in columns, a rule under the heads; numbers stand with their points in line."""
    table = [Column(head, [row[nth] for row in rows]) for nth, head in enumerate(heads)]
    lines = [
        [column.aligned(column.name) for column in table],
        ["-" * column.width for column in table],
        *([column.aligned(column.texts[nth]) for column in table] for nth in range(len(rows))),
    ]
    return "\n".join("  ".join(line).rstrip() for line in lines)
