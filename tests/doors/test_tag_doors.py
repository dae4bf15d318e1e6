# SPDX-License-Identifier: Apache-2.0
"""Tags of every spelling through the doors of seqeval and nervaluate: the originals' numbers and refusals."""

import random
import warnings

import numpy as np
import pytest
from nervaluate.evaluator import Evaluator as Peer
from seqeval import metrics as peer
from seqeval import scheme as peer_schemes

import karat
from karat.doors import seqeval
from karat.doors.nervaluate import Evaluator

GOLD, ONLY_INSIDE = [["B-PER", "I-PER", "O", "B-LOC"]], [["I-PER", "I-PER", "O", "I-LOC"]]
VOCABULARIES = [
    ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"],
    ["O", "B-PER", "I-PER", "E-PER", "S-PER", "B-A-B", "I-A-B"],
    ["O", "B-PER", "I-PER", "L-PER", "U-PER"],
    ["O", "o", "PER", "X-PER", "B", "I", "BPER", "B_PER", "B--X", "I-", "I-PER", "L-PER", "U-PER", "B-PER", "IX-Y"],
]


def outcome(function, *arguments, **options):
    """A number, an array, a report, or the kind of refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*arguments, **options)
        except KeyError:  # an unknown prefix under a named scheme: a ValueError here, see the page
            return "refused"
        except ValueError:
            return "refused"


def same(ours, theirs):
    if isinstance(theirs, dict):
        return (
            isinstance(ours, dict)
            and ours.keys() == theirs.keys()
            and all(same(ours[key], theirs[key]) for key in theirs)
        )
    if isinstance(theirs, str) or isinstance(ours, str):
        return ours is theirs
    return np.allclose(ours, theirs, rtol=0, atol=1e-12, equal_nan=True)


def sentences(draw):
    gold = draw.choice(VOCABULARIES)
    pred = gold if draw.random() < 0.8 else draw.choice(VOCABULARIES)
    lengths = [draw.randint(1, 5) for _ in range(draw.randint(1, 3))]
    return [[[draw.choice(tags) for _ in range(length)] for length in lengths] for tags in (gold, pred)]


def single_with_o(gold):
    """S or U alone beside O: no scheme to seqeval, one to the door, as the page says."""
    return {tag[0] for sentence in gold for tag in sentence} in ({"O", "S"}, {"O", "U"})


def assert_seqeval_alike(gold, pred, **options):
    scheme = options.pop("scheme", None)
    theirs, ours = ({**options, "scheme": scheme and getattr(tool, scheme)} for tool in (peer_schemes, seqeval))
    for average in ("micro", "macro", "weighted", None):
        expected = outcome(peer.f1_score, gold, pred, average=average, **theirs)
        assert same(outcome(seqeval.f1_score, gold, pred, average=average, **ours), expected)
    if not (options.get("mode") and scheme is None and single_with_o(gold)):
        expected = outcome(peer.classification_report, gold, pred, output_dict=True, **theirs)
        assert same(outcome(seqeval.classification_report, gold, pred, output_dict=True, **ours), expected)


@pytest.mark.parametrize("seed", range(15))
def test_seqeval(seed):
    draw = random.Random(seed)
    for _ in range(3):
        gold, pred = sentences(draw)
        options = {"mode": draw.choice([None, "strict"]), "scheme": draw.choice([None, "IOB2", "IOBES", "IOE1"])}
        assert_seqeval_alike(gold, pred, **options)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 150))
def test_seqeval_at_length(seed):
    draw = random.Random(seed)
    gold, pred = sentences(draw)
    suffix = draw.random() < 0.3
    if suffix:
        gold, pred = ([["-".join(tag.split("-", 1)[::-1]) for tag in one] for one in side] for side in (gold, pred))
    for mode in (None, "strict"):
        for scheme in (None, "IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"):
            if not (mode and scheme is None and suffix):  # a bare S with O, as above
                assert_seqeval_alike(gold, pred, mode=mode, scheme=scheme, suffix=suffix)


def test_the_scheme_is_golds():
    """A system that never writes B- is not right where every entity must begin with it."""
    report = seqeval.classification_report(GOLD, ONLY_INSIDE, mode="strict", output_dict=True)
    assert report["micro avg"]["f1-score"] == 0.0
    evaluation = karat.evaluate(GOLD, ONLY_INSIDE, context="spans", scheme="strict", metrics=["f1"])
    assert evaluation.systems[0]["f1"].value == 0.0
    (note,) = [one for one in evaluation.findings if one.code == "scheme-of-gold"]
    assert "IOB2" in note.message
    turned = karat.evaluate(ONLY_INSIDE, GOLD, context="spans", scheme="strict", metrics=["f1"]).systems[0]
    assert turned["f1"].value == 0.0  # gold in IOB1, where B- stands between neighbours only


def test_tags_outside_of_golds_scheme_are_refused():
    with pytest.raises(karat.InputError) as error:
        karat.evaluate(GOLD, [["B-PER", "I-PER", "O", "S-LOC"]], context="spans", scheme="strict")
    assert [one.code for one in error.value.findings] == ["tag-unknown"]


def test_f1_score_without_a_scheme_is_lenient_as_there():
    assert seqeval.f1_score(GOLD, ONLY_INSIDE, mode="strict") == peer.f1_score(GOLD, ONLY_INSIDE, mode="strict") == 1.0


@pytest.mark.parametrize("gold", [["I-PER", "O"], ["O"], ["B-X", "I-X", "S-X"], ["X-PER"]])
def test_prefixes_of_no_scheme_are_refused(gold):
    for tool in (peer, seqeval):
        with pytest.raises(ValueError, match="scheme"):
            tool.classification_report([gold], [gold], mode="strict")


def test_unknown_tags_are_said():
    with pytest.warns(UserWarning, match="'PER' is no tag"):
        assert seqeval.f1_score([["PER", "O"]], [["PER", "O"]]) == 1.0


@pytest.mark.parametrize("side", [[], ["B-PER", "O"], [["B-PER", None]], [["B-PER", 0]], [1, 2]])
@pytest.mark.parametrize("options", [{}, {"mode": "strict"}, {"mode": "strict", "scheme": seqeval.IOB2}])
@pytest.mark.parametrize("name", ["f1_score", "classification_report"])
def test_no_sentences_of_tags_are_refused(name, options, side):
    with pytest.raises(TypeError, match="y_true"):
        getattr(seqeval, name)(side, side, **options)


@pytest.mark.parametrize("pred", [[["O"]], [["O"], ["O", "O"], ["O"]], [["O", "O"], ["O"]], [["O"], ["O"]]])
@pytest.mark.parametrize("name", ["f1_score", "classification_report", "accuracy_score", "performance_measure"])
def test_unlike_sentences_are_refused(name, pred):
    with pytest.raises(ValueError, match="true and"):
        getattr(seqeval, name)([["B-PER"], ["O", "O"]], pred)


def counts(tool, gold, pred, tags, loader="list"):
    found = tool(gold, pred, tags, loader=loader).evaluate()
    names = ("correct", "incorrect", "partial", "missed", "spurious", "precision", "recall", "f1")
    return {
        label: {reading: {name: getattr(row, name) for name in names} for reading, row in table.items()}
        for label, table in {"overall": found["overall"], **found["entities"]}.items()
    }


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(n, marks=pytest.mark.slow) for n in range(40, 300))])
def test_nervaluate(seed):
    draw = random.Random(seed)
    gold, pred = sentences(draw)
    tags = draw.choice([["PER", "LOC"], ["PER", "", "A-B", "X", "_PER"]])
    assert same(outcome(counts, Evaluator, gold, pred, tags), outcome(counts, Peer, gold, pred, tags))


@pytest.mark.parametrize("tag", ["BPER", "B_PER", "S-PER", "E-PER", "L-PER", "U-PER", "PER"])
def test_nervaluate_refuses_what_opens_no_entity(tag):
    for tool in (Peer, Evaluator):
        with pytest.raises(ValueError, match=f"Invalid tag format: {tag}"):
            tool([["O", tag]], [["O", "O"]], ["PER"], loader="list").evaluate()


def test_nervaluate_goes_on_with_any_tag_of_the_label():
    gold, pred = [["B-PER", "E-PER", "O"]], [["B-PER", "L-PER", "O"]]
    assert counts(Evaluator, gold, pred, ["PER"]) == counts(Peer, gold, pred, ["PER"])
    assert counts(Evaluator, gold, pred, ["PER"])["PER"]["strict"]["correct"] == 1


def test_nervaluate_keeps_a_tag_without_label_apart():
    gold, pred = [["O"], ["I-LOC"]], [["B-LOC"], ["I-"]]
    assert counts(Evaluator, gold, pred, ["LOC"])["overall"]["strict"]["correct"] == 0


CONLL = "a\tB-PER\nb\tI-PER\n\n\n\nc\tO\nd\tB-LOC\n"


@pytest.mark.parametrize(
    "pred",
    [
        CONLL,
        CONLL.replace("LOC", "PER"),
        CONLL + "\ne\tO\n",
        "a\tO",
        "a O\n",
        CONLL.replace("\nb\tI-PER", "\n \nb\tI-PER"),
        CONLL.replace("c\tO\n", " \nc\tO\n"),
        CONLL.replace("c\tO\n", " \n"),
    ],
)
def test_nervaluate_reads_conll_blocks(pred):
    ours, theirs = (outcome(counts, tool, CONLL, pred, ["PER", "LOC"], "conll") for tool in (Evaluator, Peer))
    assert same(ours, theirs)
