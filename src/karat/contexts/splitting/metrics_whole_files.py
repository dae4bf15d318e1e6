# SPDX-License-Identifier: Apache-2.0
"""File-level metrics: a predicted file is right only if it begins and ends where a gold file does."""

from __future__ import annotations

from typing import Literal

from karat.cells import Sparse, Weights
from karat.contexts.splitting.cells import SplittingCells
from karat.metric import metric
from karat.score import Values, ratio

_WOOIR = "van Heusden et al. 2022, WooIR, doi:10.1145/3539813.3545151"
_PANOPTIC = "Kirillov et al. 2019, Panoptic segmentation, arXiv:1801.00868; pages: van Heusden et al. 2022, doi:10.1145/3539813.3545151"
_BCUBED = "Bagga & Baldwin 1998, doi:10.3115/980845.980859"
_NO_FILES = "no files"

Pairing = Literal["iou", "majority", "exact"]


def gold_files(cells: SplittingCells) -> Sparse:
    return cells.gold_files_of


@metric(SplittingCells, by_class=True, support=gold_files, title="File precision", reference=_WOOIR)
def file_precision(W: Weights, cells: SplittingCells) -> Values:
    """Share of predicted files whose both borders are right.

    P = |G ∩ P| / |P|, a file being its first and last page.
    Undefined without predicted files.

    >>> # gold 1-2, 3-4, 5-5; predicted 1-2, 3-5: one of two
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> karat.evaluate(gold, pred, metrics=["file_precision"])["file_precision"].value
    0.5
    """
    return ratio(W @ cells.exact_files_of, W @ cells.pred_files_of, _NO_FILES)


@metric(SplittingCells, by_class=True, support=gold_files, title="File recall", reference=_WOOIR)
def file_recall(W: Weights, cells: SplittingCells) -> Values:
    """Share of gold files that were predicted with both borders right.

    R = |G ∩ P| / |G|, a file being its first and last page.
    Undefined without gold files.

    >>> # gold 1-2, 3-4, 5-5; predicted 1-2, 3-5: one of three
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> round(karat.evaluate(gold, pred, metrics=["file_recall"])["file_recall"].value, 4)
    0.3333
    """
    return ratio(W @ cells.exact_files_of, W @ cells.gold_files_of, _NO_FILES)


@metric(SplittingCells, by_class=True, support=gold_files, symmetric=True, title="File F1", reference=_WOOIR)
def file_f1(W: Weights, cells: SplittingCells) -> Values:
    """Harmonic mean of file precision and file recall.

    F1 = 2·|G ∩ P| / (|G| + |P|), a file being its first and last page.
    Undefined without files.

    >>> # gold 1-2, 3-4, 5-5; predicted 1-2, 3-5: 2·1/(3 + 2)
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> karat.evaluate(gold, pred, metrics=["file_f1"])["file_f1"].value
    0.4
    """
    return ratio(2 * (W @ cells.exact_files_of), W @ cells.gold_files_of + W @ cells.pred_files_of, _NO_FILES)


@metric(SplittingCells, symmetric=True, reference=_PANOPTIC)
def panoptic_quality(W: Weights, cells: SplittingCells, *, pairing: Pairing = "iou") -> Values:
    """How many files were found and how well they fit, in one number.

    PQ = 2·Σ IoU / (|G| + |P|), IoU summed over the pairs. A pair is a gold and a predicted file with IoU > 1/2;
    with pairing=majority, with more than half of each in common. PQ = segmentation quality · recognition quality.
    Undefined without files.

    >>> # gold 1-2, 3-4, 5-5; predicted 1-2 (IoU 1), 3-5 (IoU 2/3 with 3-4): (5/3) / 2.5
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> round(karat.evaluate(gold, pred, metrics=["panoptic_quality"])["panoptic_quality"].value, 4)
    0.6667
    """
    return ratio(2 * (W @ cells.paired_iou(pairing)), W @ cells.files + W @ cells.pred_files, _NO_FILES)


@metric(SplittingCells, symmetric=True, reference=_PANOPTIC)
def segmentation_quality(W: Weights, cells: SplittingCells, *, pairing: Pairing = "iou") -> Values:
    """Mean intersection over union of the files that were found.

    SQ = Σ IoU / n over the n pairs, pairs as in panoptic quality.
    Undefined if no file was found.

    >>> # predicted 1-2 has IoU 1 with gold 1-2, predicted 3-5 has 2/3 with gold 3-4: (1 + 2/3) / 2
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> round(karat.evaluate(gold, pred, metrics=["segmentation_quality"])["segmentation_quality"].value, 4)
    0.8333
    """
    return ratio(W @ cells.paired_iou(pairing), W @ cells.paired(pairing), "no file was found")


@metric(SplittingCells, symmetric=True, reference=_PANOPTIC)
def recognition_quality(W: Weights, cells: SplittingCells, *, pairing: Pairing = "iou") -> Values:
    """F1 of finding files, a file being found if a predicted one pairs with it.

    RQ = 2·pairs / (|G| + |P|), pairs as in panoptic quality.
    Undefined without files.

    >>> # two pairs, three gold and two predicted files: 2 / 2.5
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> karat.evaluate(gold, pred, metrics=["recognition_quality"])["recognition_quality"].value
    0.8
    """
    return ratio(2 * (W @ cells.paired(pairing)), W @ cells.files + W @ cells.pred_files, _NO_FILES)


@metric(
    SplittingCells,
    symmetric=True,
    unit_mean=True,
    title="Straight-through rate",
    reference="Heidenreich et al. 2024, arXiv:2408.11981",
)
def straight_through(W: Weights, cells: SplittingCells) -> Values:
    """Share of bundles that were split without any error.

    STP = (bundles whose every file is right) / bundles.
    Undefined without bundles.

    >>> # bundle a is right, bundle b misses a border: 1/2
    >>> gold = [{"document_id": "a", "pages": 2, "first_pages": [1]}, {"document_id": "b", "pages": 2, "first_pages": [1, 2]}]
    >>> pred = [{"document_id": "a", "pages": 2, "first_pages": [1]}, {"document_id": "b", "pages": 2, "first_pages": [1]}]
    >>> karat.evaluate(gold, pred, metrics=["straight_through"])["straight_through"].value
    0.5
    """
    return ratio(W @ cells.flawless, W @ cells.filled, "no bundles")


@metric(
    SplittingCells,
    unit_mean=True,
    better="lower",
    bounds=(0, float("inf")),
    symmetric=True,
    title="MNDD",
    reference="Mungmeeprued et al. 2022, Tab this folder of documents, doi:10.1145/3558100.3563853",
)
def mndd(W: Weights, cells: SplittingCells, *, per: Literal["bundle", "page"] = "bundle") -> Values:
    """Minimum number of drags and drops: pages that a user must move to another file, on average per bundle.

    MNDD = N − max_σ Σ_g |g ∩ σ(g)| over one-to-one pairings σ of gold and predicted files, N pages. Exact, by
    dynamic programming. per=page divides by pages instead of bundles.
    Undefined without pages.

    >>> # gold 1-2, 3-4, 5-5; predicted 1-2, 3-5: page 5 has to move out
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> karat.evaluate(gold, pred, metrics=["mndd"])["mndd"].value
    1.0
    """
    return ratio(W @ cells.moves, W @ (cells.size if per == "page" else cells.filled), "no pages")


@metric(SplittingCells, title="B-cubed precision", reference=_BCUBED)
def bcubed_precision(W: Weights, cells: SplittingCells) -> Values:
    """Mean over pages of the share of their predicted file that is of the same gold file.

    P = (1/N) Σ_i |g_i ∩ p_i| / |p_i| over the N pages i, g_i and p_i their gold and predicted file.
    Undefined without pages.

    >>> # predicted 1-2: pages 1, 2 have 1; predicted 3-5: pages 3, 4 have 2/3, page 5 1/3: (2 + 5/3) / 5
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> round(karat.evaluate(gold, pred, metrics=["bcubed_precision"])["bcubed_precision"].value, 4)
    0.7333
    """
    return ratio(W @ cells.shared_of_pred, W @ cells.size, "no pages")


@metric(SplittingCells, title="B-cubed recall", reference=_BCUBED)
def bcubed_recall(W: Weights, cells: SplittingCells) -> Values:
    """Mean over pages of the share of their gold file that is in the same predicted file.

    R = (1/N) Σ_i |g_i ∩ p_i| / |g_i| over the N pages i, g_i and p_i their gold and predicted file.
    Undefined without pages.

    >>> # gold 1-3 was cut after page 2: pages 1, 2 have 2/3, page 3 has 1/3: (5/3) / 3
    >>> gold = [{"document_id": "a", "pages": 3, "first_pages": [1]}]
    >>> pred = [{"document_id": "a", "pages": 3, "first_pages": [1, 3]}]
    >>> round(karat.evaluate(gold, pred, metrics=["bcubed_recall"])["bcubed_recall"].value, 4)
    0.5556
    """
    return ratio(W @ cells.shared_of_gold, W @ cells.size, "no pages")


@metric(SplittingCells, symmetric=True, title="B-cubed F1", reference=_BCUBED)
def bcubed_f1(W: Weights, cells: SplittingCells) -> Values:
    """Harmonic mean of B-cubed precision and recall.

    F1 = 2·P·R / (P + R).
    Undefined without pages.

    >>> # precision 1, recall 5/9: 2·(5/9) / (14/9) = 10/14
    >>> gold = [{"document_id": "a", "pages": 3, "first_pages": [1]}]
    >>> pred = [{"document_id": "a", "pages": 3, "first_pages": [1, 3]}]
    >>> round(karat.evaluate(gold, pred, metrics=["bcubed_f1"])["bcubed_f1"].value, 4)
    0.7143
    """
    precise, complete = W @ cells.shared_of_pred, W @ cells.shared_of_gold
    pages = W @ cells.size
    return ratio(2 * precise * complete, (precise + complete) * pages, "no pages")


@metric(SplittingCells, better="lower", reference="Share of gold files cut into several predicted files")
def over_segmentation(W: Weights, cells: SplittingCells) -> Values:
    """Share of gold files that the prediction cuts into several.

    O = (gold files with pages in more than one predicted file) / gold files.
    Undefined without gold files.

    >>> # gold 1-2 stays whole, gold 3-4 is cut: 1/2
    >>> gold = [{"document_id": "a", "pages": 4, "first_pages": [1, 3]}]
    >>> pred = [{"document_id": "a", "pages": 4, "first_pages": [1, 3, 4]}]
    >>> karat.evaluate(gold, pred, metrics=["over_segmentation"])["over_segmentation"].value
    0.5
    """
    return ratio(W @ cells.split_gold, W @ cells.files, _NO_FILES)


@metric(SplittingCells, better="lower", reference="Share of predicted files that merge several gold files")
def under_segmentation(W: Weights, cells: SplittingCells) -> Values:
    """Share of predicted files that hold pages of several gold files.

    U = (predicted files with pages of more than one gold file) / predicted files.
    Undefined without predicted files.

    >>> # predicted 1-2 is pure, predicted 3-5 merges gold 3-4 and 5-5: 1/2
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> karat.evaluate(gold, pred, metrics=["under_segmentation"])["under_segmentation"].value
    0.5
    """
    return ratio(W @ cells.merged_pred, W @ cells.pred_files, _NO_FILES)


@metric(SplittingCells, better="lower", bounds=(0, float("inf")), reference="Number of gold files cut")
def split_files(W: Weights, cells: SplittingCells) -> Values:
    """Number of gold files that the prediction cuts into several.

    Never undefined.

    >>> # gold 3-4 is cut
    >>> gold = [{"document_id": "a", "pages": 4, "first_pages": [1, 3]}]
    >>> pred = [{"document_id": "a", "pages": 4, "first_pages": [1, 3, 4]}]
    >>> karat.evaluate(gold, pred, metrics=["split_files"])["split_files"].value
    1.0
    """
    return Values(W @ cells.split_gold, _NO_FILES)


@metric(
    SplittingCells,
    better="lower",
    bounds=(0, float("inf")),
    reference="Number of predicted files that merge gold files",
)
def merged_files(W: Weights, cells: SplittingCells) -> Values:
    """Number of predicted files that hold pages of several gold files.

    Never undefined.

    >>> # predicted 3-5 merges gold 3-4 and 5-5
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> karat.evaluate(gold, pred, metrics=["merged_files"])["merged_files"].value
    1.0
    """
    return Values(W @ cells.merged_pred, _NO_FILES)
