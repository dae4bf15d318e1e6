# SPDX-License-Identifier: Apache-2.0
"""Tag sequences to spans: every known rule sees only (previous tag, current tag), so a table decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.spans.span import Bools, Ints, Spans, firsts
from karat.state import stored

START, INSIDE, END, BAD = 1, 2, 4, 8

# A pattern is (previous prefixes, current prefixes, labels): "=" same label, "!" other label, "*" any.
Patterns = tuple[tuple[str, str, str], ...]
ANY = "OBIELSU"


@dataclass(frozen=True)
class Scheme:
    """One tagging scheme: the prefixes it knows, and where a span starts, goes on and ends."""

    name: str
    prefixes: str
    start: Patterns
    inside: Patterns
    end: Patterns
    whole: bool = True  # strict: a span counts only if its end is marked as the scheme demands


_SAME_BI: Patterns = (("BI", "I", "="),)

SCHEMES: Mapping[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        # conlleval's rule, the one that forgives: it reads all prefixes of all schemes.
        Scheme(
            "lenient",
            ANY,
            start=((ANY, "BSU", "*"), ("ELSUO", "IEL", "*"), (ANY, "IEL", "!")),
            inside=(("BI", "IEL", "="),),
            end=(("ELSU", ANY, "*"), ("BI", "BSUO", "*"), ("BI", "IEL", "!")),
            whole=False,
        ),
        # seqeval's reading of the same rule: L and U are strangers, so U-X U-X is one span.
        Scheme(
            "seqeval",
            ANY,
            start=((ANY, "BS", "*"), ("ESO", "IE", "*"), (ANY, "IELU", "!")),
            inside=(("BI", "IE", "="),),
            end=(("ES", ANY, "*"), ("BI", "BSO", "*"), ("BILU", ANY, "!")),
            whole=False,
        ),
        Scheme(
            "IOB1",
            "IOB",
            start=(("OB", "I", "*"), ("I", "I", "!"), ("IB", "B", "=")),
            inside=_SAME_BI,
            end=(("I", "I", "!"), ("I", "OB", "*"), ("B", "O", "*"), ("B", "I", "!"), ("B", "B", "=")),
        ),
        Scheme(
            "IOB2",
            "IOB",
            start=((ANY, "B", "*"),),
            inside=_SAME_BI,
            end=(("IB", "OB", "*"), ("IB", "I", "!")),
        ),
        Scheme(
            "IOE1",
            "IOE",
            start=(("OE", "I", "*"), ("I", "I", "!"), ("E", "E", "=")),
            inside=(("I", "IE", "="),),
            end=(("I", "IE", "!"), ("I", "O", "*"), ("E", "IE", "=")),
        ),
        Scheme(
            "IOE2",
            "IOE",
            start=(("OE", "IE", "*"), ("I", "IE", "!")),
            inside=(("I", "IE", "="),),
            end=(("E", ANY, "*"),),
        ),
        Scheme(
            "IOBES",
            "IOBES",
            start=((ANY, "BS", "*"),),
            inside=(("BI", "IE", "="),),
            end=(("SE", ANY, "*"),),
        ),
        Scheme(
            "BILOU",
            "BILOU",
            start=((ANY, "BU", "*"),),
            inside=(("BI", "IL", "="),),
            end=(("UL", ANY, "*"),),
        ),
    )
}
STRICT = tuple(name for name, scheme in SCHEMES.items() if scheme.whole)


class BadTag(ValueError):
    """A tag that the scheme does not know; `entry` is its number among the marked tokens."""

    def __init__(self, tag: str, scheme: str, entry: int = -1) -> None:
        known = ", ".join(f"{prefix}-…" for prefix in SCHEMES[scheme].prefixes if prefix != "O")
        super().__init__(f"tag {tag!r} has no meaning in {scheme}: expected O or one of {known}")
        self.tag, self.scheme, self.entry = tag, scheme, entry


@stored("spans-tags")
@dataclass(frozen=True, eq=False)
class Tagged:
    """Tag sequences: where the tags that are not O stand (flat positions), their codes, and the sentences' lengths."""

    at: Ints
    code: Ints
    lengths: Ints
    tags: list[str]
    suffix: bool = False
    unit: Ints | None = None
    """The sentence of each marked token, where it is known."""

    @classmethod
    def of_codes(cls, codes: NDArray[np.integer], lengths: Ints, tags: list[str], *, suffix: bool = False) -> Tagged:
        """From a flat column of codes into `tags`, of which the first must be O."""
        at = np.flatnonzero(codes)
        return cls(at, codes[at].astype(np.int64), np.asarray(lengths, dtype=np.int64), tags, suffix)

    @cached_property
    def sentence(self) -> Ints:
        """The sentence of each marked token."""
        if self.unit is not None:
            return self.unit
        marked = np.diff(np.searchsorted(self.at, np.cumsum(self.lengths)), prepend=0)
        return np.repeat(np.arange(len(self.lengths)), marked)

    @cached_property
    def neighbours(self) -> tuple[Ints, Ints]:
        """The codes before and after each marked token, O at a sentence's ends."""
        touching = (np.diff(self.at) == 1) & (self.sentence[1:] == self.sentence[:-1])
        before, after = np.zeros_like(self.code), np.zeros_like(self.code)
        np.multiply(self.code[:-1], touching, out=before[1:])
        np.multiply(self.code[1:], touching, out=after[:-1])
        return before, after

    @property
    def used(self) -> list[str]:
        """The tags that occur, O aside."""
        return [tag for tag, n in zip(self.tags, np.bincount(self.code, minlength=len(self.tags)), strict=True) if n]

    @property
    def begins(self) -> Ints:
        return np.cumsum(self.lengths) - self.lengths


def split_tag(tag: str, *, suffix: bool = False) -> tuple[str, str]:
    """`B-PER` → ("B", "PER"); a bare `B` has the label "_"; with `suffix`, `PER-B` → ("B", "PER").

    >>> split_tag("I-geo-loc"), split_tag("O"), split_tag("PER-B", suffix=True)
    (('I', 'geo-loc'), ('O', '_'), ('B', 'PER'))
    """
    prefix, rest = (tag[-1:], tag[:-1].removesuffix("-")) if suffix else (tag[:1], tag[1:].removeprefix("-"))
    return prefix, rest or "_"


def labels_of(tagged: Iterable[Tagged]) -> list[str]:
    """The labels of the tags in use (O aside), sorted."""
    tags = {(tag, side.suffix) for side in tagged for tag in side.tags}
    return sorted({split_tag(tag, suffix=suffix)[1] for tag, suffix in tags if tag != "O"})


def detect_scheme(tags: Iterable[str], *, suffix: bool = False) -> str:
    """The strict scheme whose prefixes these tags use; `lenient` if they fit none.

    >>> detect_scheme(["O", "B-X", "I-X"]), detect_scheme(["U-X", "O"]), detect_scheme(["O"])
    ('IOB2', 'BILOU', 'IOB2')
    """
    used = {split_tag(tag, suffix=suffix)[0] for tag in tags} - {"O"}
    if used == {"I"}:
        return "IOB1"  # a file of I- and O: the B- of IOB1 is only for neighbours of one label
    fitting = (name for name in ("IOB2", "IOE2", "IOBES", "BILOU") if used <= set(SCHEMES[name].prefixes))
    return next(fitting, "lenient")


def table(tags: Sequence[str], scheme: str, *, suffix: bool = False) -> NDArray[np.uint8]:
    """The K × K table of bits (start, inside, end, malformed) for (previous, current) tag."""
    rule = SCHEMES[scheme]
    parts = [split_tag(tag, suffix=suffix) for tag in tags]
    prefix = np.array([part[0] for part in parts])
    label = np.unique([part[1] for part in parts], return_inverse=True)[1]
    same = label[:, None] == label[None, :]
    bits = np.zeros((len(tags), len(tags)), dtype=np.uint8)
    for bit, patterns in ((START, rule.start), (INSIDE, rule.inside), (END, rule.end)):
        bits |= np.where(_holds(prefix, same, patterns), bit, 0).astype(np.uint8)
    return bits | np.where(_malformed(prefix, same), BAD, 0).astype(np.uint8)


def _holds(prefix: NDArray[np.str_], same: Bools, patterns: Patterns) -> Bools:
    matched = np.zeros(same.shape, dtype=bool)
    for before, now, labels in patterns:
        places = np.isin(prefix, list(before))[:, None] & np.isin(prefix, list(now))[None, :]
        matched |= places & {"*": np.ones_like(same), "=": same, "!": ~same}[labels]
    return matched


def _malformed(prefix: NDArray[np.str_], same: Bools) -> Bools:
    """Transitions that no well-formed IOB2, IOBES or BILOU sequence holds: an I, E or L that continues nothing."""
    goes_on = _holds(prefix, same, (("BI", "IEL", "="),))
    return np.isin(prefix, list("IEL"))[None, :] & ~goes_on


def check_prefixes(tagged: Tagged, scheme: str) -> None:
    """Raise `BadTag` at the first tag whose prefix the scheme does not know."""
    known = [split_tag(tag, suffix=tagged.suffix)[0] in SCHEMES[scheme].prefixes and tag != "" for tag in tagged.tags]
    if all(known):
        return
    wrong = np.flatnonzero(~np.array(known)[tagged.code])
    if len(wrong):
        raise BadTag(tagged.tags[tagged.code[wrong[0]]], scheme, int(wrong[0]))


def decode(tagged: Tagged, labels: Sequence[str], scheme: str = "lenient") -> Spans:
    """The spans of tag sequences; `unit` is the sentence, positions are tokens.

    >>> codes = np.array([1, 2, 0, 3])  # B-PER I-PER O B-LOC
    >>> spans = decode(Tagged.of_codes(codes, np.array([4]), ["O", "B-PER", "I-PER", "B-LOC"]), ["LOC", "PER"])
    >>> spans.start.tolist(), spans.end.tolist(), spans.label.tolist()
    ([0, 3], [2, 4], [1, 0])
    """
    check_prefixes(tagged, scheme)
    before, after = tagged.neighbours
    bits = table(tagged.tags, scheme, suffix=tagged.suffix)
    into, out = _at(bits, before, tagged.code), _at(bits, tagged.code, after)
    pairing = _whole_spans if SCHEMES[scheme].whole else _forgiven_spans
    first, last = pairing(into, out)
    unit, start = tagged.sentence[first], tagged.at[first]
    unit[first < 0] = start[first < 0] = 0
    begin = tagged.begins[unit]
    return Spans(unit, start - begin, tagged.at[last] + 1 - begin, _label_codes(tagged, labels)[tagged.code[last]])


def _at(bits: NDArray[Any], before: Ints, now: Ints) -> NDArray[Any]:
    return bits.ravel()[before * len(bits) + now]


def _label_codes(tagged: Tagged, labels: Sequence[str]) -> Ints:
    place = {label: i for i, label in enumerate(labels)}
    return np.array([place.get(split_tag(tag, suffix=tagged.suffix)[1], -1) for tag in tagged.tags], dtype=np.int64)


def _forgiven_spans(into: NDArray[np.uint8], out: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Lenient: an end belongs to the last start before it.

    Where there is none, -1: seqeval lets `L-` after O start nothing (both have the label "_"), and counts from the
    first token of all.
    """
    starts, ends = np.flatnonzero((into & START) > 0), np.flatnonzero((out & END) > 0)
    if len(starts) == len(ends) and np.all(starts <= ends) and np.all(ends[:-1] < starts[1:]):
        return starts, ends
    return np.append(starts, -1)[np.searchsorted(starts, ends, side="right") - 1], ends


def _whole_spans(into: NDArray[np.uint8], out: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Strict: the first start of a run of insides takes the rest of the run, if the run's end is an end."""
    run = np.cumsum((into & INSIDE) == 0)
    starts = np.flatnonzero((into & START) > 0)
    starts = starts[firsts(run[starts])]
    lasts = np.flatnonzero(np.append(firsts(run)[1:], True)) if len(run) else run
    last = lasts[run[starts] - 1]
    good = (out[last] & END) > 0
    return starts[good], last[good]


def malformed(tagged: Tagged) -> Ints:
    """Which marked tokens have tags that continue a span which is not there (an I- after O, or after another label)."""
    bits = table(tagged.tags, "lenient", suffix=tagged.suffix)
    return np.flatnonzero((_at(bits, tagged.neighbours[0], tagged.code) & BAD) > 0)


def only_between(tagged: Tagged) -> bool:
    """Does every B- stand behind a tag of its own label, as in IOB1, where it parts neighbours?"""
    parts = [split_tag(tag, suffix=tagged.suffix) for tag in tagged.tags]
    label = np.unique([name if prefix != "O" else "" for prefix, name in parts], return_inverse=True)[1]
    begins = np.array([prefix == "B" for prefix, _ in parts])
    alone = begins[None, :] & (label[:, None] != label[None, :])
    return not _at(alone, tagged.neighbours[0], tagged.code).any()


def equal_tokens(gold: Tagged, pred: Tagged) -> Ints:
    """For each sentence, how many tokens have the same tag on both sides (over one vocabulary)."""
    place = np.minimum(np.searchsorted(pred.at, gold.at), max(len(pred.at) - 1, 0))
    both = pred.at[place] == gold.at if len(pred.at) else np.zeros(len(gold.at), dtype=bool)
    same = both & (pred.code[place] == gold.code) if len(pred.at) else both
    marked = [np.bincount(rows, minlength=len(gold.lengths)) for rows in (gold.sentence, pred.sentence)]
    shared, alike = (np.bincount(gold.sentence[mask], minlength=len(gold.lengths)) for mask in (both, same))
    return gold.lengths - marked[0] - marked[1] + shared + alike
