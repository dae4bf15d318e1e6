# SPDX-License-Identifier: Apache-2.0
"""Write what is made from the code (`make docs`): metrics, findings, commands, formats, Python, the doors' differences."""

from __future__ import annotations

import inspect
import re
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

import karat as package
from karat import comparison, evaluation, needs
from karat.cli.main import COMMANDS, karat
from karat.cli.metrics import parameters
from karat.contexts import MODULES, catalogue, context
from karat.doors.kit.differences import table
from karat.kinds import KINDS
from karat.metric import Definition
from karat.read import FORMATS

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # A test loads this file by its path.
from making import agreements, members, spellings  # noqa: E402

NOTE = "<!-- made by docs/generate.py; do not edit -->"


def found_metrics() -> list[tuple[Definition, list[str]]]:
    """Every metric, each once, with the contexts that have it."""
    found: dict[int, tuple[Definition, list[str]]] = {}
    for name in MODULES:
        for definition in catalogue(name):
            found.setdefault(id(definition), (definition, []))[1].append(name)
    return sorted(found.values(), key=lambda pair: pair[0].name)


def metrics() -> str:
    """Every metric in a line, and other tools' names."""
    found = found_metrics()
    parts = [f"# Metrics\n\n{NOTE}\n\n{len(found)} metrics. `karat metrics NAME` prints what the pages say."]
    for name in MODULES:
        rows = [
            f"| [`{d.name}`](metrics/{where[0]}.md#{d.name}) | {d.title} | {_cell(d.doc.splitlines()[0])} |"
            for d, where in found
            if name in where
        ]
        head = f"## {name}\n\n{context(name).title}.\n\n| metric | title | in a sentence |\n|---|---|---|"
        parts.append("\n".join([head, *rows]))
    rows = [f"| {' '.join(f'`{one}`' for one in spelt)} | `{name}` |" for _, name, spelt in spellings.rows()]
    rows.append("| `NAME-lN` `NAME@K-lN` (ranx, a level of relevance) | `NAME(rel=N)` `NAME(rel=N)@K` |")
    numbers = "Other numbers in a name are read as those shown; a cut-off or parameters may follow, as in `nDCG@10` and `P(rel=2)@5`."
    parts.append("\n".join([f"## Other tools' names\n\n{numbers}\n\n| spelling | karat |\n|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def metrics_of(name: str) -> str:
    """Every metric of a context that no earlier context has."""
    found = [(d, where) for d, where in found_metrics() if where[0] == name]
    parts = [f"# Metrics: {name}\n\n{NOTE}\n\n{context(name).title}. All metrics: [index](../metrics.md)."]
    shared = [(d, where) for d, where in found_metrics() if name in where[1:]]
    if shared:
        said = ", ".join(f"[`{d.name}`]({where[0]}.md#{d.name})" for d, where in shared)
        parts.append(f"Shared with other contexts: {said}.")
    return "\n\n".join([*parts, *(_metric(*pair) for pair in found)]) + "\n"


def _metric(definition: Definition, where: list[str]) -> str:
    low, high = (f"{b:g}".replace("inf", "∞").replace("-", "−") for b in definition.bounds)
    first, said, example = _parts(definition)
    beside = [
        f"{context}: {phrase}" if len(where) > 1 else phrase
        for context in where
        for phrase in agreements.of(context, definition.name)
    ]
    facts = {
        "range": f"{low} to {high}, {definition.better if definition.better != 'neither' else 'neither end'} is better",
        "contexts": ", ".join(where),
        "parameters": "; ".join(f"`{n}` = {values}" for n, values in parameters(definition, where).items()),
        "undefined": _undefined(said),
        "by class": "yes" if definition.by_class else "",
        "other tools": "; ".join(beside) or "none was compared",
        "reference": definition.reference.replace("<", "&lt;"),
    }
    rows = "\n".join(f"| {key} | {_cell(value)} |" for key, value in facts.items() if value)
    formula = "\n>\n".join("> " + " ".join(paragraph.split()) for paragraph in said.split("\n\n") if paragraph.strip())
    parts = [f"## {definition.name}", f"**{definition.title}**. {first}", formula, f"| | |\n|---|---|\n{rows}", example]
    return "\n\n".join(part for part in parts if part)


def _parts(definition: Definition) -> tuple[str, str, str]:
    """The sentence, the formula with its words, and the worked example of a docstring."""
    first, _, rest = inspect.cleandoc(definition.doc).partition("\n")
    said, mark, example = (
        re.split(r"^(>>> |Example: )", f"{rest}\n", maxsplit=1, flags=re.M) if EXAMPLE.search(rest) else (rest, "", "")
    )
    if mark.startswith(">>>"):
        return first, said.strip(), f"```python\n>>> {example.strip()}\n```"
    return first, said.strip(), f"Example: {' '.join(example.split())}" if mark else ""


EXAMPLE = re.compile(r"^(>>> |Example: )", re.M)


def _undefined(said: str) -> str:
    """The sentences that say when there is no value."""
    found = re.findall(r"[^.;]*\b[Uu]ndefined\b[^.;]*", " ".join(said.split()))
    return "; ".join(
        re.sub(r"^\W*[Uu]ndefined\s+", "", part.strip()).replace("Never undefined", "never").replace("Where ", "where ")
        for part in found
    )


def formats() -> str:
    """Every file format and context with an example."""
    parts = [
        f"# Formats\n\n{NOTE}\n\nTold from the content, or named with `--input-format`; each also packed as `.gz`, `.zst`, `.bz2` "
        "or `.xz`, and `-` for stdin. What columns and values mean: [inputs and findings](inputs.md), [columns](columns.md).",
        "| format | what | example |\n|---|---|---|\n"
        + "\n".join(f"| `{name}` | {kind.title} | `{_cell(kind.example)}` |" for name, kind in FORMATS.items()),
        "## What a record of each context looks like\n\nThe context is told from the values, or named with `-c`. "
        "Two are to be named: clusters look like labels or label sets, and are scored as such without `-c clustering`; numbers by id "
        "could be labels, scores of a class or a ranking, and are values with `-c numbers`.",
        "| context | what | example |\n|---|---|---|\n"
        + "\n".join(f"| `{name}` | {context(name).title} | `{_cell(context(name).example)}` |" for name in MODULES),
    ]
    return "\n\n".join(parts) + "\n"


def python() -> str:
    """Every public name with its signature and docstring, its members, and the parts that results are made of."""
    parts = [
        f"# Python\n\n{NOTE}\n\n`import karat` loads nothing heavy; each name is loaded when it is first used.",
        OPTIONS,
    ]
    parts += [_public(name, getattr(package, name)) for name in sorted(package.__all__, key=str.lower)]
    parts += ["## Parts of results", *(f"#{_public(cls.__name__, cls, False)}" for cls in PARTS)]
    return "\n\n".join(parts) + "\n"


OPTIONS = """`**options` of a function are options of the context: `missing`, `ties`, `classes`, `hierarchy`, … are what `karat evaluate --help`
lists as `--missing`, `--ties`, … with the context before it ([commands](commands.md#karat-evaluate)), `_` standing for `-` within a name.
`context` settles which of them there are; any other name is an error. `assert_not_worse` takes those of `compare` as well."""

PARTS = (
    evaluation.SystemResult, evaluation.Part, evaluation.Interval, evaluation.Spread, evaluation.Detail,
    evaluation.Slicing, evaluation.Slice, evaluation.Gap, evaluation.MethodScore, evaluation.JudgedScore, evaluation.Rejected,
    comparison.Pair, comparison.Test, comparison.Effect, comparison.Posterior, comparison.RunPlan, comparison.Place,
    comparison.Ranks, comparison.ComparedSlice, needs.Design, needs.Need, needs.FacetNeed,
)  # fmt: skip
"""Classes of what stands in the fields of public ones."""


MADE_BY_USERS = ("Client", "Hierarchy", "Metric")
"""Classes whose constructors are called by others than karat."""


def _public(name: str, thing: Any, inherited: bool = True) -> str:
    said = f"## {name}\n\n{_docstring(thing)}"
    if not inspect.isclass(thing) or name in MADE_BY_USERS:
        said = said.replace("\n\n", f"\n\n```text\n{_signature(name, thing)}\n```\n\n", 1)
    if not inspect.isclass(thing):
        return said
    rows = [
        f"| `{m.name}` | {members.alternatives(m.typed)} | {_cell(m.said.replace('``', '`'))} |"
        for m in members.members(thing, inherited)
    ]
    return said + ("\n\n| | type | |\n|---|---|---|\n" + "\n".join(rows) if rows else "")


def _signature(name: str, thing: Any) -> str:
    shown = [_parameter(p) for p in inspect.signature(thing).parameters.values()]
    kinds = [p.kind for p in inspect.signature(thing).parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        shown.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    return f"{name}(\n" + "".join(f"    {one},\n" for one in shown) + ")" + _returned(thing)


def _returned(thing: Any) -> str:
    """What a function returns, if it says so."""
    returned = inspect.signature(thing).return_annotation
    return "" if inspect.isclass(thing) or returned in (inspect.Signature.empty, None, "None") else f" -> {returned}"


def _parameter(p: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}.get(p.kind, "")
    typed = "" if p.annotation is p.empty else f": {p.annotation}"
    return f"{stars}{p.name}{typed}" + ("" if p.default is p.empty else f" = {p.default!r}")


def _docstring(thing: Any) -> str:
    """Words as words, examples as code."""
    parts = []
    for paragraph in (inspect.getdoc(thing) or "").split("\n\n"):
        parts.append(f"```python\n{paragraph}\n\n```" if paragraph.startswith(">>>") else paragraph.replace("``", "`"))
    return "\n\n".join(parts)


def findings() -> str:
    """Every finding code with its texts."""
    rows = [
        f"| `{code}` | {kind.severity} | {_template(_worded(kind.message))} | {_template(_worded(kind.hint))} |"
        for code, kind in KINDS.items()
    ]
    head = f"# Findings\n\n{NOTE}\n\nWords in braces are filled in.\n\n| code | severity | message | way out |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _worded(text: str) -> str:
    """A message or way out as it reads for more than one thing, each fact as its name alone."""
    return re.sub(r"(?<!\{)\{(\w+)(![rsa])?(:[^{}]*)?\}", r"{\1}", re.sub(r"\{\w+:[^|}]*\|([^}]*)\}", r"\1", text))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _template(text: str) -> str:
    """A cell with words in braces; at its end they would be taken for attributes, and not shown."""
    return re.sub(r"\{([^{}]*)\}$", r"&#123;\1&#125;", _cell(text).replace("{{", "{").replace("}}", "}"))


def commands() -> str:
    """Every command with its help."""
    parts = [f"# Commands\n\n{NOTE}"]
    for name in COMMANDS:
        command = import_module(f"karat.cli.{name.replace('-', '_')}").command
        parts += _help(command, f"karat {name}")
    return "\n\n".join(parts) + "\n"


def _help(command: click.Command, path: str) -> list[str]:
    # The settings of `karat` too: click keeps the help option of whoever asks first.
    settings = {**karat.context_settings, "terminal_width": 88, "max_content_width": 88}
    with click.Context(command, info_name=path, **settings) as ctx:
        out = [f"## {path}\n\n```\n{command.get_help(ctx)}\n```"]
    for name, inner in getattr(command, "commands", {}).items():
        out += _help(inner, f"{path} {name}")
    return out


def differences(page: str) -> str:
    """A page of a door with its tables of what is other here, made from the door's own lists."""

    def rows(found: re.Match[str]) -> str:
        module, name, tool = found[1], found[2], found[3]
        return f"<!-- differences: {module} {name} {tool} -->\n{table(getattr(import_module(module), name), tool)}\n<!-- end -->"

    text = (HERE / page).read_text(encoding="utf-8")
    return re.sub(r"<!-- differences: (\S+) (\S+) ([^>]+) -->\n.*?<!-- end -->", rows, text, flags=re.DOTALL)


PAGES = {
    "metrics.md": metrics, "findings.md": findings, "commands.md": commands, "formats.md": formats, "python.md": python,
    **{f"metrics/{name}.md": partial(metrics_of, name) for name in MODULES},
    **{f"doors/{name}.md": partial(differences, f"doors/{name}.md") for name in ("file-splitting", "luis", "poetry-spans", "pyevall")},
}  # fmt: skip


if __name__ == "__main__":
    (HERE / "metrics").mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
