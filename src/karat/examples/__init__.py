# SPDX-License-Identifier: Apache-2.0
"""Bundled example data, all of it invented: a folder for each context, and what there is to see in it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple


class Example(NamedTuple):
    """A gold standard, the systems to score against it, and the options of the command that does it."""

    context: str
    what: str
    lesson: str
    gold: str
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    options: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The command line."""
        return [
            "karat", "evaluate", self.gold, *self.systems, "-m", ",".join(self.metrics), *self.options,
        ]  # fmt: skip


TOUR = (
    Example(
        "monolabel", "Labels: which mood has a review?",
        "hasty left 8 reviews out: they count as wrong, and a finding says so.",
        "reviews/gold.tsv", ("reviews/careful.tsv", "reviews/hasty.tsv"), ("accuracy", "f1", "kappa"),
    ),
    Example(
        "multilabel", "Sets of labels: what is an article about?",
        "F1 prefers far, whose slips leave the branch of the label tree; ICM, which knows the tree, prefers near.",
        "topics/gold.jsonl", ("topics/near.jsonl", "topics/far.jsonl"), ("f1", "hierarchical_f1", "icm_norm"),
        ("--hierarchy", "topics/tree.json"),
    ),
    Example(
        "soft", "Disagreement: five annotators vote on comments.",
        "After a majority vote judge is about as good as listener; beside the votes themselves it is far too sure.",
        "comments/gold.jsonl", ("comments/listener.jsonl", "comments/judge.jsonl"), ("accuracy", "cross_entropy", "manhattan"),
    ),
    Example(
        "ranking", "Search: ten queries, judged documents, two rankers.",
        "The names of other tools work too: MAP, P@10, ndcg_cut_10.",
        "search/qrels.txt", ("search/bm25.run", "search/dense.run"), ("ndcg@10", "MAP", "reciprocal_rank"),
    ),
    Example(
        "spans", "Entities in letters, as CoNLL columns.",
        "Strict F1 wants place and label; partial gives half for an overlap.",
        "letters/gold.conll", ("letters/tagger.conll", "letters/rules.conll"), ("f1", "muc_f1(reading=partial)"),
    ),
    Example(
        "splitting", "Scanned pages, to be cut into files.",
        "Few wrong pages spoil many files: F1 counts pages, File F1 whole files.",
        "scans/gold.csv", ("scans/cutter.csv", "scans/knife.csv"), ("f1", "file_f1", "straight_through"),
    ),
    Example(
        "clustering", "Clusters: which mentions are the same person?",
        "strings hardly mixes people up, but breaks them apart: recall sees it.",
        "people/gold.csv", ("people/linker.csv", "people/strings.csv"), ("bcubed_precision", "bcubed_recall", "adjusted_rand"),
        ("-c", "clustering"),
    ),
    Example(
        "probabilities", "Probabilities: is this mail spam?",
        "Both order the mails alike, so ROC AUC is the same; loud is too sure, which log loss and calibration see.",
        "mail/gold.csv", ("mail/calm.csv", "mail/loud.csv"), ("roc_auc", "log_loss", "ece"),
    ),
    Example(
        "numbers", "Numbers: what does a flat cost?",
        "eager correlates better and is too high throughout: correlation does not see it.",
        "prices/gold.csv", ("prices/steady.csv", "prices/eager.csv"), ("mae", "r2", "pearson"), ("-c", "numbers"),
    ),
)  # fmt: skip
"""An example of every context, in the order of the demonstration."""


def data() -> Iterator[tuple[str, bytes]]:
    """Every bundled file by its path."""
    return _under(files(__name__), "")


def _under(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _under(entry, f"{path}{entry.name}/")
        elif path and not entry.name.endswith((".py", ".pyc")):
            yield path + entry.name, entry.read_bytes()
