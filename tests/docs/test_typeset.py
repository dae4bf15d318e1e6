# SPDX-License-Identifier: Apache-2.0
"""Formulas of metric pages are drawn as they are meant: what is drawn reads back as what was written."""

from __future__ import annotations

import html
import re
import sys
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
typeset, site = import_module("making.typeset"), import_module("making.site")
PAGES = {p.stem: p.read_text(encoding="utf-8") for p in sorted((ROOT / "docs" / "metrics").glob("*.md"))}
MATH = re.compile(r"<math>.*?</math>")
Node = ElementTree.Element


def paragraphs(page: str) -> list[str]:
    return [found[2] for found in site.FORMULAS.finditer(PAGES[page])]


def drawn(text: str) -> list[Node]:
    return [ElementTree.fromstring(found) for found in MATH.findall(typeset.paragraph(text))]


def fractions(text: str) -> list[tuple[str, str]]:
    return [(read(f[0]), read(f[1])) for math in drawn(text) for f in math.iter("mfrac")]


# ---- MathML back into a line


def read(node: Node) -> str:
    """A line of text that is drawn so; brackets stand where a line needs them and a fraction bar does not."""
    inside = [read(child) for child in node]
    if node.tag == "mfrac":
        return f"{bracketed(inside[0])} / {bracketed(inside[1], below=True)}"
    if node.tag == "msqrt":
        return f"√({''.join(inside)})"
    if node.tag in ("msub", "msup", "msubsup"):
        return inside[0] + "".join(mark + script(s) for mark, s in zip(MARKS[node.tag], inside[1:], strict=True))
    if node.tag == "mspace":
        return " "
    return (node.text or "") + "".join(inside)


MARKS = {"msub": "_", "msup": "^", "msubsup": "_^"}


def script(text: str) -> str:
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def bracketed(text: str, *, below: bool = False) -> str:
    """In brackets, if it is a sum, or if it stands below and is a product; what a sum sign begins goes on to the end."""
    outside = hollow(text)
    product = below and not outside.startswith("Σ") and re.search(r"[·/]|[\d□] ", outside)
    return f"({text})" if product or re.search(r"[+−=]", outside) else text


def hollow(text: str) -> str:
    """The text with a box for what stands in brackets or bars."""
    before = ""
    while text != before:
        before, text = text, re.sub(r"\([^()]*\)|\[[^][]*\]|\{[^{}]*\}|\|[^|()]*\|", "□", text)
    return text


RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+−")


def plain(line: str) -> str:
    """A line without blanks and needless brackets, powers and indices spelt in one way."""
    line = re.sub(r"[⁰¹²³⁴-⁹⁺⁻]+", lambda found: "^" + script(found[0].translate(RAISED)), line)
    line = re.sub(r"\b([α-ω]|log)(\d)", r"\1_\2", line)
    line = re.sub(r"([_^])[{(](\w+)[})]", r"\1\2", re.sub(r"_\{([^}]*)\}", r"_(\1)", line))
    return re.sub(r"\s", "", needless(line))


def needless(line: str) -> str:
    """Without brackets that hold no sum, but for those of functions, powers, roots and divisors."""
    for first in [found.start() for found in re.finditer(r"(?<![\w)|\]√^_}@])\(", line)]:
        last = closing(line, first)
        inner, before, after = line[first + 1 : last], line[:first].rstrip(), line[last + 1 : last + 2]
        if not re.search(r"[+−=<>≤≥≠∈,;:]", hollow(inner)) and before[-1:] != "/" and after not in ("^", "_"):
            return needless(line[:first] + inner + line[last + 1 :])
    return line


def closing(line: str, first: int) -> int:
    """Where the bracket is closed; the end of the line for one that is not, as in half-open intervals."""
    depth = 0
    for i in range(first, len(line)):
        depth += (line[i] in "([") - (line[i] in ")]")
        if depth == 0:
            return i
    return len(line)


def back(text: str) -> str:
    """A paragraph that was typeset, as a line."""
    shown = MATH.sub(lambda found: html.escape(read(ElementTree.fromstring(found[0]))), typeset.paragraph(text))
    return plain(html.unescape(shown))


@pytest.mark.parametrize("page", PAGES)
def test_what_is_drawn_reads_back_as_it_was_written(page: str) -> None:
    assert {text: back(text) for text in paragraphs(page) if back(text) != plain(text)} == {}
    assert sum(len(drawn(text)) for text in paragraphs(page)) > 3


# ---- fractions


WORDS = re.compile(r"(?:a|at|before|by|for|from|in|is|of|on|or|over|that|the|to|when|where|which|whose|with)")


@pytest.mark.parametrize("page", PAGES)
def test_no_fraction_holds_a_sentence(page: str) -> None:
    texts = [t for p in paragraphs(page) for math in drawn(p) for f in math.iter("mfrac") for t in f.itertext()]
    assert [text for text in texts if any(map(WORDS.fullmatch, text.split()))] == []


@pytest.mark.parametrize("page", PAGES)
def test_what_a_sum_runs_over_stays_within(page: str) -> None:
    """hits_c / gold_c is summed over c; Σ_c hits_c / gold_c with the bar under all of it would have a c of its own below."""
    every = [fraction for text in paragraphs(page) for math in drawn(text) for fraction in math.iter("mfrac")]
    lost = [(read(a), read(b)) for a, b in every if (run(a) - run(b)) & {letter.text for letter in b.iter("mi")}]
    assert lost == []


def run(node: Node) -> set[str | None]:
    """The letters over which sums and the like run."""
    return {sub[1].find(".//mi").text for sub in node.iter("msub") if sub[0].text in ("Σ", "Π", "max", "min")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 − H(G | X) / H(G)", [("H(G|X)", "H(G)")]),
        ("1 − Σ_i (g_i − p_i)² / Σ_i (g_i − ḡ)²: 0", [("Σ_i (g_i−p_i)^2", "Σ_i (g_i−ḡ)^2")]),
        ("α = 1 − (2n − 1)·(n − hits)·2 / ((2n)² − Σ_c m_c²)", [("(2n−1)·(n−hits)·2", "(2n)^2−Σ_c m_c^2")]),
        ("B = 1 − (A + T/2) / (A + T + M): A missed", [("A+T / 2", "A+T+M"), ("T", "2")]),
        ("1/k + ((k − 1)/k) · r / (j + 2ε)", [("1", "k"), ("(k−1) / k·r", "j+2ε"), ("k−1", "k")]),
        ("max {R_t : FP_t / negatives ≤ fpr}; 0", [("FP_t", "negatives")]),
        ("Σ_g |g|/n · max_x 2|x ∩ g| / (|x| + |g|)", [("|g|", "n"), ("2|x∩g|", "|x|+|g|")]),
        ("BA = (1/K) Σ_c hits_c / gold_c over the K classes", [("1", "K"), ("hits_c", "gold_c")]),
        ("2·Σ min(gold, said) / Σ (gold + said)", [("2·Σ min(gold,said)", "Σ (gold+said)")]),
        ("Σ 1 / log2(2 + n_d)", [("Σ 1", "log_2(2+n_d)")]),
        ("Σ gain(i) / log2(i + 1)", []),
        ("A = tokens with equal tags / tokens", []),
        ("A = (tokens with equal tags) / tokens", []),
        ("Subtopics with a relevant document in the first k / subtopics with one at all", []),
        ("P = Σ over pages of |g ∩ p| / |p|, divided by pages", []),
        ("max over t of 2·TP_t / (predicted_t + first pages)", []),
        ("Mates e' of e count min(shared, gold clusters) / shared predicted clusters", []),
        ("RR = 1 / rank of the first", []),
        ("k = N / gold files / 2", []),
        ("a / b · c", []),
        ("E = gold pairs · predicted pairs / all pairs", [("gold pairs·predicted pairs", "all pairs")]),
        ("Mean over items of |g − p| / n", [("|g−p|", "n")]),
    ],
)
def test_a_quotient_is_drawn_where_it_reads_in_one_way(text: str, expected: list[tuple[str, str]]) -> None:
    assert fractions(text) == expected
    assert back(text) == plain(text)


# ---- letters


@pytest.mark.parametrize(
    ("text", "xml"),
    [
        ("over m_c² of", "<msubsup><mi>m</mi><mrow><mi>c</mi></mrow><mrow><mn>2</mn></mrow></msubsup>"),
        ("ε = 10⁻⁵", "<msup><mn>10</mn><mrow><mo form='prefix'>−</mo><mn>5</mn></mrow></msup>"),
        ("log2(x)", "<msub><mi>log</mi><mn>2</mn></msub>"),
        ("R_{t−1} · p", "<msub><mi>R</mi><mrow><mi>t</mi><mo>−</mo><mn>1</mn></mrow></msub>"),
        ("(1/11) Σ interpolated_precision(recall)", "<mi>interpolated_precision</mi>"),
    ],
)
def test_indices_and_powers(text: str, xml: str) -> None:
    assert xml in typeset.paragraph(text)


@pytest.mark.parametrize(
    "text",
    [
        "c as trec_eval 9 has it, or to the nearest",
        "An item without a prediction has weight 1 on a label of its own (Σ gold² + 1), or on K",
        "``scale=query`` and `best` with over=windows",
        "bins (i/bins, (i+1)/bins], or others",
        "1) an unclosed ( bracket | and bar, a^ and _ and b^2²x_",
    ],
)
def test_sentences_stay_as_they_are(text: str) -> None:
    assert typeset.paragraph(text) == html.escape(text, quote=False)


@pytest.mark.parametrize(
    ("page", "formula"),
    [
        ("probabilities", "max_t m(items that score t or more are predicted)"),
        ("probabilities", "max_b |mean probability−share of successes|"),
        ("probabilities", "Σ_b n_b / n·|mean probability−share of successes|"),
        ("monolabel", "e=Σ_c (m_c / 2n)^2"),
        ("soft", "e=Σ_c (share of all votes that are c)^2"),
        ("soft", "Σ_c (gold_c−predicted_c)^2"),
        ("soft", "√(Σ_c (gold_c−predicted_c)^2)"),
        ("soft", "Σ_c |gold_c−predicted_c|"),
        ("soft", "1 / K Σ_c |gold_c−predicted_c|"),
        ("soft", "Σ_c gold_c·log(gold_c / predicted_c)"),
        ("soft", "−Σ_c gold_c·log(predicted_c)"),
        ("soft", "Σ_c min(gold_c,predicted_c)"),
    ],
)
def test_formulas_that_are_drawn(page: str, formula: str) -> None:
    assert formula in [read(math) for text in paragraphs(page) for math in drawn(text)]
