"""A progress bar for computations of more than a second, shown only on an interactive standard
error and never during the first second.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0


class Bar:
    """`with Bar("pairs", total=500) as bar: bar.add(10)`. Prints nothing unless standard error is
    interactive.
    """

    __slots__ = ("_begun", "_done", "_name", "_shown", "_total", "_watched")

    def __init__(self, name: str, *, total: int, watched: bool | None = None) -> None:
        self._name, self._total, self._done = name, total, 0
        self._watched = sys.stderr.isatty() if watched is None else watched
        self._begun = time.monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Bar:
        return self

    def add(self, steps: int = 1) -> None:
        self._done += steps
        if not self._watched or (self._shown is None and time.monotonic() - self._begun < PATIENCE):
            return
        if self._shown is None:
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True, force_terminal=True), transient=True)
            bar.start()
            self._shown = bar, bar.add_task(self._name, total=self._total)
        bar, task = self._shown
        bar.update(task, completed=self._done)

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown[0].stop()
