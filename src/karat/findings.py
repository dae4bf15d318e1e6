# SPDX-License-Identifier: Apache-2.0
"""What is found in an input: where, what, and the way out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from karat.kinds import KINDS, Severity
from karat.state import stored


@stored("finding")
class Finding(msgspec.Struct, frozen=True, dict=True):
    """One thing found in an input, where, and what to do about it."""

    code: str
    """Its kind, as ``repeated-id``."""
    severity: Severity
    """error, warning or note."""
    message: str
    hint: str
    """The way out."""
    file: str | None = None
    line: int | None = None
    """Physical line, counted from 1."""

    @property
    def facts(self) -> dict[str, Any]:
        """What fills the message, for as long as the finding is in memory."""
        facts: dict[str, Any] = self.__dict__.get("facts of it", {})
        return facts

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return f"{place}{self.severity}[{self.code}]: {self.message}"


class InputError(ValueError):
    """The input cannot be evaluated; ``findings`` says why, all at once."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = list(findings)
        super().__init__("\n".join(finding_lines(self.findings)))


class _Fact(int):
    """A number in a message: ``{n:id is|ids are}`` gives the words that go with it."""

    def __format__(self, form: str) -> str:
        singular, bar, plural = form.partition("|")
        return (singular if self == 1 else plural) if bar else format(int(self), form)


def finding(code: str, file: str | None = None, line: int | None = None, **facts: Any) -> Finding:
    """A finding of a known kind; ``facts`` fill its message and hint."""
    kind = KINDS[code]
    facts = {k: _Fact(v) if isinstance(v, int) else _brief(v) for k, v in facts.items()}
    message = kind.message.format(**facts).replace(_NO_LINE, "")
    result = Finding(code, kind.severity, message, kind.hint.format(**facts), file, line)
    result.__dict__["facts of it"] = facts
    return result


_NO_LINE = " (first on line None)"
"""What is said of data without lines otherwise."""


def _brief(fact: Any) -> Any:
    """A text that is no longer than a reader will read: what stands in a label's place may be a whole file."""
    return fact[:LONGEST] + "…" if isinstance(fact, str) and len(fact) > LONGEST else fact


FEW = 3
"""Findings of one kind in one file that are shown one by one."""


def folded(findings: Iterable[Finding]) -> list[tuple[Finding, str]]:
    """Each finding with nothing behind it, or the first of many of a kind in a file with what is known of the others.

    >>> many = [finding("empty-value", "a.csv", line, field="id") for line in range(2, 40)]
    >>> [(str(first), rest) for first, rest in folded(many)]
    [('a.csv:2: error[empty-value]: the id is empty', 'and 37 more like it: lines 3, 4, 5, 6, 7, …')]
    """
    groups: dict[tuple[str, str | None], list[Finding]] = {}
    rest: dict[tuple[str, str | None], int] = {}
    for f in findings:
        counted = _MORE.fullmatch(f.message) if f.code == "more" else None
        if counted:
            rest[counted[2], f.file] = int(counted[1].replace(",", ""))
        else:
            groups.setdefault((f.code, f.file), []).append(f)
    out: list[tuple[Finding, str]] = []
    for kind, group in groups.items():
        more = rest.get(kind, 0)
        if len(group) + more <= FEW:
            out += [(f, "") for f in group]
        else:
            out.append((group[0], _others(group[1:], more)))
    return out


_MORE = re.compile(r"([\d,]+) more findings? of kind (\S+)")


def _others(group: list[Finding], more: int) -> str:
    lines = [str(f.line) for f in group if f.line]
    shown = f"lines {', '.join(lines[:5])}" if lines else "; ".join(f.message for f in group[:2])
    cut = len(group) + more > (5 if lines else 2)
    return f"and {len(group) + more} more like it: {shown}{', …' if cut else ''}"


def finding_lines(findings: Iterable[Finding], python: bool = True) -> list[str]:
    """Findings as lines for a person: repeats folded, each with its hint in the words of Python or of the command line."""
    out: list[str] = []
    for f, rest in folded(findings):
        out += [str(f), *([f"  {rest}"] if rest else [])]
        out.append(f"  hint: {in_python(f.hint) if python else f.hint}")
    return out


_OPTION = re.compile(
    r"(?<![\w-])--(?P<name>[a-z][a-z-]*)"
    r"(?:[ =](?P<value>'[^']*'|[A-Z]+\b|[\w.-]+(?:\|[\w.-]+)+|(?!(?:names|says|out|if|gives|to|or|and)\b)[\w.-]*\w))?"
    r"|(?<![\w-])-c(?: (?P<context>(?!or\b)[a-z]+))?"
)
_COLUMN = re.compile(r"(gold-|pred-)?(id|value|test-case)")
_FLAGS = ("allow-same", "keep-going")
_KEYWORDS = {"input-format": "format", "by": "slices"}


def in_python(hint: str) -> str:
    """A hint with keywords of the Python functions in place of options of the command line.

    >>> in_python("say which one is meant: --pred-value COLUMN; or choose --missing error|wrong|skip, or -c monolabel")
    'say which one is meant: columns={"pred_value": "…"}; or choose missing="error"|"wrong"|"skip", or context="monolabel"'
    """
    return _OPTION.sub(_keyword, hint)


def _keyword(match: re.Match[str]) -> str:
    name, value = match["name"], (match["value"] or "").strip("'")
    if name is None:
        return f'context="{match["context"]}"' if match["context"] else "context="
    if _COLUMN.fullmatch(name):
        column = "…" if value.isupper() or not match["value"] else value
        return f'columns={{"{name.replace("-", "_")}": "{column}"}}'
    keyword = _KEYWORDS.get(name, name.replace("-", "_"))
    if name in _FLAGS:
        return f"{keyword}=True"
    if (match["value"] or "").startswith("'"):
        return f'{keyword}="{value}"'
    if not value or value.isupper():
        return f"{keyword}=" + ("…" if value else "")
    return f"{keyword}=" + "|".join(f'"{choice}"' for choice in value.split("|"))


LONGEST = 400
LIMIT = 20
"""How many findings of one kind are shown for one file; the rest are counted."""


def limited(findings: Iterable[Finding]) -> list[Finding]:
    """The first findings of each kind, and how many more of it there are."""
    shown: list[Finding] = []
    count: dict[tuple[str, str | None], int] = {}
    for f in findings:
        kind = f.code, f.file
        count[kind] = count.get(kind, 0) + 1
        if count[kind] <= LIMIT:
            shown.append(f)
    rest = {kind: n - LIMIT for kind, n in count.items() if n > LIMIT}
    return shown + [finding("more", file, count=n, kind=code) for (code, file), n in rest.items()]


def any_error(findings: Iterable[Finding]) -> bool:
    return any(f.severity == "error" for f in findings)


def stop_on_errors(findings: Iterable[Finding]) -> None:
    """Raise `InputError` if any of the findings is an error."""
    findings = list(findings)
    if any_error(findings):
        raise InputError(findings)
