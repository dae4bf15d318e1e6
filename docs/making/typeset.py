# SPDX-License-Identifier: Apache-2.0
"""Formulas of docstrings, which are plain text, as MathML: browsers draw it without scripts or fonts from elsewhere.

Indices go down, powers go up, and a quotient becomes a fraction where it can be read in one way only. What cannot be told
stays in line, as it was written.
"""

from __future__ import annotations

import html
import re

CLAUSE = re.compile(
    r"(``[^`]+``|; |\. |, (?=[^()\[\]{}|]*(?:$|[;.=]))|: | (?=(?:for|over|where|with|if|when|averaged|divided|which|both)\b))"
)
FORMULA = re.compile(r"[=Σ√∏∫]| / |·|_\{|\b\w_\w|−log|≤|∩|∪")
TOKEN = re.compile(
    r"(?P<index>_\{[^}]*\}|_\w+)|(?P<power>\^\([^)]*\)|\^\w+)|(?P<word>[^\W\d_][^\W_]*['’]?[̂̄]?)|(?P<number>\d[\d.]*)|(?P<space>\s+)|(?P<mark>.)"
)
SIGNS = set("+−=·×/<>≤≥≠∈∉∩∪Σ∏√∫")


def paragraph(text: str) -> str:
    """A paragraph whose clauses are typeset where they are formulas."""
    return "".join(_clause(part) for part in CLAUSE.split(text))


def _clause(part: str) -> str:
    if part.startswith("``"):
        return f"<code>{html.escape(part.strip('`'))}</code>"
    if not FORMULA.search(part) or _is_prose(part):
        return html.escape(part, quote=False)
    body = part.rstrip(" .,;:")
    return f"<math>{_sides(body)}</math>" + html.escape(part[len(body) :])


def _is_prose(part: str) -> bool:
    """More than six words in a row: a sentence that happens to hold a sign."""
    return re.search(r"(?:\b[^\W\d_]{2,}\b[ ,]+){6}", part) is not None


def _sides(text: str) -> str:
    """Both sides of an equation, each a sum of terms."""
    return "<mo>=</mo>".join(_sum(side) for side in _split(text, " = "))


def _sum(text: str) -> str:
    parts = re.split(r"( [+−] )", text) if _flat(text) else [text]
    if not all(map(_balanced, parts)):
        parts = _split_keeping(text)
    return "".join(f"<mo>{p.strip()}</mo>" if p.strip() in ("+", "−") else _term(p) for p in parts)


def _split_keeping(text: str) -> list[str]:
    """Terms and the signs between them, outside brackets."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and letter in "+−" and text[i - 1 : i] == " " and text[i + 1 : i + 2] == " ":
            parts += [text[start : i - 1], letter]
            start = i + 2
    return [*parts, text[start:]]


def _term(text: str) -> str:
    """A fraction, if it is plain what stands above and below."""
    parts = _split(text, " / ")
    if len(parts) == 2 and ("Σ" not in parts[0] or "Σ" in parts[1]):
        above, below = (_bare(part) for part in parts)
        return f"<mfrac><mrow>{_sum(above)}</mrow><mrow>{_sum(below)}</mrow></mfrac>"
    return _row(text)


def _bare(text: str) -> str:
    """Without brackets around the whole, which a fraction makes needless."""
    inner = text[1:-1]
    return inner if text[:1] == "(" and text[-1:] == ")" and _balanced(inner) else text


def _split(text: str, mark: str) -> list[str]:
    """Parts between the marks that stand outside brackets."""
    parts = [""]
    for piece in re.split(f"({re.escape(mark)})", text):
        if piece == mark and _balanced(parts[-1]):
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _flat(text: str) -> bool:
    return not any(letter in "()[]{}" for letter in text)


def _balanced(text: str) -> bool:
    """Brackets are closed, and bars outside them: a bar inside may be a condition, as in H(X | G)."""
    depth = bars = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        bars += letter == "|" and depth == 0
        if depth < 0:
            return False
    return depth == 0 and bars % 2 == 0


def _row(text: str) -> str:
    """Letters, words, numbers and signs in a line; an index or power belongs to what stands before it."""
    out: list[str] = []
    for found in TOKEN.finditer(text):
        kind, token = str(found.lastgroup), found[0]
        if kind in ("index", "power"):
            inner = re.sub(r"^[_^][{(]?|[})]$", "", token)
            tag = "msub" if kind == "index" else "msup"
            out.append(f"<{tag}>{out.pop() if out else '<mrow></mrow>'}<mrow>{_row(inner)}</mrow></{tag}>")
        else:
            out.append(_symbol(kind, token))
    return "".join(out)


def _symbol(kind: str, token: str) -> str:
    text = html.escape(token)
    if kind == "space":
        return "<mspace width='.25em'/>"
    if kind == "number":
        return f"<mn>{text}</mn>"
    if indexed := re.fullmatch(r"([α-ω]|log)(\d)", token):
        return f"<msub><mtext>{indexed[1]}</mtext><mn>{indexed[2]}</mn></msub>"
    if kind == "word":
        return f"<mi>{text}</mi>" if len(token.rstrip("̂̄'’²³")) == 1 else f"<mtext>{text}</mtext>"
    return f"<mo>{text}</mo>" if token in SIGNS else f"<mo stretchy='false'>{text}</mo>"
