# SPDX-License-Identifier: Apache-2.0
"""What evaluations and comparisons share: every way out of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from karat.findings import Finding


class Rendered:
    """A result that reports are made from. Data do not know their reports: `karat` itself brings the two together."""

    kind: ClassVar[str]
    """Which reports it has."""
    renderer: ClassVar[Callable[..., Any]]

    @property
    def findings(self) -> list[Finding]:
        """What was found in the inputs."""
        return []

    @property
    def unsaid(self) -> list[Finding]:
        """The findings that the table does not tell by itself."""
        return self.findings

    def render(self, report: str, **options: Any) -> Any:
        """This result as the report of that name."""
        return Rendered.renderer(self, report, **options)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Flat records, one per score or pair."""
        rows: list[dict[str, Any]] = self.render("dicts")
        return rows

    def to_json(self) -> str:
        """The JSON report, which is described by a schema."""
        return str(self.render("json"))

    def to_markdown(self, **options: Any) -> str:
        """The tables in Markdown."""
        return str(self.render("markdown", **options))

    def to_latex(self, **options: Any) -> str:
        """The tables in LaTeX."""
        return str(self.render("latex", **options))

    def to_tsv(self, **options: Any) -> str:
        """`to_dicts` as TSV."""
        return str(self.render("tsv", **options))

    def to_csv(self, **options: Any) -> str:
        """`to_dicts` as CSV."""
        return str(self.render("csv", **options))

    def to_html(self, **options: Any) -> str:
        """A page of its own, that needs nothing from elsewhere."""
        return str(self.render("html", **options))

    def to_pandas(self) -> Any:
        """`to_dicts` as a frame of pandas."""
        return self.render("pandas")

    def to_polars(self) -> Any:
        """`to_dicts` as a frame of Polars."""
        return self.render("polars")

    def __str__(self) -> str:
        """The table, and what was found: in a script nothing else would show it."""
        from karat.findings import finding_lines  # brings NumPy, which importing karat alone does not need

        lines = finding_lines(f for f in self.unsaid if f.severity != "note")
        return "\n".join([str(self.render("table")).rstrip("\n"), *(["", *lines] if lines else []), ""])
