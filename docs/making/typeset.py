# SPDX-License-Identifier: Apache-2.0
"""Formulas of docstrings, which are plain text, as MathML: browsers draw it without scripts or fonts from elsewhere.

A paragraph is cut into clauses at marks outside brackets, and a clause into what stands between words that no formula
holds ("of", "over"). What then reads as a formula in one way only is drawn; all else stays as it was written.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import NamedTuple

LETTER = r"[^\W\d_ΣΠ²³¹⁰-⁹½¼¾]"
TOKEN = re.compile(
    rf"(?P<space>\s+)|(?P<code>(`+).+?\3)"
    rf"|(?P<index>_\{{[^}}]*\}}|_{LETTER}(?!{LETTER})|_\d+)"
    rf"|(?P<power>\^\([^()]*\)|\^(?:{LETTER}+|\d+)|[⁰¹²³⁴-⁹⁺⁻]+)"
    rf"|(?P<at>@(?:{LETTER}+|\d+))"
    rf"|(?P<name>{LETTER}[̂̄]?(?:{LETTER}|\d)*(?:-{LETTER}+)*(?:_{LETTER}{{2,}})*(?:['’]s?(?!\w))?)"
    rf"|(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?|\.\d+|[½¼¾])|(?P<mark>.)"
)
BASED = re.compile(r"([α-ω]|log)(\d)")
"""What has its index without a mark: α1, log2."""
PROSE = re.compile(
    "a|an|and|are|as|at|be|before|being|but|by|each|else|every|for|from|has|have|if|in|into|is|it|its|no|none|not|of|on|or|over|"
    "per|than|that|the|their|them|to|under|until|was|what|when|where|which|who|whose|with|within|without|among|between|"
    "averaged|divided|both|counted|one|two",
    re.I,
)
"""Words that a formula does not hold, but in brackets."""
LEADS = re.compile("as|by|for|has|if|is|or|that|to|until|when|where|with|without", re.I)
"""Words after which a formula may begin."""
RELATIONS, SIGNS, TIMES = set("=<>≤≥≠∈∉∩∪‖"), set("+−"), set("·×")
REACHING = {*RELATIONS, *SIGNS, *TIMES, "/", "Σ", "Π"}
"""Marks after which brackets belong to the formula, whatever they hold."""
CLOSING = {"(": ")", "[": "]", "{": "}", "⌊": "⌋"}
FUNCTIONS = {"log", "ln", "exp", "max", "min"}


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    gap: bool
    """Whether a space stands before it."""

    @property
    def word(self) -> bool:
        return self.kind == "name" and len(self.text.rstrip("̂̄'’")) > 1 and not BASED.fullmatch(self.text)

    @property
    def prose(self) -> bool:
        """Whether no formula holds it; A may be a letter."""
        return self.kind == "code" or (
            self.kind == "name" and self.text != "A" and PROSE.fullmatch(self.text) is not None
        )


class Piece(NamedTuple):
    """A part of a formula as MathML, and what decides how it may stand beside others."""

    xml: str
    kind: str = "symbol"
    """word, number, symbol, big (a sum or the like, which takes what follows), group, fraction (a group that holds nothing else), quotient, or parts of several kinds."""
    letters: frozenset[str] = frozenset()
    """Letters that no sum in it runs over; of a sum those that it runs over."""
    prose: bool = False
    inner: str = ""
    """What a group holds, without the brackets that a fraction bar makes needless."""
    flat: bool = True
    """Whether nothing stands above or below the line."""
    words: bool = False


class UnclearError(ValueError):
    """The text is no formula, or one that can be read in several ways."""


def paragraph(text: str) -> str:
    """A paragraph, what reads as a formula typeset."""
    tokens = _tokens(text)
    out, first = [], 0
    for i, depth in enumerate(_depths(tokens)):
        ends = i + 1 == len(tokens) or tokens[i + 1].gap
        if depth == 0 and ends and tokens[i].text in (",", ";", ":", "."):
            out += [*_clause(text, tokens[first:i]), tokens[i].text]
            first = i + 1
    return "".join([*out, *_clause(text, tokens[first:])])


def _tokens(text: str) -> list[Token]:
    out, gap = [], False
    for found in TOKEN.finditer(text):
        if found.lastgroup != "space":
            out.append(Token(str(found.lastgroup), found[0], found.start(), gap))
        gap = found.lastgroup == "space"
    return out


def _depths(tokens: Sequence[Token]) -> list[int]:
    """How many brackets and bars are open at each token; a bracket itself stands within."""
    out: list[int] = []
    bars = [False]
    """Whether a bar is open, for each open bracket and outside."""
    for i, token in enumerate(tokens):
        opens = token.text in CLOSING
        closes = token.text in CLOSING.values()
        if token.text == "|" and not _alone(tokens, i):
            opens, closes = not bars[-1], bars[-1]
            bars[-1] = True
        bars += [False] if opens and token.text != "|" else []
        out.append(len(bars) - 1 + sum(bars))
        if closes and token.text == "|":
            bars[-1] = False
        elif closes and len(bars) > 1:
            bars.pop()
    return out


def _alone(tokens: Sequence[Token], i: int) -> bool:
    """Whether a bar has spaces around it, as that of a condition has."""
    return tokens[i].gap and i + 1 < len(tokens) and tokens[i + 1].gap


def _end(tokens: Sequence[Token], i: int) -> int:
    """Where the bracket or bar is closed that opens at ``i``."""
    inside = _depths(tokens[i:])
    close = CLOSING.get(tokens[i].text, "|")
    return next((i + j for j, depth in enumerate(inside) if j and depth == 1 and tokens[i + j].text == close), 0)


def _clause(text: str, tokens: list[Token]) -> list[str]:
    """Text and formulas of a clause: at most one of its parts may reckon, or it cannot be told what is meant."""
    if not tokens:
        return []
    parts = _parts(tokens)
    drawn = [_formula(tokens, *part) for part in parts]
    if sum(_reckons(tokens[first:last]) for first, last in parts) > 1:
        drawn = [""] * len(parts)
    out, done = [], 0
    for (first, last), xml in zip(parts, drawn, strict=True):
        if xml:
            out += [_plain(text, tokens[done:first]), " " * tokens[first].gap, f"<math>{xml}</math>"]
            done = last
    return [*out, _plain(text, tokens[done:])]


def _parts(tokens: list[Token]) -> list[tuple[int, int]]:
    """What stands between words of prose; a remark in brackets is prose too, if nothing makes it a factor."""
    depths, out, first, i = _depths(tokens), [], 0, 0
    while i <= len(tokens):
        end = _remark(tokens, depths, i) if i < len(tokens) else i + 1
        if end > i:
            out += [(first, i)] if i > first else []
            first = end
        i = max(end, i + 1)
    return out


def _remark(tokens: list[Token], depths: list[int], i: int) -> int:
    """Where the prose that begins here ends."""
    if depths[i] == 0 and tokens[i].prose:
        return i + 1
    before = tokens[i - 1] if i else None
    if tokens[i].text in CLOSING and tokens[i].gap and depths[i] == 1 and before and before.text not in REACHING:
        end = _end(tokens, i) or i
        big = before.kind == "index" and tokens[i - 2].text in {"Σ", "Π", "max", "min"}
        return end + 1 if any(t.prose for t in tokens[i:end]) and not big else i
    return i


def _reckons(tokens: list[Token]) -> bool:
    return any(
        depth == 0 and token.text in {"+", "−", "·", "×", "/", "Σ", "Π", "√"}
        for token, depth in zip(tokens, _depths(tokens), strict=True)
    )


def _formula(tokens: list[Token], first: int, last: int) -> str:
    """The MathML of a part, or nothing where it is none or may go on in the words beside it."""
    if first and not _leads(tokens[:first], tokens[first]):
        return ""
    ended = tokens[last - 1]
    if last < len(tokens) and (ended.word or ended.kind == "code" or tokens[last].text in ("of", "than")):
        return ""
    try:
        found = Parser(tokens[first:last]).whole()
    except UnclearError:
        return ""
    simple = found.kind in ("number", "symbol", "word") and found.flat
    return "" if simple or (found.flat and (found.words or found.prose)) else found.xml


def _leads(before: list[Token], begun: Token) -> bool:
    """Whether a formula may begin after these words; one that begins with a word may go on with them, but a mean may not."""
    mean = before[0].text.lower() == "mean" and before[-1].text == "of"
    return mean or (LEADS.fullmatch(before[-1].text) is not None and (not begun.word or begun.text in FUNCTIONS))


def _plain(text: str, tokens: list[Token]) -> str:
    """Text as it was written, but letters with an index or a power, and logarithms of a base, are drawn."""
    if not tokens:
        return ""
    out, i = [], 0
    while i < len(tokens):
        end = i + 1
        while end < len(tokens) and not tokens[end].gap and tokens[end].kind in ("index", "power"):
            end += 1
        raw = text[tokens[i].start : tokens[end - 1].start + len(tokens[end - 1].text)]
        out += [" " * tokens[i].gap, _letter(tokens[i:end]) or (raw if tokens[i].kind == "code" else _escaped(raw))]
        i = end
    return "".join(out)


def _letter(tokens: list[Token]) -> str:
    """The MathML of a letter or number with an index or power that is written with a mark."""
    marked = any(t.text[0] in "_^" for t in tokens[1:]) or BASED.fullmatch(tokens[0].text)
    if tokens[0].kind not in ("name", "number") or not marked:
        return ""
    try:
        return f"<math>{Parser(tokens).primary().xml}</math>"
    except UnclearError:
        return ""


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)


class Parser:
    """Relations of sums of terms; a term is a product, or a fraction of products.

    A slash without spaces takes what stands next to it, one with spaces the whole product before it.
    """

    def __init__(self, tokens: list[Token], inside: bool = False) -> None:
        self.tokens, self.at, self.inside = tokens, 0, inside

    def whole(self) -> Piece:
        found = self.listed() if self.inside else self.related()
        if self.at < len(self.tokens):
            raise UnclearError(self.tokens[self.at].text)
        return found

    def peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, marks: set[str]) -> str:
        """The mark that comes next, if it is one of these."""
        token = self.peek()
        if token is None or token.kind != "mark" or token.text not in marks:
            return ""
        self.at += 1
        return token.text

    def listed(self) -> Piece:
        parts = [self.related()]
        while mark := self.take({",", ";", ":", "|"}):
            parts += [
                _mark(mark, "stretchy='false'" + " lspace='.25em' rspace='.25em'" * (mark in ":|")),
                self.related(),
            ]
        return _row(parts, "list")

    def related(self) -> Piece:
        parts = [self.summed()]
        while mark := self.take(RELATIONS):
            parts += [_mark(mark), self.summed()]
        return _row(parts, "relation")

    def summed(self) -> Piece:
        sign = self.take(SIGNS)
        parts = [*([_mark(sign, "form='prefix'")] if sign else []), self.term()]
        while sign := self.take(SIGNS):
            parts += [_mark(sign), self.term()]
        return _row(parts, "sum")

    def term(self) -> Piece:
        above = self.product()
        if not self.take({"/"}):
            return _product(above)
        below = self.product()
        rest: list[Piece] = []
        while self.take({"/"}):
            rest += [_mark("/"), *self.product()]
        bound = _product(below).letters
        cut = max((i + 2 for i, piece in enumerate(above) if piece.kind == "big" and piece.letters & bound), default=0)
        told = not rest and (len(below) == 1 or below[0].kind == "big") and not _open_sum(above, bound)
        if not told:
            return _product([*above, _mark("/"), *below, *rest])
        return _product([*above[:cut], _fraction(_product(above[cut:]), _product(below))])

    def product(self) -> list[Piece]:
        """Factors and what stands between them."""
        parts = [self.factor()]
        while (token := self.peek()) is not None:
            if mark := self.take(TIMES):
                parts += [_mark(mark), self.factor()]
            elif token.gap and self.begins():
                before, factor = parts[-1], self.factor()
                if not (self.inside or _beside(before, factor)):
                    raise UnclearError(token.text)
                parts += [SPACE, factor]
            else:
                break
        if parts[-1].kind == "big":
            raise UnclearError("a sum of nothing")
        return parts

    def factor(self) -> Piece:
        """Units, and quotients of two of them that no space divides."""
        above = self.unit()
        below = []
        while (token := self.peek()) is not None and token.text == "/" and not token.gap:
            self.at += 1
            if (after := self.peek()) is None or after.gap:
                raise UnclearError("/")
            below.append(self.unit())
        if len(below) == 1:
            return _fraction(above, below[0])
        return _row([above, *(part for unit in below for part in (_mark("/"), unit))], "product")

    def unit(self) -> Piece:
        """Things that no space divides, as 2n and H(X); or words beside each other."""
        parts = [self.primary()]
        while (token := self.peek()) is not None and self.begins() and parts[-1].kind != "big":
            if not token.gap:
                parts.append(self.primary())
            elif token.word and not token.prose and len(parts) == 1 and parts[0].kind == "word":
                parts = [_row([parts[0], SPACE, self.primary()], "word")]
            else:
                break
        if len(parts) == 1 and parts[0].kind == "fraction":
            return parts[0]._replace(xml=parts[0].inner, kind="quotient")
        return _row(parts, "unit")

    def begins(self) -> bool:
        """Whether a factor may begin with what comes next."""
        token = self.tokens[self.at]
        bar = token.text == "|" and not _alone(self.tokens, self.at)
        return bar or token.kind in ("name", "number") or token.text in {*CLOSING, "√", "Σ", "Π"}

    def primary(self) -> Piece:
        """A name, a number, a root or brackets, with index and power."""
        token = self.peek()
        if token is None or not self.begins() or token.prose:
            raise UnclearError(token.text if token else "")
        self.at += 1
        if token.text == "√":
            root = self.primary()
            if root.kind == "big":
                raise UnclearError("a root of a sum without brackets")
            return root._replace(xml=f"<msqrt>{root.inner or root.xml}</msqrt>", kind="symbol", inner="", flat=False)
        base = self.group(token) if token.text in {*CLOSING, "|"} else _atom(token)
        return self.scripted(base, token.text)

    def group(self, opening: Token) -> Piece:
        """Brackets or bars; words in them are set as they are, and then no fraction holds them."""
        end = _end(self.tokens, self.at - 1)
        inside = self.tokens[self.at : end]
        if not inside:
            raise UnclearError("brackets that nothing closes, or around nothing")
        self.at, close = end + 1, self.tokens[end].text
        held = _held(inside)
        tall = "true" if "<mfrac>" in held.xml else "false"
        xml = f"<mrow><mo stretchy='{tall}'>{opening.text}</mo>{held.xml}<mo stretchy='{tall}'>{close}</mo></mrow>"
        kept = opening.text == "(" and held.kind != "list"
        kind = "fraction" if kept and held.kind == "quotient" else "group"
        return held._replace(xml=xml, kind=kind, inner=held.xml if kept else "")

    def scripted(self, base: Piece, name: str) -> Piece:
        scripts: dict[str, str] = {}
        said: list[Piece] = []
        runs: frozenset[str] = frozenset()
        tail = ""
        while (token := self.peek()) is not None and not token.gap and token.kind in ("index", "power", "at"):
            self.at += 1
            inner = _tokens(re.sub(r"^[_^@][{(]?|(?<=.)[})]$", "", _lowered(token.text)))
            said.append(_held(inner))
            if token.kind == "at":
                tail = f"<mo lspace='0' rspace='0'>@</mo>{said[-1].xml}"
            elif token.kind in scripts or tail:
                raise UnclearError(token.text)
            else:
                scripts[token.kind] = f"<mrow>{said[-1].xml}</mrow>"
                runs = frozenset({inner[0].text}) if token.kind == "index" else runs
        big = name in ("Σ", "Π") or (name in ("max", "min") and "index" in scripts)
        tag = "msubsup" if len(scripts) == 2 else "msub" if "index" in scripts else "msup"
        drawn = "".join(scripts[kind] for kind in ("index", "power") if kind in scripts)
        xml = (f"<{tag}>{base.xml}{drawn}</{tag}>" if scripts else base.xml) + tail
        if big:
            return Piece(xml, "big", runs, any(p.prose for p in said), flat=base.flat and not scripts)
        letters = base.letters.union(*(p.letters for p in said))
        kind = base.kind if not scripts else "word" if base.kind == "word" else "symbol"
        return base._replace(
            xml=xml,
            kind=kind,
            letters=letters,
            prose=base.prose or any(p.prose for p in said),
            inner="" if said else base.inner,
            flat=base.flat and not scripts,
        )


SPACE = Piece("<mspace width='.25em'/>", "mark")


def _lowered(text: str) -> str:
    """Raised figures and signs as they stand on the line."""
    return text.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+−"))


def _held(tokens: list[Token]) -> Piece:
    """What stands in brackets: a formula, or words and signs in a line."""
    if not any(token.prose for token in tokens):
        try:
            return Parser(tokens, inside=True).whole()
        except UnclearError:
            pass
    if [t.text for t in tokens] in (["+"], ["−"]):
        return _mark(tokens[0].text)
    parts = []
    for i, token in enumerate(tokens):
        parts += [SPACE] if token.gap and i and not {token.text, tokens[i - 1].text} & REACHING else []
        if token.kind in ("index", "power") and i:
            tag = "msub" if token.kind == "index" else "msup"
            inner = _held(_tokens(re.sub(r"^[_^][{(]?|(?<=.)[})]$", "", _lowered(token.text))))
            parts.append(Piece(f"<{tag}>{parts.pop().xml}<mrow>{inner.xml}</mrow></{tag}>"))
        else:
            parts.append(_atom(token) if token.kind in ("name", "number") else _mark(token.text, "stretchy='false'"))
    return _row(parts, "list")._replace(prose=True, words=True)


def _atom(token: Token) -> Piece:
    text = _escaped(token.text)
    if token.text in ("Σ", "Π"):
        return _mark(text, "lspace='0' rspace='0'")
    if token.kind == "number":
        return Piece(f"<mn>{text}</mn>", "number")
    if based := BASED.fullmatch(token.text):
        return Piece(f"<msub><mi>{based[1]}</mi><mn>{based[2]}</mn></msub>", flat=False)
    if token.word:
        return Piece(f"<mi>{text}</mi>", "function" if text in FUNCTIONS else "word", words=text not in FUNCTIONS)
    return Piece(f"<mi>{text}</mi>", letters=frozenset({token.text}))


def _mark(text: str, how: str = "") -> Piece:
    return Piece(f"<mo{' ' * bool(how)}{how}>{html.escape(text)}</mo>", "mark")


def _row(parts: Sequence[Piece], kind: str) -> Piece:
    """Pieces in a line."""
    if len(parts) == 1:
        return parts[0]
    return Piece(
        "".join(p.xml for p in parts),
        kind,
        frozenset().union(*(p.letters for p in parts if p.kind != "big")),
        any(p.prose for p in parts),
        flat=all(p.flat for p in parts),
        words=any(p.words for p in parts),
    )


def _product(parts: Sequence[Piece]) -> Piece:
    """Factors in a line; letters over which one of them runs mean nothing outside."""
    row = _row(parts, "product")
    return row._replace(letters=row.letters.difference(*(p.letters for p in parts if p.kind == "big")))


def _fraction(above: Piece, below: Piece) -> Piece:
    """A fraction, unless it would hold words of prose."""
    if above.prose or below.prose:
        return _row([above, _mark("/"), below], "product")
    xml = "".join(f"<mrow>{part.inner or part.xml}</mrow>" for part in (above, below))
    return _row([above, below], "quotient")._replace(xml=f"<mfrac>{xml}</mfrac>", flat=False)


def _open_sum(above: Sequence[Piece], below: frozenset[str]) -> bool:
    """Whether it cannot be told if a sum that names no letter runs over what stands below, too."""
    for i, piece in enumerate(above):
        if piece.kind == "big" and not piece.letters and _product(above[i + 1 :]).letters & below:
            return True
    return False


def _beside(left: Piece, right: Piece) -> bool:
    """Whether two things with a space between them are a product: words beside letters are rather a sentence."""
    if left.kind in ("big", "function", "number") or right.kind in ("big",):
        return True
    return not left.words and not right.words and right.kind != "number"
