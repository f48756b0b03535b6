"""The tools in front of a service, over standard input and over HTTP: ten questions inside a share,
somebody who wants more, and a number that is checked in the shell.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import sfumato as sf
from mcp import Client, StdioServerParameters

from .processes import wait_for
from .service import Running, free_port

pytestmark = pytest.mark.xdist_group("server")
COMMAND = ["-c", "from sfumato.cli import main; main()"]
TASK = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT COUNT(DISTINCT user_id) AS people FROM visits",
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
    "SELECT AVG(spend) AS m FROM visits",
    "SELECT SUM(spend) AS s FROM visits WHERE age >= 40",
    "SELECT city, AVG(age) AS m FROM visits GROUP BY city",
    "SELECT MEDIAN(age) AS m FROM visits",
    "SELECT HISTOGRAM(age, [0, 30, 60, 120]) AS h FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE spend > 20",
    "SELECT VAR_POP(age) AS v FROM visits",
]


@asynccontextmanager
async def over_pipes(service: Running, who: str, *options: str) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[*COMMAND, "mcp", service.url, *options],
        env={**os.environ, "SFUMATO_TOKEN": service.deployment.tokens[who]},
    )
    async with Client(stdio_client(parameters)) as client:
        yield client


@contextmanager
def over_http(service: Running) -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "mcp", service.url, "--http", str(port)],
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(20)


def structured(result: Any) -> Any:
    assert not result.is_error, result.content
    return result.structured_content


def test_ten_questions_inside_a_limit(service: Running, tmp_path: Path) -> None:
    async def work() -> dict[str, Any]:
        async with over_pipes(service, "bob", "--per-question", "0.02", "--in-all", "0.2") as tools:
            for sql in TASK:
                question = {"dataset": "visits", "sql": sql, "epsilon": "0.02"}
                plan = structured(await tools.call_tool("plan_question", question))
                assert plan["affordable"]
                assert not plan["needs_consent"], sql
                answer = structured(await tools.call_tool("ask_question", question))
                again = structured(await tools.call_tool("ask_question", question))
                assert answer["rows"] == again["rows"]
            # the eleventh would be beyond what needs no consent, and nobody can be asked
            more = await tools.call_tool(
                "ask_question", {**question, "sql": TASK[0] + " WHERE age > 9"}
            )
            assert more.is_error
            assert "mcp.consent" in more.content[0].text  # type: ignore[union-attr]  # a text
            return dict(answer)

    with sf.connect(service.url, service.deployment.tokens["bob"]) as connection:
        ledger = connection["visits"].ledger
        before = {entry.number for entry in ledger.history() if entry.kind == "charge"}
        answer = anyio.run(work)
        charges = [
            entry
            for entry in ledger.history()
            if entry.kind == "charge" and entry.number not in before
        ]
    assert len(charges) == len(TASK)  # each question once, though each was asked twice
    assert sum(entry.cost.parameters["epsilon"] for entry in charges if entry.cost) <= 0.2
    claim = {**answer["receipt"], "column": "v", "row": {}, "value": answer["rows"][0]["v"]}
    for value, code in ((claim["value"], 0), (claim["value"] + 1, 1)):
        path = tmp_path / "claim.json"
        path.write_text(json.dumps({**claim, "value": value}), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, *COMMAND, "verify-claim", str(path), service.url],
            env={**os.environ, "SFUMATO_TOKEN": service.deployment.tokens["bob"]},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done
        assert ("holds" if code == 0 else "does not hold") in done.stdout


def test_over_http_every_request_has_its_own_token(service: Running) -> None:
    async def ask(url: str, headers: dict[str, str], tool: str) -> Any:
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http)) as tools,
        ):
            return await tools.call_tool(tool, {})

    tokens = service.deployment.tokens
    with over_http(service) as url:
        port = int(url.split(":")[2].split("/")[0])
        wait_for(lambda: _listens(port))
        mine = anyio.run(ask, url, {"Authorization": f"Bearer {tokens['bob']}"}, "list_datasets")
        assert structured(mine) == {"result": ["visits"]}
        for headers, code in (
            ({}, "mcp.token"),
            ({"Authorization": f"Bearer {tokens['revoked']}"}, "server.token"),
            ({"Authorization": f"Bearer {tokens['bob'][:-1]}x"}, "server.token"),
        ):
            refused = anyio.run(ask, url, headers, "list_datasets")
            assert refused.is_error
            assert code in refused.content[0].text


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
