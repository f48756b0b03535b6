"""An editor knows what `sf.`, a table, an answer and a plan offer: Jedi (IPython, Jupyter) and
pyright (VS Code) are both asked, over a file that a new user would write.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import jedi
import pytest

import sfumato as sf

SCRIPT = """\
import sfumato as sf

visits = sf.protect("visits.parquet", unit="user_id", budget=sf.Pure(1))
answer = visits.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
plan = visits.plan("SELECT COUNT(*) AS n FROM visits", epsilon=1)
"""
PUBLIC = {name for name in sf.__all__ if name.isidentifier() and not name.startswith("__")}
OFFERED = {
    "sf.": PUBLIC,
    "visits.": {"sql", "plan", "explain_sql", "where", "group_by", "join", "ledger", "learn"}
    | {"columns", "schema", "describe", "filter", "agg", "count"},
    "answer.": {"value", "interval", "text", "cost", "to_pandas", "to_csv", "top", "card", "plot"},
    "plan.": {"explain", "cost", "errors"},
    "sf.mechanisms.": {"Laplace", "Gaussian", "Exponential", "RandomizedResponse"},
    "sf.mechanisms.Laplace(sensitivity=1, epsilon=1).": {"perturb", "error", "promises"},
}


def ends() -> list[tuple[str, int, int]]:
    """Every text to complete, and its zero-based line and column in the script with all of them."""
    before = SCRIPT.count("\n")
    return [(text, before + place, len(text)) for place, text in enumerate(OFFERED)]


def build_script() -> str:
    return SCRIPT + "\n".join(OFFERED) + "\n"


def test_jedi_completes(tmp_path: Path) -> None:
    script = jedi.Script(build_script(), path=tmp_path / "first.py", project=jedi.Project(tmp_path))
    for text, line, column in ends():
        offered = {completion.name for completion in script.complete(line + 1, column)}
        assert OFFERED[text] - offered == set(), text


class LanguageServer:
    """A few messages of the language server protocol, over pipes."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(
            [Path(sys.prefix) / "bin" / "basedpyright-langserver", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=root,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in: IO[bytes] = self._process.stdin
        self._out: IO[bytes] = self._process.stdout
        self._number = 0

    def notify(self, method: str, parameters: object) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": parameters})

    def ask(self, method: str, parameters: object) -> Any:
        self._number += 1
        number = self._number
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message
                return message["result"]
            if "id" in message:  # the server asks for settings: all are the defaults
                items = (message.get("params") or {}).get("items", [])
                reply = {"jsonrpc": "2.0", "id": message["id"], "result": [None] * len(items)}
                self._send(reply)

    def close(self) -> None:
        self.ask("shutdown", None)
        self.notify("exit", None)  # ends the server behind the script, too
        self._process.wait(60)
        self._in.close()
        self._out.close()

    def _send(self, message: object) -> None:
        body = json.dumps(message).encode()
        self._in.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._in.flush()

    def _receive(self) -> dict[str, Any]:
        length = 0
        while line := self._out.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        assert length, "the language server ended"
        return dict(json.loads(self._out.read(length)))


@pytest.fixture
def server(tmp_path: Path) -> Any:
    started = LanguageServer(tmp_path)
    yield started
    started.close()


def test_pyright_completes(server: LanguageServer, tmp_path: Path) -> None:
    settings = {"venvPath": str(Path(sys.prefix).parent), "venv": Path(sys.prefix).name}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    file = tmp_path / "first.py"
    file.write_text(build_script(), encoding="utf-8")
    folder = {"uri": tmp_path.as_uri(), "name": "first"}
    server.ask(
        "initialize",
        {"processId": None, "rootUri": tmp_path.as_uri(), "workspaceFolders": [folder]}
        | {"capabilities": {"workspace": {"configuration": True, "workspaceFolders": True}}},
    )
    server.notify("initialized", {})
    document = {"uri": file.as_uri(), "languageId": "python", "version": 1, "text": build_script()}
    server.notify("textDocument/didOpen", {"textDocument": document})
    for text, line, column in ends():
        place = {"textDocument": {"uri": file.as_uri()}}
        reply = server.ask(
            "textDocument/completion", place | {"position": {"line": line, "character": column}}
        )
        offered = {item["label"] for item in reply["items"]}
        assert OFFERED[text] - offered == set(), text
