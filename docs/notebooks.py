"""The tutorials, run: what each block prints goes below it on its page, and page and outputs
together become a notebook in `examples/`.

`python docs/notebooks.py` writes both. There is one text, the page's; tests compare the two, and
run both. Noise is new at every run, so outputs are not compared with those of another run.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
PAGES = [DOCS / "start" / "five-minutes.md", *sorted((DOCS / "tutorials").glob("*.md"))]
"""Pages whose outputs are written; those of the tutorials become notebooks, too."""

PART = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Part(NamedTuple):
    kind: str  # "words", "python" or "text", which is what the block before it printed
    content: str


def parts(page: str) -> Iterator[Part]:
    """What a page is made of, in order."""
    end = 0
    for match in PART.finditer(page):
        if page[end : match.start()].strip():
            yield Part("words", page[end : match.start()].strip("\n"))
        yield Part(match[1], match[2])
        end = match.end()
    if page[end:].strip():
        yield Part("words", page[end:].strip("\n"))


def run(page: str) -> list[Part]:
    """The parts, with what was printed in this run."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    executed: list[Part] = []
    printed = ""
    for part in parts(page):
        if part.kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                code = compile(part.content, "tutorial", "exec")
                exec(code, namespace)  # noqa: S102  # code of our own pages
            printed = out.getvalue()
        executed.append(Part("text", printed.rstrip() + "\n") if part.kind == "text" else part)
    return executed


def written(executed: list[Part]) -> str:
    """A page."""
    return (
        "\n\n".join(
            part.content if part.kind == "words" else f"```{part.kind}\n{part.content}```"
            for part in executed
        )
        + "\n"
    )


def notebook(executed: list[Part]) -> dict[str, Any]:
    """A notebook of version 4.5: cells in order, a block's output in the cell of the block."""
    cells: list[dict[str, Any]] = []
    for number, part in enumerate(executed):
        if part.kind == "words":
            cells.append(
                {
                    "cell_type": "markdown",
                    "id": f"part-{number}",
                    "metadata": {},
                    "source": lines(linked(part.content)),
                }
            )
        elif part.kind == "python":
            cell = {
                "cell_type": "code",
                "execution_count": None,
                "id": f"part-{number}",
                "metadata": {},
                "outputs": [],
                "source": lines(part.content.rstrip("\n")),
            }
            cells.append(cell)
        else:
            cells[-1]["outputs"] = [
                {"name": "stdout", "output_type": "stream", "text": lines(part.content)}
            ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def linked(words: str) -> str:
    """Write links of a page in docs/tutorials as they are seen from examples/, and leave out the
    anchors of headings, which notebooks would show.
    """
    words = re.sub(r" \{ #[\w-]+ \}$", "", words, flags=re.MULTILINE)
    return re.sub(r"\]\(\.\./([^)]+)\)", r"](../docs/\1)", words)


def main() -> None:
    os.environ["COLUMNS"] = "88"  # the width of the pages' outputs
    for path in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            home = Path.cwd()
            os.chdir(folder)  # pages write ledgers and files
            try:
                executed = run(path.read_text(encoding="utf-8"))
            finally:
                os.chdir(home)
        path.write_text(written(executed), encoding="utf-8")
        if path.parent.name == "tutorials":
            text = json.dumps(notebook(executed), indent=1, ensure_ascii=False) + "\n"
            (EXAMPLES / f"{path.stem}.ipynb").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
