# SPDX-License-Identifier: Apache-2.0
"""Tag sequences to spans: every known rule sees only (previous tag, current tag), so a table decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from karat.contexts.spans.span import Bools, Ints, Spans, firsts

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
            "lenient", ANY,
            start=((ANY, "BSU", "*"), ("ELSUO", "IEL", "*"), (ANY, "IEL", "!")),
            inside=(("BI", "IEL", "="),),
            end=(("ELSU", ANY, "*"), ("BI", "BSUO", "*"), ("BI", "IEL", "!")),
            whole=False,
        ),
        # seqeval's reading of the same rule: L and U are strangers, so U-X U-X is one span.
        Scheme(
            "seqeval", ANY,
            start=((ANY, "BS", "*"), ("ESO", "IE", "*"), (ANY, "IELU", "!")),
            inside=(("BI", "IE", "="),),
            end=(("ES", ANY, "*"), ("BI", "BSO", "*"), ("BILU", ANY, "!")),
            whole=False,
        ),
        Scheme(
            "IOB1", "IOB",
            start=(("OB", "I", "*"), ("I", "I", "!"), ("IB", "B", "=")),
            inside=_SAME_BI,
            end=(("I", "I", "!"), ("I", "OB", "*"), ("B", "O", "*"), ("B", "I", "!"), ("B", "B", "=")),
        ),
        Scheme(
            "IOB2", "IOB",
            start=((ANY, "B", "*"),),
            inside=_SAME_BI,
            end=(("IB", "OB", "*"), ("IB", "I", "!")),
        ),
        Scheme(
            "IOE1", "IOE",
            start=(("OE", "I", "*"), ("I", "I", "!"), ("E", "E", "=")),
            inside=(("I", "IE", "="),),
            end=(("I", "IE", "!"), ("I", "O", "*"), ("E", "IE", "=")),
        ),
        Scheme(
            "IOE2", "IOE",
            start=(("OE", "IE", "*"), ("I", "IE", "!")),
            inside=(("I", "IE", "="),),
            end=(("E", ANY, "*"),),
        ),
        Scheme(
            "IOBES", "IOBES",
            start=((ANY, "BS", "*"),),
            inside=(("BI", "IE", "="),),
            end=(("SE", ANY, "*"),),
        ),
        Scheme(
            "BILOU", "BILOU",
            start=((ANY, "BU", "*"),),
            inside=(("BI", "IL", "="),),
            end=(("UL", ANY, "*"),),
        ),
    )
}
STRICT = tuple(name for name, scheme in SCHEMES.items() if scheme.whole)


class BadTag(ValueError):
    """A tag that the scheme does not know; `position` is the token's index in the flat sequence."""

    def __init__(self, tag: str, scheme: str, position: int = -1) -> None:
        super().__init__(f"tag {tag!r} has no meaning in {scheme}: expected O or one of {', '.join(_prefixes(scheme))}")
        self.tag, self.scheme, self.position = tag, scheme, position


def _prefixes(scheme: str) -> list[str]:
    return [f"{prefix}-…" for prefix in SCHEMES[scheme].prefixes if prefix != "O"]


class Vocabulary(dict[str, str]):
    """Tag → one character, given out in order of first sight; "O" is character 0."""

    def __init__(self) -> None:
        super().__init__(O="\0")

    def __missing__(self, tag: str) -> str:
        # Surrogates cannot be encoded, and no tag set comes near them.
        self[tag] = chr(len(self) if len(self) < 0xD800 else len(self) + 0x800)
        return self[tag]


@dataclass(eq=False)
class Tagged:
    """Tag sequences as codes: one flat column, the sentences' lengths, and the tags that the codes stand for."""

    codes: NDArray[np.unsignedinteger]
    lengths: Ints
    tags: list[str]
    suffix: bool = False

    @property
    def begins(self) -> Ints:
        return np.cumsum(self.lengths) - self.lengths


def encode(sides: Sequence[Sequence[Sequence[str]]], *, suffix: bool = False) -> list[Tagged]:
    """Lists of tag lists (one for each side) as codes over one vocabulary."""
    vocabulary = Vocabulary()
    text = ["".join(map(vocabulary.__getitem__, chain.from_iterable(side))) for side in sides]
    tags = list(vocabulary)
    return [Tagged(_codes(t, len(tags)), _lengths(side), tags, suffix) for t, side in zip(text, sides, strict=True)]


def _codes(text: str, tags: int) -> NDArray[np.unsignedinteger]:
    if tags <= 256:
        return np.frombuffer(text.encode("latin-1"), dtype=np.uint8)
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    return np.where(codes >= 0xE000, codes - 0x800, codes)


def _lengths(side: Sequence[Sequence[str]]) -> Ints:
    return np.fromiter(map(len, side), dtype=np.int64, count=len(side))


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
    held = np.zeros(same.shape, dtype=bool)
    for before, now, labels in patterns:
        places = np.isin(prefix, list(before))[:, None] & np.isin(prefix, list(now))[None, :]
        held |= places & {"*": np.ones_like(same), "=": same, "!": ~same}[labels]
    return held


def _malformed(prefix: NDArray[np.str_], same: Bools) -> Bools:
    """Transitions that no well-formed IOB2, IOBES or BILOU sequence holds: an I, E or L that continues nothing."""
    goes_on = _holds(prefix, same, (("BI", "IEL", "="),))
    return np.isin(prefix, list("IEL"))[None, :] & ~goes_on


def check_tags(tagged: Tagged, scheme: str) -> None:
    """Raise `BadTag` at the first tag whose prefix the scheme does not know."""
    known = [split_tag(tag, suffix=tagged.suffix)[0] in SCHEMES[scheme].prefixes for tag in tagged.tags]
    if all(known):
        return
    wrong = np.flatnonzero(~np.array(known)[tagged.codes])
    if len(wrong):
        raise BadTag(tagged.tags[tagged.codes[wrong[0]]], scheme, int(wrong[0]))


@dataclass(frozen=True, eq=False)
class _Marked:
    """The tokens that are not O, with the tag before and after each (O at a sentence's ends)."""

    at: Ints
    sentence: Ints
    before: Ints
    now: Ints
    after: Ints


def _marked(tagged: Tagged) -> _Marked:
    codes = tagged.codes
    at = np.flatnonzero(codes)
    ends = np.cumsum(tagged.lengths)
    sentence = np.searchsorted(ends, at, side="right")
    before = codes[np.maximum(at - 1, 0)].astype(np.int64)
    after = codes[np.minimum(at + 1, len(codes) - 1)].astype(np.int64)
    before[at == (ends - tagged.lengths)[sentence]] = 0
    after[at == ends[sentence] - 1] = 0
    return _Marked(at, sentence, before, codes[at].astype(np.int64), after)


def decode(tagged: Tagged, labels: Sequence[str], scheme: str = "lenient") -> Spans:
    """The spans of tag sequences; `unit` is the sentence, positions are tokens.

    >>> gold, = encode([[["B-PER", "I-PER", "O", "B-LOC"]]])
    >>> spans = decode(gold, ["LOC", "PER"])
    >>> spans.start.tolist(), spans.end.tolist(), spans.label.tolist()
    ([0, 3], [2, 4], [1, 0])
    """
    check_tags(tagged, scheme)
    marked = _marked(tagged)
    bits = table(tagged.tags, scheme, suffix=tagged.suffix)
    into, out = bits[marked.before, marked.now], bits[marked.now, marked.after]
    pairing = _whole_spans if SCHEMES[scheme].whole else _forgiven_spans
    first, last = pairing(into, out)
    begin = tagged.begins[marked.sentence[first]]
    code = _label_codes(tagged, labels)[marked.now[first]]
    return Spans(marked.sentence[first], marked.at[first] - begin, marked.at[last] + 1 - begin, code)


def _label_codes(tagged: Tagged, labels: Sequence[str]) -> Ints:
    place = {label: i for i, label in enumerate(labels)}
    return np.array([place.get(split_tag(tag, suffix=tagged.suffix)[1], -1) for tag in tagged.tags], dtype=np.int64)


def _forgiven_spans(into: NDArray[np.uint8], out: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Lenient: an end belongs to the last start before it."""
    starts, ends = np.flatnonzero(into & START), np.flatnonzero(out & END)
    return starts[np.searchsorted(starts, ends, side="right") - 1], ends


def _whole_spans(into: NDArray[np.uint8], out: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Strict: the first start of a run of insides takes the rest of the run, if the run's end is an end."""
    run = np.cumsum((into & INSIDE) == 0)
    starts = np.flatnonzero(into & START)
    starts = starts[firsts(run[starts])]
    lasts = np.flatnonzero(np.append(firsts(run)[1:], True)) if len(run) else run
    last = lasts[run[starts] - 1]
    good = (out[last] & END) > 0
    return starts[good], last[good]


def malformed(tagged: Tagged) -> Ints:
    """Flat positions of tags that continue a span which is not there (an I- after O, or after another label)."""
    marked = _marked(tagged)
    bits = table(tagged.tags, "lenient", suffix=tagged.suffix)
    return marked.at[(bits[marked.before, marked.now] & BAD) > 0]
