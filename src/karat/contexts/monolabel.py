# SPDX-License-Identifier: Apache-2.0
"""One label per item: the cells are (test case, gold label, predicted label)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, Literal

import numpy as np

from karat.cells import Floats, Ints, Sparse, Weights
from karat.contexts.base import Coded, Columns, Context, Counted, Run, Table
from karat.contexts.entries import case_codes, entries, places
from karat.contexts.labels import as_coded, common_codes, recoded, tally, unknown_labels
from karat.contexts.options import OPTIONS
from karat.contexts.pairing import Coverage, coverage_findings, joined, repeated_ids
from karat.contexts.tree import TreeCells, outside_hierarchy
from karat.evaluation import Detail
from karat.findings import Finding
from karat.hierarchy import Hierarchy
from karat.metric import metric
from karat.score import Values, ratio
from karat.state import stored


@stored("monolabel-cells")
class MonoLabelCells(TreeCells):
    """Cells of mono-label items; −1 stands for no label on that side."""

    per_cell = ("gold", "pred")
    class_codes = ("gold", "pred")

    def __init__(
        self, gold: Any, pred: Any, n: Any, test_case: Any, test_cases: Sequence[str], classes: Sequence[str],
        hierarchy: Hierarchy | None = None, **units: Any,
    ) -> None:  # fmt: skip
        super().__init__(n, test_case, test_cases, classes, hierarchy=hierarchy, **units)
        self.gold: Ints = np.asarray(gold, np.int64)
        self.pred: Ints = np.asarray(pred, np.int64)

    def _one_hot(self, codes: Ints, keep: Any) -> Sparse:
        at = np.flatnonzero((codes >= 0) & keep)
        return Sparse.of(at, codes[at], 1.0, (len(self), len(self.classes)))

    @cached_property
    def in_gold(self) -> Floats:
        return (self.gold >= 0).astype(float)

    @cached_property
    def in_pred(self) -> Floats:
        return (self.pred >= 0).astype(float)

    @cached_property
    def hit(self) -> Floats:
        return ((self.gold == self.pred) & (self.gold >= 0)).astype(float)

    @cached_property
    def hit_of(self) -> Sparse:
        return self._one_hot(self.gold, self.hit > 0)

    @cached_property
    def gold_of(self) -> Sparse:
        return self._one_hot(self.gold, True)

    @cached_property
    def pred_of(self) -> Sparse:
        return self._one_hot(self.pred, True)

    @cached_property
    def answer_of(self) -> Sparse:
        """Predictions for gold items by class, the last column being *no prediction*."""
        last = len(self.classes)
        at = np.flatnonzero(self.gold >= 0)
        code = np.where(self.pred[at] >= 0, self.pred[at], last)
        return Sparse.of(at, code, 1.0, (len(self), last + 1))

    @cached_property
    def both(self) -> Floats:
        return self.in_gold * self.in_pred

    def distance(self, power: int) -> Floats:
        """|gold − predicted|^power in class order, as the share of the largest; no prediction is the largest."""
        span = max(len(self.classes) - 1, 1)
        apart = np.where(self.pred >= 0, np.abs(self.gold - self.pred), span)
        return (apart / span) ** power * self.in_gold


class MonoLabel(Context):
    """Mono-label classification."""

    name = "monolabel"
    title = "Mono-label classification"
    cells = MonoLabelCells
    kinds = ("label",)
    metrics = ("accuracy", "precision", "recall", "f1", "kappa", "mcc", "icm", "icm_norm")
    options = OPTIONS["monolabel"]
    example = '{"id": "1", "value": "A"}'

    def check(self, run: Run, table: Table, options: Mapping[str, Any]) -> list[Finding]:
        return repeated_ids(run, table)

    def count(self, run: Run, gold: Table, pred: Table, options: Mapping[str, Any], *, units: bool = False) -> Counted:
        if gold.coded and pred.coded:
            columns = _count_coded(gold.coded["value"], pred.coded["value"], units)
        elif gold.keys and pred.keys:
            columns = _count_held(run, gold, pred, units)
        else:
            columns = _count_relation(run, joined(run, gold, pred), units)
        return self._counted(run, gold, pred, columns, options)

    def _counted(
        self, run: Run, gold: Table, pred: Table, columns: dict[str, Any], options: Mapping[str, Any]
    ) -> Counted:
        cells = _cells(columns, options)
        n, in_gold, in_pred = cells.n, cells.gold >= 0, cells.pred >= 0
        coverage = Coverage(int(n[in_gold].sum()), int(n[in_pred].sum()), int(n[in_gold & in_pred].sum()))
        findings = coverage_findings(run, gold, pred, coverage, options)
        gold_used, unknown = _used(cells, cells.gold), _unknown(cells)
        findings += unknown_labels(unknown, gold_used, pred)
        findings += outside_hierarchy(gold_used, options["hierarchy"], gold.name)
        findings += outside_hierarchy(unknown, options["hierarchy"], pred.name)
        keep = in_gold | (options["extra"] == "wrong")
        if options["missing"] == "skip":
            keep &= in_pred
        return Counted(_kept(cells, keep), coverage.counts(), findings)

    def details(self, cells: Any) -> Sequence[Detail]:
        return [_confusion(cells)] if cells.classes and len(cells.classes) <= 200 else []


def _count_coded(gold: Any, pred: Any, units: bool) -> dict[str, Any]:
    """Cells of two aligned columns of codes, in one pass."""
    assert isinstance(gold, Coded)
    assert isinstance(pred, Coded)
    width = len(pred.values)
    key = np.multiply(gold.codes, width, dtype=np.int64)
    key += pred.codes
    found, n = tally(key, len(gold.values) * width)
    rows = found // width
    out: dict[str, Any] = {
        "test_case": Coded(np.zeros(len(found), np.int64), [""]),
        "gold": Coded(rows, gold.values),
        "pred": Coded(found - rows * width, pred.values),
        "n": n,
    }
    return out | ({"unit": np.searchsorted(found, key), "unit_ids": range(len(key))} if units else {})


def _count_held(run: Run, gold: Table, pred: Table, units: bool) -> dict[str, Any]:
    """Cells of two sides whose keys are in memory, in the engine's order: no label comes last."""
    assert gold.keys
    assert pred.keys
    place = places(run, gold, pred)
    lone = place < 0
    keys = [*gold.keys.pairs(), *compress(pred.keys.pairs(), lone.tolist())]
    row = np.where(lone, gold.rows + np.cumsum(lone) - 1, place)
    case, cases = case_codes([case for case, _ in keys])
    sides = [(np.arange(gold.rows), entries(run, gold)), (row, entries(run, pred))]
    names = [cases, *(of.labels for _, of in sides)]
    shape = [len(each) + 1 for each in names]
    # Wrapped around, the −1 of no label is the last code.
    key = np.ravel_multi_index((case, *(_spread(of.label, at, len(keys)) for at, of in sides)), shape, "wrap")
    found, n = tally(key, int(np.prod(shape)))
    codes = [
        np.where(each == len(of), -1, each) for each, of in zip(np.unravel_index(found, shape), names, strict=True)
    ]
    out: dict[str, Any] = dict(zip(("test_case", "gold", "pred"), map(Coded, codes, names), strict=True))
    order = sorted(range(len(keys)), key=keys.__getitem__) if units else []
    of_unit = {"unit": np.searchsorted(found, key)[order], "unit_ids": [keys[i][1] for i in order]}
    return out | {"n": n} | (of_unit if units else {})


def _spread(label: Ints, row: Ints, rows: int) -> Ints:
    """Codes at their rows among all; −1 elsewhere."""
    codes = np.full(rows, -1)
    codes[row] = label
    return codes


def _count_relation(run: Run, source: str, units: bool) -> dict[str, Any]:
    fields = "coalesce(g.test_case, p.test_case) AS test_case, g.value AS gold, p.value AS pred"
    if not units:
        return _coded(run(f"SELECT {fields}, count(*) AS n FROM {source} GROUP BY ALL ORDER BY ALL"))
    each = f"(SELECT coalesce(g.id, p.id) AS id, {fields} FROM {source})"
    whole = f"SELECT test_case, gold, pred, count(*) AS n FROM {each} GROUP BY ALL ORDER BY ALL"
    of_unit = (
        f"SELECT u.test_case, u.id, c.cell FROM {each} u JOIN (SELECT *, row_number() OVER (ORDER BY test_case, gold, pred) - 1 AS cell FROM ({whole})) c"
        " ON u.test_case = c.test_case AND u.gold IS NOT DISTINCT FROM c.gold AND u.pred IS NOT DISTINCT FROM c.pred"
        " ORDER BY u.test_case, u.id"
    )
    found = run(of_unit)
    return _coded(run(whole)) | {
        "unit": found["cell"],
        "unit_ids": found["id"].tolist(),
        "unit_cases": found["test_case"],
    }


def _coded(columns: Columns) -> dict[str, Any]:
    """The columns of a query with labels and test cases as codes."""
    return {name: column if name == "n" else as_coded(column) for name, column in columns.items()}


def _cells(columns: Mapping[str, Any], options: Mapping[str, Any]) -> MonoLabelCells:
    classes, gold, pred = common_codes(columns["gold"], columns["pred"])
    cases = columns["test_case"]
    test_cases = sorted(cases.values)
    return MonoLabelCells(
        gold, pred, columns["n"], recoded(cases, test_cases), test_cases, classes, options["hierarchy"],
        unit=columns.get("unit"), unit_ids=columns.get("unit_ids"),
    )  # fmt: skip


def _kept(cells: MonoLabelCells, keep: Any) -> MonoLabelCells:
    """Only these cells, and only their test cases and units."""
    if keep.all():
        return cells
    out = cells.take(np.flatnonzero(keep))
    used = np.unique(out.test_case)
    out.test_cases = [cells.test_cases[t] for t in used]
    out.test_case = np.searchsorted(used, out.test_case)
    if cells.unit is not None and cells.unit_ids is not None:
        inside: list[int] = np.flatnonzero(keep[cells.unit]).tolist()
        out.unit = (np.cumsum(keep) - 1)[cells.unit[inside]]
        out.unit_ids = [cells.unit_ids[i] for i in inside]
    return out


def _unknown(cells: MonoLabelCells) -> dict[str, int]:
    gold = np.bincount(cells.gold[cells.gold >= 0], minlength=len(cells.classes))
    with_pred = cells.pred >= 0
    pred = np.bincount(cells.pred[with_pred], cells.n[with_pred], len(cells.classes))
    return {label: int(pred[i]) for i, label in enumerate(cells.classes) if pred[i] and not gold[i]}


def _used(cells: MonoLabelCells, codes: Ints) -> list[str]:
    used = np.bincount(codes[codes >= 0], minlength=len(cells.classes))
    return [cells.classes[i] for i in np.flatnonzero(used).tolist()]


def _confusion(cells: MonoLabelCells) -> Detail:
    """Gold labels down, predicted labels across."""
    size = len(cells.classes)
    table = np.zeros((size + 1, size + 1), np.int64)
    np.add.at(table, (cells.gold, cells.pred), cells.n)
    across = [*range(size), -1] if table[:, -1].any() else list(range(size))
    down = [*range(size), -1] if table[-1].any() else list(range(size))
    names = [*cells.classes, "—"]
    rows = [[names[i], *table[i, across].tolist()] for i in down]
    return Detail(
        "confusion",
        "Confusion matrix (gold down, predicted across)",
        ["gold", *(names[i] for i in across)],
        rows,
        "matrix",
    )


_COHEN = "Cohen 1960, doi:10.1177/001316446002000104"


@metric(
    MonoLabelCells,
    proportion=True,
    symmetric=True,
    reference="share of agreement; Sokolova & Lapalme 2009, doi:10.1016/j.ipm.2009.03.002",
)
def accuracy(W: Weights, cells: MonoLabelCells) -> Values:
    """Share of gold items whose predicted label is the gold label.

    A = hits / gold items; an item without a prediction is not hit.
    Undefined without gold items.

    >>> # gold A A B, predicted A B B: 2 of 3
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"])["accuracy"].value, 4)
    0.6667
    """
    return ratio(W @ cells.hit, W @ cells.in_gold, "no gold items")


@metric(MonoLabelCells, proportion=True, symmetric=True, reference="Amigó et al., EvALL, 2017")
def system_precision(W: Weights, cells: MonoLabelCells) -> Values:
    """Share of predictions that are right.

    SP = hits / predictions; unlike accuracy, missing predictions do not count.
    Undefined without predictions.

    >>> # gold 1:A 2:A, predicted 1:A only: 1 of 1
    >>> karat.evaluate({"1": "A", "2": "A"}, {"1": "A"}, metrics=["system_precision"])["system_precision"].value
    1.0
    """
    return ratio(W @ cells.hit, W @ cells.in_pred, "no predictions")


@metric(MonoLabelCells, reference="Brodersen et al. 2010, doi:10.1109/ICPR.2010.764")
def balanced_accuracy(W: Weights, cells: MonoLabelCells) -> Values:
    """Mean over the gold classes of the share of their items that are hit.

    BA = (1/K) Σ_c hits_c / gold_c over the K classes that occur in gold.
    Undefined without gold items.

    >>> # gold A A B, predicted A B B: (1/2 + 1/1)/2
    >>> karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["balanced_accuracy"])["balanced_accuracy"].value
    0.75
    """
    recall = ratio(W @ cells.hit_of, W @ cells.gold_of, "").value
    return ratio(np.nansum(recall, -1), (~np.isnan(recall)).sum(-1), "no gold items")


@metric(
    MonoLabelCells,
    better="lower",
    proportion=True,
    symmetric=True,
    reference="Hamming 1950, doi:10.1002/j.1538-7305.1950.tb00463.x",
)
def hamming_loss(W: Weights, cells: MonoLabelCells) -> Values:
    """Share of gold items whose label is not hit; with one label per item, 1 − accuracy.

    Undefined without gold items.

    >>> # gold A A B, predicted A B B: 1 of 3
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["hamming_loss"])["hamming_loss"].value, 4)
    0.3333
    """
    return ratio(W @ (cells.in_gold - cells.hit), W @ cells.in_gold, "no gold items")


@metric(
    MonoLabelCells,
    better="lower",
    proportion=True,
    symmetric=True,
    reference="Hastie et al., Elements of Statistical Learning, 2009, §2.4",
)
def zero_one_loss(W: Weights, cells: MonoLabelCells) -> Values:
    """Share of gold items that are not wholly right: 1 − accuracy.

    Undefined without gold items.

    >>> # gold A A B, predicted A B B: 1 of 3
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["zero_one_loss"])["zero_one_loss"].value, 4)
    0.3333
    """
    return ratio(W @ (cells.in_gold - cells.hit), W @ cells.in_gold, "no gold items")


@metric(
    MonoLabelCells,
    bounds=(-1, 1),
    symmetric=True,
    title="Cohen's kappa",
    reference=f"{_COHEN}; weighted: Cohen 1968, doi:10.1037/h0026256",
)
def kappa(W: Weights, cells: MonoLabelCells, *, weights: Literal["none", "linear", "quadratic"] = "none") -> Values:
    """Agreement beyond chance.

    κ = 1 − D_o / D_e: D_o the observed share of disagreement, D_e the one expected from both sides' label counts;
    with weights, a disagreement costs its distance in label order (linear) or the square of it.
    Undefined where chance agreement is total (one label in use). No prediction is a label of its own.

    >>> # gold A A B, predicted A B B: D_o = 1/3, D_e = 1 − (2·1 + 1·2)/9 = 5/9, κ = 1 − 3/5
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"])["kappa"].value, 4)
    0.4
    """
    n, gold, answer = W @ cells.in_gold, W @ cells.gold_of, W @ cells.answer_of
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    wrong = cells.distance(power) if power else cells.in_gold - cells.hit
    expected = _chance(gold, answer, n, power)
    return ratio(expected - (W @ wrong) * n, expected, "one label in use: agreement by chance is total")


def _chance(gold: Floats, answer: Floats, n: Floats, power: int) -> Floats:
    """n² times the disagreement that is expected by chance."""
    if not power:
        return n**2 - (gold * answer[:, :-1]).sum(-1)
    at = np.arange(gold.shape[1])
    apart = (np.abs(at[:, None] - at) / max(len(at) - 1, 1)) ** power
    apart = np.column_stack([apart, np.ones(len(at))])
    return np.einsum("gi,ij,gj->g", gold, apart, answer, optimize=True)


@metric(
    MonoLabelCells,
    bounds=(-1, 1),
    symmetric=True,
    title="Matthews correlation",
    reference="Gorodkin 2004, doi:10.1016/j.compbiolchem.2004.09.006",
)
def mcc(W: Weights, cells: MonoLabelCells) -> Values:
    """Correlation of gold and predicted labels (Matthews; R_K for more than two).

    R = (hits·n − Σ_c g_c p_c) / √((n² − Σ g_c²)(n² − Σ p_c²)), g and p the label counts of both sides.
    Undefined where one side uses a single label. No prediction is a label of its own.

    >>> # gold A A B, predicted A B B: (2·3 − 4)/√((9−5)(9−5))
    >>> karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["mcc"])["mcc"].value
    0.5
    """
    n, gold, answer = W @ cells.in_gold, W @ cells.gold_of, W @ cells.answer_of
    spread = (n**2 - (gold**2).sum(-1)) * (n**2 - (answer**2).sum(-1))
    return ratio((W @ cells.hit) * n - (gold * answer[:, :-1]).sum(-1), np.sqrt(spread), "one side uses a single label")


@metric(
    MonoLabelCells,
    bounds=(-1, 1),
    symmetric=True,
    title="Krippendorff's alpha",
    reference="Krippendorff, Content Analysis, 4th ed., 2018, ch. 12",
)
def krippendorff_alpha(W: Weights, cells: MonoLabelCells) -> Values:
    """Agreement of gold and prediction as two annotators (nominal).

    α = 1 − (2n − 1)·(n − hits)·2 / ((2n)² − Σ_c m_c²), over the n items that both label, m_c the uses of label c.
    Undefined where one label is in use.

    >>> # gold A A B, predicted A B B: m = 3, 3: 1 − 5·1·2/(36 − 18)
    >>> e = karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["krippendorff_alpha"])
    >>> round(e["krippendorff_alpha"].value, 4)
    0.4444
    """
    n, used = W @ cells.both, _uses(W, cells)
    disorder = (2 * n) ** 2 - (used**2).sum(-1)
    return ratio(disorder - (2 * n - 1) * 2 * (n - W @ cells.hit), disorder, "one label in use")


@metric(MonoLabelCells, bounds=(-1, 1), symmetric=True, title="Scott's pi", reference="Scott 1955, doi:10.1086/266577")
def scott_pi(W: Weights, cells: MonoLabelCells) -> Values:
    """Agreement beyond chance, chance taken from the label counts of both sides together.

    π = (A − e) / (1 − e), A = hits/n, e = Σ_c (m_c / 2n)², over the n items that both label, m_c the uses of label c.
    Undefined where one label is in use.

    >>> # gold A A B, predicted A B B: e = 2·(3/6)², (2/3 − 1/2)/(1/2)
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["scott_pi"])["scott_pi"].value, 4)
    0.3333
    """
    n, used = W @ cells.both, _uses(W, cells)
    chance = (used**2).sum(-1)
    return ratio(4 * n * (W @ cells.hit) - chance, (2 * n) ** 2 - chance, "one label in use")


def _uses(W: Weights, cells: MonoLabelCells) -> Floats:
    """How often each label is used by either side, on items that both label."""
    return W @ (cells.gold_of * cells.both) + W @ (cells.pred_of * cells.both)


context = MonoLabel()
