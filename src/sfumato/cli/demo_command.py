"""`sfumato demo`: show every part of the product on sample data, in the terminal and in one
self-contained HTML page with pictures.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..templates.fill_template import encode_png, fill_template
from . import cli_refusals as refusals
from .demo_chapters import BUDGET, CITIES, Chapter, chapter_lines, chapters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..session import Table

FILE = "sfumato-demo.html"


def run_demo(*, out: Path) -> None:
    """Run and print every chapter, and write the page into `out`."""
    from rich.console import Console
    from rich.markup import escape as plain

    file = _place(out)
    console, story = Console(highlight=False), []
    with _visits() as table, Console(stderr=True).status("") as status:
        for chapter in chapters(table, lambda what: status.update(what)):
            story.append(chapter)
            console.print(f"\n[bold]{plain(chapter.title)}[/]")
            for line in chapter_lines(chapter):
                console.print(line, markup=False, soft_wrap="\n" in line)
    file.write_text(page(story), encoding="utf-8")
    console.print(f"\nThe same with pictures: [bold]{plain(str(file))}[/]", soft_wrap=True)


@contextmanager
def _visits() -> Iterator[Table]:
    """Protect the visits, with a new ledger on disk."""
    from ..samples import visits
    from ..session import protect

    with (
        tempfile.TemporaryDirectory(prefix="sfumato-demo-") as folder,
        protect(
            visits(),
            name="visits",
            budget=BUDGET,
            ledger=str(Path(folder) / "visits.ledger"),
            unit="user_id",
            max_rows=4,
            max_groups=2,
            bounds={"spend": (0, 60), "age": (16, 90)},
            keys={"city": CITIES},
        ) as table,
    ):
        yield table


def _place(out: Path) -> Path:
    """Return the path of the page, or refuse before anything runs."""
    file = out / FILE
    try:
        out.mkdir(parents=True, exist_ok=True)
        file.touch()
    except OSError:
        raise refusals.DEMO_NOT_WRITTEN(out=out) from None
    return file


def page(story: Sequence[Chapter]) -> str:
    """Render the chapters as one HTML document without scripts or external files."""
    return fill_template("demo.html", story=story, png=encode_png, version=__version__)
