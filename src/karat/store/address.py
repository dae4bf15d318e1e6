# SPDX-License-Identifier: Apache-2.0
"""The address of a store: the path of a file, or a URL."""

from __future__ import annotations

from sqlalchemy import URL, exc, make_url

from karat.store.errors import StoreError


def parsed(address: str) -> URL:
    """The parts of an address; a path is the URL of a SQLite file."""
    if "://" not in address:
        return URL.create("sqlite", database=address)
    try:
        url = make_url(address)
    except (exc.ArgumentError, ValueError):
        # The complaint is left out: it may repeat the password.
        raise StoreError("the store's URL cannot be read: write postgresql://user@host:5432/database") from None
    if url.get_backend_name() not in ("sqlite", "postgresql", "postgres"):
        raise StoreError(f"a store is a SQLite file or a postgresql:// URL, not {url.get_backend_name()}://")
    if not url.database and url.get_backend_name() == "sqlite":
        raise StoreError(f"{address} names no file: write sqlite:///path/to/runs.db, or the path alone")
    return url


def shown(address: str) -> str:
    """The address without its password."""
    return parsed(address).render_as_string(hide_password=True) if "://" in address else address
