"""Canaries, looked for in all that a service said and wrote."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from .service import Running, canaries, spoken

TABLES = ("visits", "clinic")


def flocks() -> list[tuple[bytes, list[bytes]]]:
    """Every canary as text, and every number as it lies in memory, together with those that it
    shares a part with, and that part.
    """
    pairs = []
    for table in TABLES:
        planted, texts = canaries(table), spoken(table)
        at = len(planted["texts"]), len(planted["texts"]) + len(planted["units"])
        flat = [texts[: at[0]], texts[at[0] : at[1]], texts[at[1] :]]
        pairs += [(_beginning(flock), flock) for flock in flat]
        raw = (
            [struct.pack("<q", unit) for unit in planted["units"]],
            [struct.pack("<d", amount) for amount in planted["amounts"]],
        )
        pairs += [(_beginning([number[::-1] for number in flock])[::-1], flock) for flock in raw]
    return pairs


def _beginning(flock: list[bytes]) -> bytes:
    """What all begin with."""
    first, last = min(flock), max(flock)
    return first[
        : next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    ]


def hits(texts: Iterable[bytes]) -> list[bytes]:
    """The canaries that are in some text. Where the part that a flock shares is nowhere, none of it
    is.
    """
    text = b"\n".join(texts)
    return [
        canary for shared, flock in flocks() if shared in text for canary in flock if canary in text
    ]


def read_written_files(service: Running) -> dict[str, bytes]:
    """All that the service wrote, by file: log, ledger, tokens and stored replies; not the data
    themselves.
    """
    folder = service.deployment.path.parent
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".parquet"
    }
