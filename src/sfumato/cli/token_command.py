"""`sfumato token`: make, list and revoke the tokens of a service."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import Refused
from .terminal import say


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be done with tokens: one is made for a name, one is revoked, or all are listed."""

    name: str | None
    role: str
    datasets: Sequence[str]
    days: int
    revoke: str | None


def tell(path: Path, asked: Asked) -> None:
    """Print a new token, once; or what became of one; or all of them, without what proves them."""
    from ..server.config import load
    from ..server.request_store import State
    from ..server.tokens import made

    config = load(path)
    if unknown := [one for one in asked.datasets if one not in config.datasets]:
        raise Refused(
            "server.name",
            f"--dataset {unknown[0]:.60}",
            f"the configuration has {', '.join(config.datasets)}",
            f"--dataset {next(iter(config.datasets))}",
        )
    state = State(config.tokens)
    try:
        if asked.revoke is not None:
            if not state.revoke(asked.revoke):
                raise Refused(
                    "server.name",
                    f"--revoke {asked.revoke:.60}",
                    "there is no such token, or it was revoked before",
                    "sfumato token lists them",
                )
            say(f"revoked {asked.revoke}")
        elif asked.name is not None:
            say(
                made(
                    state,
                    name=asked.name,
                    role=asked.role,
                    datasets=list(asked.datasets) or None,
                    days=asked.days,
                )
            )
            sys.stderr.write(
                "This is the only time that it is shown: what is kept is a hash of it.\n"
            )
        else:
            _list(state.tokens())
    finally:
        state.close()


def _list(rows: Sequence[tuple[object, ...]]) -> None:
    from ..server.request_store import TokenRow

    now = datetime.datetime.now(datetime.UTC).timestamp()
    for row in (TokenRow(*one) for one in rows):  # type: ignore[arg-type]
        seen = json.loads(row.datasets)
        ends = datetime.datetime.fromtimestamp(row.expires, datetime.UTC).isoformat(
            timespec="minutes"
        )
        status = "revoked" if row.revoked else "expired" if row.expires <= now else f"until {ends}"
        say(
            f"{row.id}  {row.role:<8} {row.name:<20} "
            f"{'all datasets' if seen is None else ', '.join(seen):<24} {status}"
        )
