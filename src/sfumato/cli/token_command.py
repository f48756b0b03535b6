"""`sfumato token`: make, list and revoke the tokens of a service."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import cli_refusals as refusals
from .terminal import print_line


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """What to do with tokens: create one for a name, revoke one, or list all."""

    name: str | None
    role: str
    datasets: Sequence[str]
    days: int
    revoke: str | None


def run_token(path: Path, request: TokenRequest) -> None:
    """Create a token and print it once, or revoke one, or list all without their secrets."""
    from ..server.config import load
    from ..server.request_store import RequestStore
    from ..server.tokens import create_token

    config = load(path)
    if unknown := [name for name in request.datasets if name not in config.datasets]:
        raise refusals.UNKNOWN_TOKEN_DATASET(
            dataset=unknown[0],
            datasets=", ".join(config.datasets),
            first=next(iter(config.datasets)),
        )
    state = RequestStore(config.tokens)
    try:
        if request.revoke is not None:
            if not state.revoke(request.revoke):
                raise refusals.UNKNOWN_TOKEN(token=request.revoke, path=path)
            print_line(f"revoked {request.revoke}")
        elif request.name is not None:
            print_line(
                create_token(
                    state,
                    name=request.name,
                    role=request.role,
                    datasets=list(request.datasets) or None,
                    days=request.days,
                )
            )
            sys.stderr.write(
                "Copy the token now: it is shown only once, and the service stores only its hash.\n"
            )
        else:
            _list(state.tokens())
    finally:
        state.close()


def _list(rows: Sequence[tuple[object, ...]]) -> None:
    from ..server.request_store import TokenRow

    now = datetime.datetime.now(datetime.UTC).timestamp()
    for row in (TokenRow(*fields) for fields in rows):  # type: ignore[arg-type]  # rows of SQL
        datasets = json.loads(row.datasets)
        ends = datetime.datetime.fromtimestamp(row.expires, datetime.UTC).isoformat(
            timespec="minutes"
        )
        status = "revoked" if row.revoked else "expired" if row.expires <= now else f"until {ends}"
        print_line(
            f"{row.id}  {row.role:<8} {row.name:<20} "
            f"{'all datasets' if datasets is None else ', '.join(datasets):<24} {status}"
        )
