"""`sfumato mcp` and `sfumato verify-claim`: offer a service as tools, and check what was stated."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from . import cli_refusals as refusals
from .terminal import print_line

TOKEN = "SFUMATO_TOKEN"  # the name of a variable
RETRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """What needs no consent, and the port of HTTP."""

    per_question: str
    in_all: str
    http: int | None


def run_tools(url: str, options: ToolOptions) -> None:
    """Serve the tools until the client ends the connection, or over HTTP until the end."""
    from ..client.connection import Connection, connect
    from ..mcp.spending_policy import SpendingPolicy

    policy = SpendingPolicy.of(options.per_question, options.in_all)
    token = None if options.http is not None else _read_token(url)

    def open_service(of_whom: str) -> Connection:
        return connect(url, of_whom, retries=RETRIES)

    if token is not None:
        open_service(token).close()  # a wrong address or token is refused now, in the terminal
    from ..mcp.tool_server import build_server

    server = build_server(open_service, token, policy)
    if options.http is None:
        server.run("stdio")
    else:
        sys.stderr.write(f"tools at http://127.0.0.1:{options.http}/mcp\n")
        server.run("streamable-http", host="127.0.0.1", port=options.http)


def print_claim_check(path: Path, url: str) -> None:
    """Print whether a claim holds, with the interval of its number; exit code 1 if it does not."""
    from ..client.connection import connect
    from ..mcp.claims import Claim, verify_claim

    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise refusals.FILE_UNREADABLE(name=path.name) from None
    claim = Claim.read(text)
    with connect(url, _read_token(url), retries=RETRIES) as connection:
        check = verify_claim(connection, claim, url)
    if check.holds:
        print_line(
            f"holds: {claim.column} is {claim.value}, between {check.low:.10g} and "
            f"{check.high:.10g} with probability 0.95; entry {claim.entry} paid for it"
        )
        return
    print_line(f"does not hold: {check.reason}")
    raise SystemExit(1)


def _read_token(url: str) -> str:
    """Return the token of the environment."""
    from ..mcp import mcp_refusals

    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise mcp_refusals.TOKEN_MISSING(url=url)
    return token
