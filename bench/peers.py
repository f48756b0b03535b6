"""Others to be measured beside: in environments that are made for the occasion, and processes that
answer when they are asked.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from telling import say


@contextmanager
def installed(name: str, *packages: str) -> Iterator[Path | None]:
    """An interpreter that has these packages, for as long as it is needed; None where they cannot
    be had.
    """
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as place:
        say(f"{name}: installing into a temporary environment")
        venv.create(place, with_pip=True)
        python = Path(place) / "bin" / "python"
        pip = [
            str(python),
            "-m",
            "pip",
            "--disable-pip-version-check",
            "install",
            "--quiet",
            *packages,
        ]
        done = subprocess.run(pip, check=False, capture_output=True, text=True)
        if done.returncode:
            say(f"{name}: left out, as pip failed:\n{done.stderr}")
        yield None if done.returncode else python


class Process:
    """A program in a process of its own. It says its version first, then a line for every line that
    it is told.
    """

    def __init__(
        self,
        python: str | Path,
        script: str,
        *arguments: object,
        quiet: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            [str(python), "-c", script, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            text=True,
            env=os.environ | (environment or {}),
        )
        self.version = self._line()

    def told(self, *words: object) -> str:
        """Its answer to these words."""
        assert self._process.stdin is not None
        print(*words, file=self._process.stdin, flush=True)
        return self._line()

    def close(self) -> None:
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise SystemExit("a side of the comparison ended early; what it said stands above")
        return line


@contextmanager
def beside(
    python: str | Path | None, script: str, *, quiet: bool = False
) -> Iterator[Process | None]:
    """A program that runs beside ours; None where it has no interpreter."""
    made = None if python is None else Process(python, script, quiet=quiet)
    try:
        yield made
    finally:
        if made is not None:
            made.close()
