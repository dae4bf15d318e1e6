# SPDX-License-Identifier: Apache-2.0
"""``karat runs``: kept evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from karat.cli.failures import guarded
from karat.cli.options import (
    by_option,
    interval_options,
    metrics_option,
    one_output_option,
    report_option,
    report_options,
    store_option,
)
from karat.cli.printing import print_grid, spare, write_whole
from karat.contexts import MODULES
from karat.report.rows import Grid, number
from karat.store.listing import Filter, Summary, of_file
from karat.store.location import place

if TYPE_CHECKING:
    from karat.comparison import Comparison
    from karat.store import Run, Store


def open_store(where: str | None, create: bool = True) -> Store:
    from karat.store import runs  # which loads SQLAlchemy

    return runs.open_store(where, create=create)


@click.group("runs")
def command() -> None:
    """Find, extend, compare and share kept evaluations.

    RUN is an id, the beginning of one, a tag, or `latest`.
    """


def found_run(store: Store, name: str) -> Run:
    """The run; one that was altered since it was saved is shown with a warning."""
    run = store[name]
    if not run.whole:
        click.echo(
            f"warning: run {run.id} was altered after it was saved: its contents do not match their hash", err=True
        )
    return run


def _kept(store: str | None) -> list[tuple[str, str]]:
    """The file of the store, which no report may take the place of."""
    return [("the store", place(store, create=False))]


metric_option = metrics_option("Metric (repeatable).")


@command.command("list")
@click.option("-c", "--context", type=click.Choice(list(MODULES)), help="Only runs of this context.")
@click.option("--tag", metavar="NAME", help="Only runs with this tag.")
@click.option("-m", "--metric", metavar="METRIC", help="Only runs with this metric, whose scores are shown.")
@click.option("--since", metavar="DATE", help="Only runs of this day or moment (UTC) and later.")
@click.option("--until", metavar="DATE", help="Only runs up to this day or moment.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="How many, newest first.")
@click.option("--offset", type=click.IntRange(0), default=0, show_default=True, help="How many to leave out first.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@store_option
@guarded
def list_runs(limit: int, offset: int, as_json: bool, store: str | None, **wanted: Any) -> None:
    """List runs, newest first."""
    page = of_file(place(store, create=False), Filter(**wanted), limit, offset)
    if page is None:  # a server, or an older form, or what is no store
        kept = open_store(store, create=False)
        page = kept.list(limit=limit, offset=offset, **wanted), kept.count(**wanted)
    listed, total = page
    if as_json:
        for run in listed:
            click.echo(msgspec.json.encode(run).decode())
        return
    if listed:
        head = ["run", "created", "context", "gold", "systems", "scores", "tags"]
        print_grid(Grid("Runs", head, [_line(run, wanted["metric"]) for run in listed]))
    click.echo(_more(len(listed), offset, total, any(wanted.values())), err=True, nl=False)


def _line(run: Summary, metric: str | None) -> list[str]:
    names = [m for m in run.scores if metric in (m, m.partition("(")[0].partition("@")[0])] or list(run.scores)
    values = run.scores[names[0]] if names else []
    scores = f"{names[0]} {_few([number(v) for v in values])}" if names else ""
    created = run.created[:16].replace("T", " ")
    return [run.id, created, run.context, run.gold, _few(run.systems), scores, ", ".join(run.tags)]


def _few(words: list[str]) -> str:
    return ", ".join(words[:3]) + (" …" if len(words) > 3 else "")


def _more(shown: int, offset: int, total: int, filtered: bool) -> str:
    """What the list leaves out."""
    if total == 0:
        return (
            "no run is like that\n"
            if filtered
            else "no runs are kept yet; `karat evaluate GOLD PRED --save` keeps one\n"
        )
    if shown == total:
        return ""
    return f"{shown} of {total:,} runs from number {offset + 1:,} on; --limit and --offset show others\n"


@command.command("show")
@click.argument("run")
@metric_option
@interval_options
@by_option
@report_options
@store_option
@guarded
def show_run(run: str, metrics: tuple[str, ...], store: str | None, **given: Any) -> None:
    """Report a run again, or with metrics and intervals that were not asked for then."""
    spare(_kept(store), given["output"])
    kept = found_run(open_store(store, create=False), run)
    names = ("intervals", "interval_method", "resamples")
    if given["cluster_by"]:
        raise click.UsageError("clusters are read from gold; give --cluster-by to `karat evaluate`")
    fresh = bool(metrics or given["intervals"])
    from karat.cli.evaluate import write  # lists of runs score nothing

    write(kept.evaluate(metrics or None, **{k: given[k] for k in names}) if fresh else kept.evaluation, given)


@command.command("diff")
@click.argument("first")
@click.argument("second")
@store_option
@guarded
def diff_runs(first: str, second: str, store: str | None) -> None:
    """What differs between two runs: plan, inputs, versions and scores."""
    from karat.store.verification import differences

    kept = open_store(store, create=False)
    facts, scores = differences(found_run(kept, first), found_run(kept, second))
    if facts:
        print_grid(Grid("Differences", ["what", first, second], facts))
    if scores:
        print_grid(Grid("Scores", ["system", "metric", first, second, "difference"], scores))
    if not facts and not scores:
        click.echo("the runs are the same but for when they were made")
    elif not scores:
        click.echo("the scores that both have are the same")


@command.command("compare")
@click.argument("run", nargs=-1, required=True)
@metric_option
@click.option("--system", "systems", multiple=True, metavar="NAME", help="Only these systems (repeatable).")
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--baseline", metavar="SYSTEM", help="Compare every system with this one alone.")
@report_option(("table", "json", "markdown", "latex", "tsv", "csv", "html"))
@one_output_option
@store_option
@guarded
def compare_kept(run: tuple[str, ...], metrics: tuple[str, ...], store: str | None, **given: Any) -> None:
    """Compare the systems of one or more runs on the same gold."""
    from karat.store.run import compare_runs

    spare(_kept(store), filter(None, [given["output"]]))
    kept = open_store(store, create=False)
    wish = {"systems": given["systems"], "level": given["level"], "baseline": given["baseline"]}
    comparison: Comparison = compare_runs([found_run(kept, name) for name in run], metrics or None, **wish)
    text = str(comparison.render(given["report"]))
    if given["output"]:
        write_whole(Path(given["output"]), text.encode())
    else:
        click.echo(text, nl=False)


@command.command("tag")
@click.argument("run")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--remove", is_flag=True, help="Take the tags away.")
@store_option
@guarded
def tag_run(run: str, names: tuple[str, ...], remove: bool, store: str | None) -> None:
    """Give a run names to find it by."""
    kept = open_store(store, create=False)
    id = kept.id_of(run)
    has = (kept.untag if remove else kept.tag)(id, *names)
    click.echo(f"run {id} has the tags {', '.join(has) or '(none)'}", err=True)


@command.command("delete")
@click.argument("run", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_option
@guarded
def delete_run(run: tuple[str, ...], yes: bool, store: str | None) -> None:
    """Remove runs for good."""
    kept = open_store(store, create=False)
    ids = list(dict.fromkeys(kept.id_of(name) for name in run))
    if not yes:
        click.confirm(f"delete {', '.join(ids)}?", abort=True, err=True)
    for id in ids:
        click.echo(f"deleted {kept.delete(id)}", err=True)


@command.command("export")
@click.argument("run")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File to write. Default: RUN.karat.")
@store_option
@guarded
def export_run(run: str, output: str | None, store: str | None) -> None:
    """Write a run to one file that another store can import."""
    spare(_kept(store), filter(None, [output]))
    kept = open_store(store, create=False)
    id = kept.id_of(run)
    target = Path(output or f"{id}.karat")
    write_whole(target, kept.export(id))
    click.echo(str(target))


@command.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@store_option
@guarded
def import_run(file: str, store: str | None) -> None:
    """Take a run from an exported file into the store."""
    click.echo(open_store(store).load(Path(file).read_bytes()).id)
