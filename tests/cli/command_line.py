"""The `sfumato` command, in the process of the test, which imports nothing anew, and in one of its
own, which is what a shell starts: of each command, one test at least does that.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest


def run_inside(
    *arguments: object, width: int = 200, data: bytes | None = None, at: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, in a folder, with bytes on the standard input, and return
    what it prints and how it ends.
    """
    out, err, line = io.StringIO(), io.StringIO(), ["sfumato", *map(str, arguments)]
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        from sfumato.cli import main

        patch.setenv("COLUMNS", str(width))
        patch.setattr(sys, "argv", line)
        if data is not None:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        if at is not None:
            patch.chdir(at)
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(line, code, out.getvalue(), err.getvalue())


def run_process(
    *arguments: object,
    width: int = 200,
    data: bytes | None = None,
    at: Path | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process, likewise."""
    done = subprocess.run(
        [str(Path(sys.executable).with_name("sfumato")), *map(str, arguments)],
        input=data,
        capture_output=True,
        env=os.environ | {"COLUMNS": str(width)} | environment,
        cwd=at,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )
