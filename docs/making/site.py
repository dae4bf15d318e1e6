# SPDX-License-Identifier: Apache-2.0
"""Hooks of MkDocs: pages that lie outside docs/, formulas as MathML, figures of the benchmarks."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT)]
from benchmarks.table import differing_digit, scaled  # noqa: E402

from making import typeset  # noqa: E402

OUTSIDE = {
    "benchmarks.md": "benchmarks/RESULTS.md",
    "changes.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "deploy/karat.service": "deploy/karat.service",
    "deploy/Containerfile": "deploy/Containerfile",
    "report-1.schema.json": "src/karat/report/report-1.schema.json",
}
"""Pages and files of the site that lie elsewhere in the repository, where people look for them."""

FORMULAS = re.compile(r"^(> |\*\*.+?\*\*\. )(.+)$", re.M)
"""Lines of a metric's page that may hold formulas: the quoted ones, and the sentence after the title in bold."""


def on_files(files: Any, config: Any) -> Any:
    for page, path in OUTSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    here = page.file.src_uri
    for target, path in OUTSIDE.items():
        up = "../" * here.count("/")
        markdown = markdown.replace(f"](../{up}{path})", f"]({up}{target})")
    if here in OUTSIDE:
        markdown = re.sub(r"\]\(docs/", "](", markdown)
    if here.startswith("metrics/"):
        markdown = FORMULAS.sub(lambda found: f"{found[1]}{typeset.paragraph(found[2])}", markdown)
    markdown = re.sub(r"^```python\n(>>> .*?)\n*^```$", _console, markdown, flags=re.M | re.S)
    return re.sub(r"^<!-- (ratios|weight) -->\n.*?<!-- end -->$", _figures, markdown, flags=re.M | re.S)


def _figures(found: re.Match[str]) -> str:
    """A table of the benchmarks, in place of the words that stand there in a checkout."""
    return {"ratios": ratios, "weight": weight}[found[1]]()


def _console(found: re.Match[str]) -> str:
    """An example that is tested, as a console shows it: outputs are no Python, and blank lines are blank."""
    return f"```pycon\n{found[1]}\n```".replace("<BLANKLINE>", "")


def weight() -> str:
    """The tables of install and start, as they stand at the end of the benchmarks."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    return results[results.index("| plain install |") :]


def ratios() -> str:
    """Every case with a peer: how many times karat's CPU the peer took; below 1 karat lost."""
    cases = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))["cases"]
    rows = [(name, row) for name, case in cases.items() for row in _rows(name.replace("/", ": "), case)]
    head = "| case | what | peer | peer's CPU ÷ karat's |\n|---|---|---|---:|"
    return "\n".join([head, *(row for _, row in sorted(rows))])


def _rows(title: str, case: dict[str, Any]) -> Iterator[str]:
    """A row for each peer that was measured, with what keeps its ratio from being one of the same work."""
    karat, *peers = case["sides"]
    for peer in peers:
        if "cpu" not in karat or "cpu" not in peer:
            continue
        ratio, digit = peer["cpu"] / karat["cpu"], differing_digit(peer, karat)
        lost = " **(lost)**" if ratio < 0.95 else ""
        other = f" (answers differ from digit {digit} on)" if digit else ""
        yield f"| {title} | {case['note'] or ''} | {peer['side']}{scaled(peer)} | {ratio:,.1f}×{lost}{other} |"
