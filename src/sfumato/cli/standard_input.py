"""Read the standard input as a file: `-` in the place of a path."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import cli_refusals as refusals

FORMATS = ("csv", "parquet")


@contextmanager
def input_file(path: Path, form: str) -> Iterator[Path]:
    """Yield the path of a file; for `-` that of a private copy of the standard input, which is
    removed afterwards.
    """
    if str(path) != "-":
        yield path
        return
    if form not in FORMATS:
        raise refusals.UNKNOWN_INPUT_FORMAT(form=form)
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
        copy = Path(folder) / f"stdin.{form}"
        with copy.open("xb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy
