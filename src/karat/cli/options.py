# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import click
from click.core import ParameterSource

from karat.cli import completion
from karat.contexts import MODULES
from karat.contexts.options import OPTIONS, Option
from karat.hierarchy import Hierarchy
from karat.read import FORMATS
from karat.report import TEXT
from karat.report.rows import BY
from karat.stats.settings import METHODS, RESAMPLES

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _stacked(*options: Decorator) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def metrics_option(help: str, required: bool = False) -> Decorator:
    return click.option(
        "-m", "--metric", "metrics", multiple=True, required=required, metavar="METRIC",
        shell_complete=completion.metrics, help=help,
    )  # fmt: skip


def context_meanings() -> dict[str, dict[Option, list[str]]]:
    """What each option's name means, and in which contexts it means that: `threshold` is three things."""
    meanings: dict[str, dict[Option, list[str]]] = {}
    for context, options in OPTIONS.items():
        for option in options:
            meanings.setdefault(option.name, {}).setdefault(option, []).append(context)
    return meanings


def _click_type(options: list[Option]) -> Any:
    """The choices of all meanings; what the context in question does not take, the API refuses."""
    for option in options:
        if not isinstance(option.choices, tuple):
            return click.Path(dir_okay=False) if option.choices is Hierarchy else option.choices
    return click.Choice(list(dict.fromkeys(choice for o in options for choice in cast(tuple[str, ...], o.choices))))


def _help(meanings: dict[Option, list[str]]) -> str:
    return " ".join(
        f"{', '.join(contexts).capitalize()}: {o.help}" + (f" (default {o.default})." if o.default is not None else ".")
        for o, contexts in meanings.items()
    )


if TYPE_CHECKING:
    _Whole = click.ParamType[int]
else:
    _Whole = click.ParamType  # click 8.1 knows no other


class Size(_Whole):
    """A number of bytes: ``300``, ``500MB``, ``20GB``."""

    name = "size"
    units: ClassVar = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?B?)", str(value).upper())
        if match is None or (match[2] and match[2] not in self.units):
            self.fail(f"{value!r} is no size: write 500MB or 20GB", param, ctx)
        return int(float(match[1]) * self.units[match[2]])


input_options = _stacked(
    click.option(
        "-c", "--context", type=click.Choice(list(MODULES)), help="Context; detected from the data if not given."
    ),
    click.option(
        "--input-format",
        "format",
        type=click.Choice(list(FORMATS)),
        help="File format; detected from the content if not given.",
    ),
    click.option("--encoding", metavar="NAME", help="Text encoding, if not UTF-8 (for example latin-1)."),
    click.option(
        "--max-unpacked", type=Size(), metavar="SIZE", help="Most that a packed file may unpack to (500MB, 20GB, …)."
    ),
    click.option("--id", "id_column", metavar="COLUMN", help="Column that holds the ids."),
    click.option("--value", "value_column", metavar="COLUMN", help="Column that holds the values."),
    click.option("--gold-id", "gold_id_column", metavar="COLUMN", help="Column of gold that holds the ids."),
    click.option("--gold-value", "gold_value_column", metavar="COLUMN", help="Column of gold that holds the values."),
    click.option("--pred-id", "pred_id_column", metavar="COLUMN", help="Column of the predictions that holds the ids."),
    click.option(
        "--pred-value",
        "pred_value_column",
        metavar="COLUMN",
        multiple=True,
        help="Column of the predictions that holds the values; several are several systems.",
    ),
    click.option(
        "--separator", metavar="MARK", help="What parts the labels of a cell, as in A|B (found where it is sure)."
    ),
    click.option("--test-case", "test_case_column", metavar="COLUMN", help="Column that holds the test case."),
)

context_options = _stacked(
    *(
        click.option(next(iter(meanings)).flag, name, type=_click_type(list(meanings)), help=_help(meanings))
        for name, meanings in context_meanings().items()
    )
)

engine_options = _stacked(
    click.option(
        "--memory",
        type=Size(),
        metavar="SIZE",
        help="Memory for joins and sorts of tables (2GB, …); more goes to disk.",
    ),
    click.option(
        "--temp",
        type=click.Path(exists=True, file_okay=False, writable=True),
        metavar="FOLDER",
        help="Folder for what does not fit into memory.",
    ),
)

interval_options = _stacked(
    click.option(
        "--intervals",
        type=float,
        is_flag=False,
        flag_value=0.95,
        default=None,
        metavar="[LEVEL]",
        help="Add confidence intervals (level 0.95 if none is given).",
    ),
    click.option(
        "--interval-method",
        type=click.Choice(METHODS),
        default="auto",
        show_default=True,
        help="How intervals are made; auto takes what fits each metric.",
    ),
    click.option("--resamples", type=int, default=RESAMPLES, show_default=True, help="Number of resamples."),
    click.option(
        "--cluster-by", metavar="COLUMN", help="Gold column whose values are drawn whole (document, user, …)."
    ),
)

name_option = click.option(
    "--name", "names", multiple=True, metavar="NAME", help="Name of a system, once for each, in their order."
)

keep_going_option = click.option(
    "--keep-going",
    is_flag=True,
    help="Score the systems that can be scored and list the others; exit with 2 all the same.",
)

same_option = click.option(
    "--allow-same", is_flag=True, help="Score a file against itself; it is an error unless this says that it is meant."
)

run_option = click.option(
    "--run", metavar="COLUMN", help="Column of the predictions that tells runs of one method apart."
)

cluster_options = _stacked(
    click.option(
        "--engine",
        type=click.Choice(["auto", "spark"]),
        default="auto",
        show_default=True,
        help="Who reads and counts: this machine, or Apache Spark, which reads paths of any scheme by itself.",
    ),
    click.option(
        "--master", metavar="URL", help="Spark cluster: local[4], spark://…, yarn, or sc://… for a Connect server."
    ),
)

formulas_option = click.option(
    "--escape-formulas/--keep-formulas",
    default=None,
    help="Put ' before texts that a spreadsheet would compute (default in CSV, not in TSV).",
)

by_option = click.option("--by", multiple=True, type=click.Choice(BY), help="Break the scores down (repeatable).")
by_columns_option = click.option(
    "--by",
    multiple=True,
    metavar="test-case|class|query|COLUMN",
    help="Break the scores down (repeatable), also by a gold column; COLUMN:5 gives five bins of numbers,"
    " COLUMN:0,10,100 bins by their edges.",
)

weight_option = click.option("--weight", metavar="COLUMN", help="Gold column that says how much each unit counts.")

SUFFIXES = {
    ".json": "json",
    ".md": "markdown",
    ".tex": "latex",
    ".tsv": "tsv",
    ".csv": "csv",
    ".html": "html",
    ".htm": "html",
    ".xml": "junit",
}
"""The report that a file's name asks for where no --report does."""
FOREIGN = (
    ".pdf", ".doc", ".docx", ".odt", ".rtf", ".xls", ".xlsx", ".ods", ".png", ".jpg",
    ".svg", ".parquet", ".feather", ".arrow", ".ipynb",
)  # fmt: skip
"""What no report is: text under such a name would open nowhere."""


def _by_suffix(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """What the files of -o are called, where nobody says what is to be in them: report.html is a page, not a table."""
    if ctx.get_parameter_source(str(param.name)) is not ParameterSource.DEFAULT or not ctx.params.get("output"):
        return value
    outputs = ctx.params["output"] if param.multiple else [ctx.params["output"]]
    known = {s: report for s, report in SUFFIXES.items() if report in cast("click.Choice[str]", param.type).choices}
    suffixes = [os.path.splitext(output)[1].lower() for output in outputs]
    for suffix in suffixes:
        if suffix not in known and suffix in (*SUFFIXES, *FOREIGN):
            raise click.UsageError(
                f"no report here is a {suffix} file: name it {', '.join(known)}, or say --report", ctx
            )
    reports = [known[suffix] for suffix in suffixes if suffix in known]
    if len(reports) < len(suffixes):
        return value
    return tuple(reports) if param.multiple else reports[0]


def report_option(names: Sequence[str], multiple: bool = False) -> Decorator:
    """The form of the report."""
    more = " (repeatable, each with its own -o)" if multiple else ""
    return click.option(
        "--report",
        type=click.Choice(names),
        multiple=multiple,
        default=("table",) if multiple else "table",
        show_default=True,
        callback=_by_suffix,
        help=f"Form of the report{more}; else the suffix of -o says it.",
    )


one_output_option = click.option(
    "-o", "--output", type=click.Path(dir_okay=False), is_eager=True, help="File to write the report to."
)

output_option = _stacked(
    click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False),
        multiple=True,
        is_eager=True,  # before --report, which asks for it
        help="File to write the report to; one for each --report, in their order (the last may go to stdout).",
    ),
    click.option(
        "--append", is_flag=True, help='Add the reports to what their files hold, as in -o "$GITHUB_STEP_SUMMARY".'
    ),
)

report_options = _stacked(
    report_option(TEXT, multiple=True),
    click.option(
        "--show",
        multiple=True,
        metavar="DETAIL",
        help="Show a detail table such as `confusion`; `all` for all of them.",
    ),
    click.option(
        "--digits", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimals in reports for people."
    ),
    output_option,
    formulas_option,
)


store_option = click.option(
    "--store",
    metavar="PLACE",
    help="Store: a file, a folder or a postgresql:// URL. Default: $KARAT_STORE, the project's .karat or the user's own.",
)


def typed(name: str) -> bool:
    """Whether a parameter stands on the command line, and not in a project's file or the environment."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def delimited_options(given: dict[str, Any]) -> dict[str, Any]:
    """What was said of CSV and TSV, as options of the report."""
    wanted = given["escape_formulas"]
    return {} if wanted is None or given["report"] not in ("csv", "tsv") else {"escape_formulas": wanted}


COLUMNS = ("id", "value", "test_case", "gold_id", "gold_value", "pred_id", "pred_value")
"""Columns that options name."""


def api_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """What the user said about inputs and context, as arguments of the API."""
    columns = {role: given[f"{role}_column"] for role in COLUMNS if given.get(f"{role}_column") not in (None, ())}
    options = {name: given[name] for name in context_meanings() if given.get(name) is not None}
    return {
        "context": given["context"],
        "format": given["format"],
        "encoding": given["encoding"],
        "columns": columns,
        "separator": given["separator"],
        "max_unpacked": given["max_unpacked"],
    } | options
