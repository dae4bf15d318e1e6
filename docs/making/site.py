# SPDX-License-Identifier: Apache-2.0
"""Hooks of MkDocs: pages that lie outside docs/, formulas as MathML, figures of the benchmarks."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parents[1]))
from making import typeset

ROOT = Path(__file__).parents[2]
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
    for mark, table in {"<!-- ratios -->": ratios, "<!-- weight -->": weight}.items():
        markdown = markdown.replace(f"\n{mark}\n", f"\n{table()}\n") if mark in markdown else markdown
    return markdown


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
    rows = []
    for name, case in cases.items():
        karat, *peers = case["sides"]
        for peer in peers:
            if "cpu" in karat and "cpu" in peer:
                ratio = peer["cpu"] / karat["cpu"]
                lost = " **(lost)**" if ratio < 0.95 else ""
                rows.append(
                    (
                        name,
                        f"| {name.replace('/', ': ')} | {case['note'] or ''} | {peer['side']} | {ratio:,.1f}×{lost} |",
                    )
                )
    head = "| case | what | peer | peer's CPU ÷ karat's |\n|---|---|---|---:|"
    return "\n".join([head, *(row for _, row in sorted(rows))])
