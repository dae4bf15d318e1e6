# SPDX-License-Identifier: Apache-2.0
"""Metrics of entities: the MUC and SemEval readings, tokens, nested entities, overlaps and errors.

Precision, recall, F1, F-beta and Jaccard by label under the chosen match policy are shared by all contexts
that count by class; here is what is the spans' own.
"""

from __future__ import annotations

from typing import Literal

from karat.cells import Floats, Sparse, Weights
from karat.contexts.spans.cells import SpansCells
from karat.metric import metric
from karat.score import Values, ratio

Reading = Literal["strict", "exact", "partial", "type"]

_MUC = "Chinchor & Sundheim, MUC-5 evaluation metrics, 1993, doi:10.3115/1072017.1072026"
_SEMEVAL = f"{_MUC}; Segura-Bedmar et al., SemEval-2013 task 9, https://aclanthology.org/S13-2056"


@metric(SpansCells, title="MUC precision", reference=_SEMEVAL)
def muc_precision(W: Weights, cells: SpansCells, *, reading: Reading = "strict") -> Values:
    """Credit of the aligned spans as a share of the predicted spans.

    P = (COR + ½ PAR) / predicted. What counts as correct is the reading's: strict place and label, exact the place,
    partial the place (any overlap half), type the label (any overlap).
    Undefined if nothing was predicted.

    >>> # gold A[0,2); predicted A[0,1): wrong place, so strict 0/1; partial ½/1
    >>> e = karat.evaluate([["B-A", "I-A"]], [["B-A", "O"]], metrics=["muc_precision", "muc_precision(reading=partial)"])
    >>> [score.value for score in e.systems[0]]
    [0.0, 0.5]
    """
    return ratio(W @ cells.credit(reading), W @ cells.pred_spans, "nothing was predicted")


@metric(SpansCells, title="MUC recall", reference=_SEMEVAL)
def muc_recall(W: Weights, cells: SpansCells, *, reading: Reading = "strict") -> Values:
    """Credit of the aligned spans as a share of the gold spans.

    R = (COR + ½ PAR) / gold; see `muc_precision` for the readings.
    Undefined without gold spans.

    >>> # gold A[0,2) and B[2,3); predicted A[0,2): 1/2
    >>> karat.evaluate([["B-A", "I-A", "B-B"]], [["B-A", "I-A", "O"]], metrics=["muc_recall"])["muc_recall"].value
    0.5
    """
    return ratio(W @ cells.credit(reading), W @ cells.gold_spans, "nothing in gold")


@metric(SpansCells, symmetric=True, title="MUC F1", reference=_SEMEVAL)
def muc_f1(W: Weights, cells: SpansCells, *, reading: Reading = "strict") -> Values:
    """Harmonic mean of MUC precision and recall.

    F = 2 (COR + ½ PAR) / (gold + predicted); see `muc_precision` for the readings.
    Undefined if there is no span on either side.

    >>> # gold A[0,2) and B[2,3); predicted A[0,2): 2·1/(2 + 1)
    >>> e = karat.evaluate([["B-A", "I-A", "B-B"]], [["B-A", "I-A", "O"]], metrics=["muc_f1"])
    >>> round(e["muc_f1"].value, 4)
    0.6667
    """
    return ratio(2 * (W @ cells.credit(reading)), W @ (cells.gold_spans + cells.pred_spans), "no span on either side")


@metric(
    SpansCells, better="lower", bounds=(0, float("inf")), reference="Makhoul et al. 1999, DARPA Broadcast News Workshop"
)
def slot_error_rate(W: Weights, cells: SpansCells, *, reading: Reading = "strict") -> Values:
    """Errors for each gold span; above 1 if there are more errors than gold spans.

    SER = (INC + ½ PAR + MIS + SPU) / gold.
    Undefined without gold spans.

    >>> # gold A[0,1); predicted B[0,1) and B[2,3): (1 incorrect + 1 spurious)/1
    >>> e = karat.evaluate([["B-A", "O", "O"]], [["B-B", "O", "B-B"]], metrics=["slot_error_rate"])
    >>> e["slot_error_rate"].value
    2.0
    """
    wrong = cells.faults(reading)
    return ratio(W @ (_wrong(wrong) + wrong["missed"] + wrong["spurious"]), W @ cells.gold_spans, "nothing in gold")


@metric(SpansCells, better="lower", reference=_MUC)
def undergeneration(W: Weights, cells: SpansCells, *, reading: Reading = "strict") -> Values:
    """Share of the gold spans that no prediction is aligned with.

    UND = MIS / gold.
    Undefined without gold spans.

    >>> # gold A[0,1) and A[2,3); predicted A[0,1): 1/2
    >>> karat.evaluate([["B-A", "O", "B-A"]], [["B-A", "O", "O"]], metrics=["undergeneration"])["undergeneration"].value
    0.5
    """
    return ratio(W @ cells.faults(reading)["missed"], W @ cells.gold_spans, "nothing in gold")


@metric(SpansCells, better="lower", reference=_MUC)
def overgeneration(W: Weights, cells: SpansCells, *, reading: Reading = "strict") -> Values:
    """Share of the predicted spans that no gold span is aligned with.

    OVG = SPU / predicted.
    Undefined if nothing was predicted.

    >>> # gold A[0,1); predicted A[0,1) and A[2,3): 1/2
    >>> karat.evaluate([["B-A", "O", "O"]], [["B-A", "O", "B-A"]], metrics=["overgeneration"])["overgeneration"].value
    0.5
    """
    return ratio(W @ cells.faults(reading)["spurious"], W @ cells.pred_spans, "nothing was predicted")


@metric(SpansCells, better="lower", symmetric=True, reference=_MUC)
def substitution(W: Weights, cells: SpansCells, *, reading: Reading = "strict") -> Values:
    """Share of the aligned pairs that are wrong, partial ones by half.

    SUB = (INC + ½ PAR) / (COR + INC + PAR).
    Undefined if no spans are aligned.

    >>> # gold A[0,1) and A[2,3); predicted A[0,1) and B[2,3): 1/2
    >>> karat.evaluate([["B-A", "O", "B-A"]], [["B-A", "O", "B-B"]], metrics=["substitution"])["substitution"].value
    0.5
    """
    wrong = cells.faults(reading)
    return ratio(W @ _wrong(wrong), W @ (cells.gold_spans - wrong["missed"]), "no spans are aligned")


def _wrong(faults: dict[str, Floats]) -> Floats:
    return faults["incorrect"] + 0.5 * faults["partial"]


@metric(
    SpansCells,
    title="Entity precision",
    reference=f"{_MUC}; text and type as in Nadeau & Sekine 2007, doi:10.1075/li.30.1.03nad",
)
def entity_precision(W: Weights, cells: SpansCells, *, text_requires_type: bool = True) -> Values:
    """Text and type credits as a share of those that the predictions could earn; children count inside their parents.

    P = (text + type) / (2 · predicted): a pair of one name that overlaps earns type, one at the same place earns text.
    Undefined if nothing was predicted.

    >>> # gold A[0,2); predicted A[0,1): type 1, text 0: 1/2
    >>> karat.evaluate([["B-A", "I-A"]], [["B-A", "O"]], metrics=["entity_precision"])["entity_precision"].value
    0.5
    """
    credit = _text_and_type(cells, text_requires_type)
    return ratio(W @ credit, 2 * (W @ cells.pred_spans), "nothing was predicted")


@metric(
    SpansCells,
    title="Entity recall",
    reference=f"{_MUC}; text and type as in Nadeau & Sekine 2007, doi:10.1075/li.30.1.03nad",
)
def entity_recall(W: Weights, cells: SpansCells, *, text_requires_type: bool = True) -> Values:
    """Text and type credits as a share of those that the gold spans offer.

    R = (text + type) / (2 · gold); see `entity_precision`.
    Undefined without gold spans.

    >>> # gold A[0,2) and A[3,4); predicted A[0,1): (0 + 1)/(2·2)
    >>> e = karat.evaluate([["B-A", "I-A", "O", "B-A"]], [["B-A", "O", "O", "O"]], metrics=["entity_recall"])
    >>> e["entity_recall"].value
    0.25
    """
    return ratio(W @ _text_and_type(cells, text_requires_type), 2 * (W @ cells.gold_spans), "nothing in gold")


@metric(
    SpansCells,
    symmetric=True,
    title="Entity F1",
    reference=f"{_MUC}; text and type as in Nadeau & Sekine 2007, doi:10.1075/li.30.1.03nad",
)
def entity_f1(W: Weights, cells: SpansCells, *, text_requires_type: bool = True) -> Values:
    """Harmonic mean of entity precision and recall.

    F = (text + type) / (gold + predicted); see `entity_precision`.
    Undefined if there is no span on either side.

    >>> # gold A[0,2); predicted A[0,1): (0 + 1)/(1 + 1)
    >>> karat.evaluate([["B-A", "I-A"]], [["B-A", "O"]], metrics=["entity_f1"])["entity_f1"].value
    0.5
    """
    both = cells.gold_spans + cells.pred_spans
    return ratio(W @ _text_and_type(cells, text_requires_type), W @ both, "no span on either side")


def _text_and_type(cells: SpansCells, text_requires_type: bool) -> Floats:
    kinds = ("text", "type")
    first, second = (cells.credited(kind, text_requires_type=text_requires_type) for kind in kinds)
    return first + second


@metric(SpansCells, symmetric=True, title="Entity text F1", reference=_MUC)
def entity_text_f1(W: Weights, cells: SpansCells, *, text_requires_type: bool = True) -> Values:
    """F1 of the places alone: pairs at the same place (of the same name, unless told otherwise).

    F = 2 · text / (gold + predicted).
    Undefined if there is no span on either side.

    >>> # gold A[0,2); predicted A[0,1): no place is right
    >>> karat.evaluate([["B-A", "I-A"]], [["B-A", "O"]], metrics=["entity_text_f1"])["entity_text_f1"].value
    0.0
    """
    text = cells.credited("text", text_requires_type=text_requires_type)
    return ratio(2 * (W @ text), W @ (cells.gold_spans + cells.pred_spans), "no span on either side")


@metric(SpansCells, symmetric=True, title="Entity type F1", reference=_MUC)
def entity_type_f1(W: Weights, cells: SpansCells) -> Values:
    """F1 of the names alone: pairs of one name that overlap.

    F = 2 · type / (gold + predicted).
    Undefined if there is no span on either side.

    >>> # gold A[0,2); predicted A[0,1): the name is right
    >>> karat.evaluate([["B-A", "I-A"]], [["B-A", "O"]], metrics=["entity_type_f1"])["entity_type_f1"].value
    1.0
    """
    return ratio(2 * (W @ cells.credited("type")), W @ (cells.gold_spans + cells.pred_spans), "no span on either side")


def gold_positions(cells: SpansCells) -> Sparse:
    """Tokens or characters of gold, by label."""
    return cells.positions_of("gold")


@metric(
    SpansCells,
    by_class=True,
    support=gold_positions,
    reference="share of predicted tokens or characters that are gold, by label",
)
def token_precision(W: Weights, cells: SpansCells) -> Values:
    """Share of the positions (tokens, or characters) with a predicted label that have it in gold.

    P = common / predicted, in positions of the label; overlapping spans of one label cover a position once.
    Undefined for a label that is never predicted.

    >>> # gold A[0,2); predicted A[1,4): 1 of 3 tokens
    >>> e = karat.evaluate([["B-A", "I-A", "O", "O"]], [["O", "B-A", "I-A", "I-A"]], metrics=["token_precision"])
    >>> round(e["token_precision"].value, 4)
    0.3333
    """
    return ratio(W @ cells.positions_of("common"), W @ cells.positions_of("pred"), "nothing was predicted")


@metric(
    SpansCells,
    by_class=True,
    support=gold_positions,
    reference="share of gold tokens or characters that are predicted, by label",
)
def token_recall(W: Weights, cells: SpansCells) -> Values:
    """Share of the positions (tokens, or characters) with a gold label that have it in the prediction.

    R = common / gold, in positions of the label.
    Undefined for a label that never occurs in gold.

    >>> # gold A[0,2); predicted A[1,4): 1 of 2 tokens
    >>> e = karat.evaluate([["B-A", "I-A", "O", "O"]], [["O", "B-A", "I-A", "I-A"]], metrics=["token_recall"])
    >>> e["token_recall"].value
    0.5
    """
    return ratio(W @ cells.positions_of("common"), W @ cells.positions_of("gold"), "nothing in gold")


@metric(
    SpansCells,
    by_class=True,
    symmetric=True,
    support=gold_positions,
    title="Token F1",
    reference="van Rijsbergen 1979, over tokens or characters",
)
def token_f1(W: Weights, cells: SpansCells) -> Values:
    """Harmonic mean of token precision and recall of a label.

    F = 2 · common / (gold + predicted), in positions of the label.
    Undefined for a label in neither side.

    >>> # gold A[0,2); predicted A[1,4): 2·1/(2 + 3)
    >>> e = karat.evaluate([["B-A", "I-A", "O", "O"]], [["O", "B-A", "I-A", "I-A"]], metrics=["token_f1"])
    >>> e["token_f1"].value
    0.4
    """
    sides = W @ cells.positions_of("gold") + W @ cells.positions_of("pred")
    return ratio(2 * (W @ cells.positions_of("common")), sides, "label in neither side")


@metric(SpansCells, symmetric=True, reference="share of tokens with the gold tag, as conlleval prints it")
def tag_accuracy(W: Weights, cells: SpansCells) -> Values:
    """Share of the tokens whose tag is the gold tag, O included.

    A = (tokens with equal tags) / tokens.
    Undefined where the input is not tags.

    >>> # B-A I-A O against B-A O O: 2 of 3
    >>> e = karat.evaluate([["B-A", "I-A", "O"]], [["B-A", "O", "O"]], metrics=["tag_accuracy"])
    >>> round(e["tag_accuracy"].value, 4)
    0.6667
    """
    return ratio(W @ cells.right_tokens, W @ cells.tokens, "the input is not tags")


@metric(SpansCells, unit_mean=True, symmetric=True, reference="share of documents without any error")
def document_accuracy(W: Weights, cells: SpansCells) -> Values:
    """Share of the documents whose spans are all found, with none too many; empty on both sides is right.

    A = right documents / documents, under the match policy.
    Undefined without documents.

    >>> # two sentences, the second with a span too many: 1/2
    >>> e = karat.evaluate([["B-A"], ["O"]], [["B-A"], ["B-A"]], metrics=["document_accuracy"])
    >>> e["document_accuracy"].value
    0.5
    """
    return ratio(W @ cells.wholly_right, W @ cells.ones, "no documents")


@metric(SpansCells, symmetric=True, title="Mean IoU", reference="Jaccard 1912, doi:10.1111/j.1469-8137.1912.tb05611.x")
def mean_iou(W: Weights, cells: SpansCells, *, over: Literal["pairs", "spans"] = "pairs") -> Values:
    """Mean intersection over union of aligned gold and predicted spans, whatever their labels.

    IoU = common / (gold + predicted − common), in positions. The mean is over the aligned pairs, or over pairs,
    missed and spurious spans (which have 0).
    Undefined if there is nothing to average.

    >>> # gold A[0,2); predicted A[1,4): 1/(2 + 3 − 1)
    >>> e = karat.evaluate([["B-A", "I-A", "O", "O"]], [["O", "B-A", "I-A", "I-A"]], metrics=["mean_iou"])
    >>> e["mean_iou"].value
    0.25
    """
    spans = cells.gold_spans + cells.pred_spans - cells.pairs
    return ratio(W @ cells.iou, W @ (cells.pairs if over == "pairs" else spans), "no spans are aligned")


_FAIR = "Ortmann 2022, https://aclanthology.org/2022.lrec-1.150"


@metric(SpansCells, title="Fair precision", reference=_FAIR)
def fair_precision(W: Weights, cells: SpansCells) -> Values:
    """Precision in which a span with a wrong label or place is one error, not a missed and a spurious span.

    P = TP / (TP + FP + ½ E), E the aligned pairs with a wrong label, place or both.
    Undefined if nothing was predicted.

    >>> # gold A[0,2); predicted A[0,1): 0/(½), and A[3,4) right: 1/(1 + ½)
    >>> e = karat.evaluate([["B-A", "I-A", "O", "B-A"]], [["B-A", "O", "O", "B-A"]], metrics=["fair_precision"])
    >>> round(e["fair_precision"].value, 4)
    0.6667
    """
    k = cells.kinds
    return ratio(W @ k["right"], W @ (k["right"] + k["spurious"] + 0.5 * k["half"]), "nothing was predicted")


@metric(SpansCells, title="Fair recall", reference=_FAIR)
def fair_recall(W: Weights, cells: SpansCells) -> Values:
    """Recall in which a span with a wrong label or place is one error; see `fair_precision`.

    R = TP / (TP + FN + ½ E).
    Undefined without gold spans.

    >>> # gold A[0,2) and A[3,4); predicted A[0,1): 0 right, ½ + 1 errors
    >>> e = karat.evaluate([["B-A", "I-A", "O", "B-A"]], [["B-A", "O", "O", "O"]], metrics=["fair_recall"])
    >>> e["fair_recall"].value
    0.0
    """
    k = cells.kinds
    return ratio(W @ k["right"], W @ (k["right"] + k["missed"] + 0.5 * k["half"]), "nothing in gold")


@metric(SpansCells, symmetric=True, title="Fair F1", reference=_FAIR)
def fair_f1(W: Weights, cells: SpansCells) -> Values:
    """Harmonic mean of fair precision and recall.

    F = 2 TP / (2 TP + FP + FN + E).
    Undefined if there is no span on either side.

    >>> # gold A[0,2) and A[3,4); predicted A[0,1) and A[3,4): 2/(2 + 1)
    >>> e = karat.evaluate([["B-A", "I-A", "O", "B-A"]], [["B-A", "O", "O", "B-A"]], metrics=["fair_f1"])
    >>> round(e["fair_f1"].value, 4)
    0.6667
    """
    k = cells.kinds
    errors = k["missed"] + k["spurious"] + k["half"]
    return ratio(2 * (W @ k["right"]), W @ (2 * k["right"] + errors), "no span on either side")


@metric(SpansCells, better="lower", reference="share of gold spans touched by several predictions of their label")
def fragmentation(W: Weights, cells: SpansCells) -> Values:
    """Share of the gold spans that two or more predictions of their label touch.

    Fragmented gold spans / gold spans.
    Undefined without gold spans.

    >>> # gold A[0,3); predicted A[0,1) and A[2,3): 1/1
    >>> e = karat.evaluate([["B-A", "I-A", "I-A"]], [["B-A", "O", "B-A"]], metrics=["fragmentation"])
    >>> e["fragmentation"].value
    1.0
    """
    return ratio(W @ cells.cut, W @ cells.gold_spans, "nothing in gold")
