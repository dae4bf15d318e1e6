# SPDX-License-Identifier: Apache-2.0
"""What a database complains of, in our words and with the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from karat.store.address import shown
from karat.store.errors import StoreError

_HINTS = {
    "full": "free some space, or name a store on another disk",
    "no space left": "free some space on the server's disk",
    "readonly": "make the file and its folder writable, or name another store",
    "unable to open": "make the file and its folder readable and writable, or name another store",
    "not a database": "name a store that karat made, or move this file away",
    "malformed": "the file is damaged: put back a copy of it, or import the runs that were exported",
    "is locked": "another process holds the store; try again when it is done",
    "no such column": "another program has made tables here: give karat a database of its own",
    "does not exist": "see that the URL names a database, a user and tables that are there",
    "password": "see that the URL has the user's password, or set PGPASSWORD",
    "resolve host": "see that the URL names the server",
    "connect": "see that the server runs and that the URL names its host, database and user",
}
"""By a sign in the complaint; the first that fits."""


@contextmanager
def said(address: str) -> Iterator[None]:
    """The database's complaint as an error of the store."""
    try:
        yield
    except exc.DBAPIError as error:
        complaint = " ".join(str(error.orig).split())
        raise StoreError(
            f"the store {shown(address)} failed and nothing was changed: {complaint}{_way_out(complaint)}"
        ) from error


def _way_out(complaint: str) -> str:
    found = next((hint for sign, hint in _HINTS.items() if sign in complaint.lower()), "")
    return f" ({found})" if found else ""
