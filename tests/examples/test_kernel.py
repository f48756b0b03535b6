"""sfumato in a Jupyter kernel: a bare one, without ipywidgets and without matplotlib's inline mode,
as `pip install ipykernel` brings it. One kernel runs all cells.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

START = """\
import sys
sys.modules["ipywidgets"] = None  # as if it were not installed
import pandas as pd
import sfumato as sf
people = pd.DataFrame({"id": [1, 2], "city": ["Bari", "Roma"], "age": [20, 30]})
table = sf.protect(
    people, name="people", unit="id", budget=sf.Approx(100, 1e-6),
    bounds={"age": (0, 100)}, keys={"city": ["Bari", "Roma"]}, max_rows=1,
)
"""


class Kernel:
    """A Jupyter kernel of this interpreter, and the messages of a cell."""

    def __init__(self, folder: Path) -> None:
        self.manager = KernelManager(connection_file=str(folder / "kernel.json"))
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        self.manager._kernel_spec = KernelSpec(argv=command, language="python")
        self.manager.start_kernel(cwd=str(folder))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def run(self, cell: str) -> dict[str, Any]:
        """Return the last message of each kind that a cell sent."""
        messages: dict[str, Any] = {}

        def keep(message: dict[str, Any]) -> None:
            messages[message["msg_type"]] = message["content"]

        self.client.execute_interactive(cell, output_hook=keep, timeout=120)
        return messages

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.client.context.destroy()  # else its sockets are open until the interpreter ends


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    started = Kernel(tmp_path_factory.mktemp("kernel"))
    try:
        messages = started.run(START)
        assert "error" not in messages, "\n".join(messages["error"]["traceback"])
        yield started
    finally:
        started.close()


def shown(kernel: Kernel, cell: str) -> dict[str, str]:
    """Return what a cell displays, by MIME type."""
    messages = kernel.run(cell)
    assert "error" not in messages, "\n".join(messages["error"]["traceback"])
    data: dict[str, str] = messages["execute_result"]["data"]
    return data


def test_a_question_is_answered(kernel: Kernel) -> None:
    data = shown(kernel, 'table.sql("SELECT COUNT(*) AS n FROM people", epsilon=1)')
    assert data["text/plain"].startswith("n")
    assert "<table>" in data["text/html"]


SUMMARIES = [
    "table",
    "table.describe()",
    "table.where('age > 18')",
    "table.declaration",
    "table.plan('SELECT city, COUNT(*) AS n FROM people GROUP BY city', epsilon=1)",
    "sf.protect(people, name='p', unit='id', budget=1).plan('SELECT AVG(age) FROM p', epsilon=1/2)",
    "table.plan_all(['SELECT COUNT(*) FROM people', 'SELECT AVG(age) FROM people'], epsilon=1)",
    "table.ledger",
    "table.ledger.history()",
    "sf.protect({'people': people}, name='both', unit='people.id', budget=1)",
]


@pytest.mark.parametrize("code", SUMMARIES)
def test_an_object_is_a_short_text_and_a_quiet_table(kernel: Kernel, code: str) -> None:
    data = shown(kernel, code)
    lines = data["text/plain"].splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 120
    assert not re.search(r"Fraction\(|=\(\(|object at 0x", data["text/plain"])
    assert "<table>" in data["text/html"]


def test_what_was_learned_is_shown_in_lines(kernel: Kernel) -> None:
    code = "sf.protect(people, name='q', unit='id', budget=1).learn(epsilon=1/2)"
    first, *lines = shown(kernel, code)["text/plain"].splitlines()
    assert first == "learned limits of q"
    assert [line.split()[0] for line in lines] == ["a", "age", "cost"]


def test_the_engine_shows_no_progress(kernel: Kernel) -> None:
    cell = """
engine = table._source.engine.connection
query = "SELECT current_setting('enable_progress_bar')"
[engine.execute(query).fetchall(), engine.cursor().execute(query).fetchall()]
"""
    assert shown(kernel, cell)["text/plain"] == "[[(False,)], [(False,)]]"


def test_a_refusal_is_a_few_lines(kernel: Kernel) -> None:
    error = kernel.run('table.sql("SELECT foo FROM people", epsilon=1)')["error"]
    assert error["ename"] == "Refused"
    plain = re.sub("\x1b\\[[0-9;]*m", "", "\n".join(error["traceback"])).splitlines()
    assert plain[0] == plain[-1] == "─" * 72
    assert plain[1:4] == [
        "refused [sql.column]",
        "      SELECT foo FROM people",
        "             ^^^ there is no such column",
    ]
    assert plain[-2] == 'line 1: table.sql("SELECT foo FROM people", epsilon=1)'
    assert len(plain) == 8
