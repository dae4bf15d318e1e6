# SPDX-License-Identifier: Apache-2.0
import warnings

import pytest
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import BILOU, IOB1, IOB2, IOBES, IOE1, IOE2, Entities

from karat.contexts.spans import tags
from tests.spans.vectors import encode, load, random_tags

SEQEVAL = {"IOB1": IOB1, "IOB2": IOB2, "IOE1": IOE1, "IOE2": IOE2, "IOBES": IOBES, "BILOU": BILOU}
# bio-31 has lower-case prefixes and bio-74 is no list of lists: seqeval reads both, karat refuses both.
REFUSED = {"bio-31", "bio-74"}
VECTORS = [v for v in load("spans") if v["kind"] == "bio" and v["id"] not in REFUSED]


def listed(side, labels, scheme):
    """Spans as seqeval writes strict ones: [label, start, end] for each sentence."""
    found = tags.decode(side, labels, scheme)
    out = [[] for _ in side.lengths]
    for unit, start, end, label in zip(found.unit, found.start, found.end, found.label, strict=True):
        out[unit].append([labels[label], int(start), int(end)])
    return out


def inclusive(sentences):
    return [[[label, start, end - 1] for label, start, end in row] for row in sentences]


def coded(v):
    sides = encode([v["true"], v["pred"]], suffix=v["suffix"])
    return sides, tags.labels_of(sides)


@pytest.mark.parametrize("v", VECTORS, ids=lambda v: v["id"])
def test_lenient_spans_are_seqevals(v):
    sides, labels = coded(v)
    expected = [v["peers"]["seqeval_get_entities_true"], v["peers"]["seqeval_get_entities_pred"]]
    assert [inclusive(listed(side, labels, "seqeval")) for side in sides] == expected


@pytest.mark.parametrize("scheme", tags.STRICT)
@pytest.mark.parametrize("v", VECTORS, ids=lambda v: v["id"])
def test_strict_spans_are_seqevals(v, scheme):
    sides, labels = coded(v)
    expected = v["peers"][f"seqeval_strict_{scheme}_entities"]
    if isinstance(expected, dict):
        with pytest.raises(tags.BadTag, match="has no meaning"):
            [tags.decode(side, labels, scheme) for side in sides]
    else:
        assert [listed(side, labels, scheme) for side in sides] == expected


@pytest.mark.parametrize("seed", range(300))
def test_random_tags_decode_as_in_seqeval(seed):
    scheme = list(SEQEVAL)[seed % 6]
    gold, pred = random_tags(
        seed, prefixes=SEQEVAL[scheme].allowed_prefix.__str__().replace("Prefix.", "").replace("|", "")
    )
    sides = encode([gold, pred])
    labels = tags.labels_of(sides)
    for side, rows in zip(sides, (gold, pred), strict=True):
        strict = [[[e.tag, e.start, e.end] for e in row] for row in Entities(rows, SEQEVAL[scheme]).entities]
        assert listed(side, labels, scheme) == strict
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert inclusive(listed(side, labels, "seqeval")) == [[list(e) for e in get_entities(row)] for row in rows]


def test_lenient_reads_bilou_where_seqeval_does_not():
    (side,) = encode([[["U-X", "U-X", "O", "B-X", "L-X"]]])
    assert listed(side, ["X"], "lenient") == [[["X", 0, 1], ["X", 1, 2], ["X", 3, 5]]]
    assert listed(side, ["X"], "seqeval")[0][0] == ["X", 0, 2]


def test_more_tags_than_a_byte_can_hold():
    rows = [[f"B-L{i}" for i in range(700)]]
    (side,) = encode([rows])
    labels = tags.labels_of([side])
    assert listed(side, labels, "lenient") == [[[f"L{i}", i, i + 1] for i in range(700)]]


@pytest.mark.parametrize(
    ("used", "scheme"),
    [("O", "IOB2"), ("OB", "IOB2"), ("OBI", "IOB2"), ("OI", "IOB1"), ("OIE", "IOE2"), ("OBIES", "IOBES"),
     ("SO", "IOBES"), ("BILOU", "BILOU"), ("UO", "BILOU"), ("BESU", "lenient")],
)  # fmt: skip
def test_scheme_detection(used, scheme):
    assert tags.detect_scheme([p if p == "O" else f"{p}-X" for p in used]) == scheme


def test_malformed_transitions_are_found():
    (side,) = encode([[["I-X", "I-X", "O"], ["B-X", "I-Y", "I-Y"]]])
    assert tags.malformed(side).tolist() == [0, 3]  # of the tags that are not O


def test_equal_tokens():
    gold, pred = encode([[["O", "B-X", "I-X"], ["O"]], [["O", "B-X", "O"], ["B-X"]]])
    assert tags.equal_tokens(gold, pred).tolist() == [2, 0]


def test_empty_input():
    (side,) = encode([[[], []]])
    assert len(tags.decode(side, [], "lenient")) == len(tags.decode(side, [], "IOB2")) == 0
