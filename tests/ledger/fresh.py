"""Places for new books, in a folder or on a server."""

from __future__ import annotations

import psycopg


def fresh(folder: str, name: object) -> str:
    """The path of a file that is not there yet, or the URL of a new database."""
    if "://" not in folder:
        return f"{folder}/{name}.ledger"
    database = f"fresh_{name}"
    with psycopg.connect(folder, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {database}")
        connection.execute(f"CREATE DATABASE {database}")
    return folder.replace("/postgres?", f"/{database}?")
