# SPDX-License-Identifier: Apache-2.0
"""The application: which address leads where."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.routing import BaseRoute, Route, Router
from starlette.types import ASGIApp

from karat.web import rest
from karat.web.asking import Handler, call, page
from karat.web.pages import benchmarks, evaluate, runs, start, visitors
from karat.web.server import Server
from karat.web.shield import Shield
from karat.web.showing import serve_asset

READ: dict[str, Handler] = {
    "/": start.home,
    "/metrics": start.metrics,
    "/metrics/{name}": start.metric,
    "/formats": start.formats,
    "/health": start.health,
    "/evaluate": evaluate.form,
    "/evaluate/{job}": evaluate.checked,
    "/jobs/{job}": evaluate.job_page,
    "/runs": runs.listing,
    "/runs/{run}": runs.show,
    "/runs/{run}/report.{form}": runs.report,
    "/runs/{run}/table.{form}": runs.table,
    "/runs/{run}/verify": runs.verify,
    "/runs/{run}/units": runs.unit_list,
    "/runs/{run}/unit": runs.unit,
    "/compare": runs.compare,
    "/benchmarks": benchmarks.listing,
    "/benchmarks/new": benchmarks.new,
    "/benchmarks/{id}": benchmarks.show,
    "/benchmarks/{id}/leaderboard.{form}": benchmarks.board_file,
    "/benchmarks/{id}/submissions": benchmarks.all_submissions,
    "/benchmarks/{id}/manage": benchmarks.manage,
    "/benchmarks/{id}/export": benchmarks.export,
    "/submissions/{id}": benchmarks.submission,
    "/sign-in": visitors.sign_in_form,
    "/tokens": visitors.tokens,
    "/api": rest.documentation,
    "/static/{hash}/{name}": serve_asset,
}
"""Pages that are read."""

WRITE: dict[str, Handler] = {
    "/evaluate": evaluate.take,
    "/evaluate/{job}": evaluate.start,
    "/jobs/{job}/cancel": evaluate.cancel,
    "/runs/{run}/tags": runs.tag,
    "/runs/{run}/delete": runs.delete,
    "/benchmarks/new": benchmarks.create,
    "/benchmarks/import": benchmarks.load,
    "/benchmarks/{id}/submit": benchmarks.submit,
    "/benchmarks/{id}/manage": benchmarks.manage_change,
    "/submissions/{id}": benchmarks.withdraw,
    "/sign-in": visitors.sign_in,
    "/sign-out": visitors.sign_out,
    "/tokens": visitors.tokens_change,
}
"""Forms that are sent."""


def create_app(server: Server) -> ASGIApp:
    """The application of a server."""
    return Shield(Router([*_routes()], redirect_slashes=False), server)


def _routes() -> Iterator[BaseRoute]:
    for path, handler in READ.items():
        yield Route(path, page(handler), methods=["GET"])
    for path, handler in WRITE.items():
        yield Route(path, page(handler), methods=["POST"])
    yield Route("/api/openapi.json", call(rest.openapi), methods=["GET"])
    for operation in rest.OPERATIONS:
        yield Route("/api" + operation.path, call(operation.does), methods=[operation.method])
