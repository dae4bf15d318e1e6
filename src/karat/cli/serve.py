# SPDX-License-Identifier: Apache-2.0
"""``karat serve``."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from contextlib import ExitStack
from pathlib import Path

import click

from karat.cli.failures import guarded
from karat.cli.options import store_option
from karat.metric import MetricError
from karat.store import Store, open_store


@click.command("serve", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port; 0 takes a free one."
)
@click.option(
    "--accounts", is_flag=True, help="Let in people with a token; without, whoever is at this machine may do all."
)
@click.option("--demo", is_flag=True, help="Serve a store that is filled with examples and forgotten afterwards.")
@click.option("--open", "browser", is_flag=True, help="Open the first page in a browser.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes that evaluate.")
@click.option("--root-path", default="", metavar="PATH", help="Path under which a proxy shows the server.")
@click.option("--proxy", "proxies", default="", metavar="ADDRESS", help="Believe the forwarding headers of this proxy.")
@click.option(
    "--max-upload", type=click.IntRange(1), default=64, show_default=True, metavar="MB", help="Largest request."
)
@click.option(
    "--max-unpacked",
    type=click.IntRange(1),
    default=512,
    show_default=True,
    metavar="MB",
    help="Largest file once unpacked.",
)
@click.option("--max-rows", type=click.IntRange(1), default=5_000_000, show_default=True, help="Most lines of a file.")
@click.option(
    "--max-seconds",
    type=click.FloatRange(0, min_open=True),
    default=600,
    show_default=True,
    help="Longest time of an evaluation.",
)
@click.option(
    "--max-memory",
    type=click.IntRange(256),
    default=4096,
    show_default=True,
    metavar="MB",
    help="Most memory of a worker.",
)
@click.option(
    "--rate", type=click.IntRange(1), default=1200, show_default=True, help="Requests a minute of one address."
)
@click.option("--quiet", is_flag=True, help="Write no log.")
@store_option
@guarded
def command(
    host: str, port: int, accounts: bool, demo: bool, browser: bool, workers: int, root_path: str, proxies: str,
    max_upload: int, max_unpacked: int, max_rows: int, max_seconds: float, max_memory: int, rate: int, quiet: bool,
    store: str | None,
) -> None:  # fmt: skip
    """Serve pages and REST: evaluate, compare, look at errors, run benchmarks with hidden gold.

    \b
    karat serve                     for yourself, on this machine
    karat serve --accounts          for people with a token (karat token)
    karat serve --demo --open       a look around
    """
    try:
        from karat.web.limits import Limits
        from karat.web.serve import LOOPBACK, first_admin, serve
    except ModuleNotFoundError as error:
        raise MetricError(f"the server needs {error.name}: pip install 'karat[web]'") from None
    if root_path and not root_path.startswith("/"):
        raise MetricError("--root-path begins with /")
    away = host not in LOOPBACK
    accounts = accounts or away or bool(root_path) or bool(proxies)
    os.umask(0o077)  # gold, files and scores are for whoever runs the server alone
    sizes = max_upload << 20, max_unpacked << 20, max_rows, max_seconds, max_memory << 20
    limits = Limits(*sizes, reads=rate, writes=max(Limits.writes, rate // 10))  # as by default, one in ten may write

    def started(address: str) -> None:
        click.echo(f"karat serves {kept} at {address}", err=True)
        if away and not proxies:
            click.echo(
                "warning: others on the network can reach this server, and nothing between them and it is encrypted; "
                "put a proxy with TLS before it and name it with --proxy",
                err=True,
            )
        if accounts and _readable(kept):
            click.echo(
                f"warning: others on this machine can read the store, hidden gold included: chmod 600 {kept}", err=True
            )
        if browser:
            webbrowser.open(address)

    with ExitStack() as stack:
        kept = _demo(stack) if demo else open_store(store, pooled=True)
        if accounts and (token := first_admin(kept)):
            click.echo(f"token of the first administrator, shown this once: {token}", err=True)
        serve(
            kept, host=host, port=port, accounts=accounts, workers=workers, limits=limits, root=root_path,
            proxies=proxies, log=not quiet, started=started,
        )  # fmt: skip


def _readable(store: Store) -> bool:
    """Whether the store is a file that others may read."""
    path = Path(store.address)
    return path.is_file() and bool(path.stat().st_mode & 0o044)


def _demo(stack: ExitStack) -> Store:
    """A store of examples in a folder that is gone when the stack is."""
    from karat.web.demo import fill

    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="karat-demo-")))
    kept = open_store(folder / "demo.db", pooled=True)
    fill(kept, folder)
    return kept
