"""Every notebook runs, cell by cell in one namespace, warns about nothing, and is its tutorial: the
same words and code, with the outputs of a run.

A notebook is JSON, and its cells are Python: they are run here without a kernel, which would be
twenty packages more.
"""

from __future__ import annotations

import importlib
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
TUTORIALS = ROOT / "docs" / "tutorials"


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        yield importlib.import_module("notebooks")


def load(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for cell in load(path)["cells"]:
        if cell["cell_type"] != "code":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile("".join(cell["source"]), f"{path.name}, {cell['id']}", "exec"), namespace)
        assert bool(capsys.readouterr().out.strip()) == bool(cell["outputs"]), (
            "a cell that prints has an output, and no other"
        )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_its_tutorial(path: Path, script: ModuleType) -> None:
    page = (TUTORIALS / f"{path.stem}.md").read_text(encoding="utf-8")
    assert load(path) == script.notebook(list(script.parts(page))), "run docs/notebooks.py"


def test_every_tutorial_has_a_notebook() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        path.stem for path in sorted(TUTORIALS.glob("*.md"))
    ]
    assert len(NOTEBOOKS) == 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_small_and_of_version_4(path: Path) -> None:
    notebook = load(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert path.stat().st_size < 50_000


def test_links_lead_somewhere_from_where_the_notebook_is(script: ModuleType) -> None:
    for path in NOTEBOOKS:
        for cell in load(path)["cells"]:
            for target in (
                re.findall(r"\]\((?!https?:)([^)#]+)", "".join(cell["source"]))
                if cell["cell_type"] == "markdown"
                else []
            ):
                assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_another_text_is_seen(script: ModuleType) -> None:
    page = "Words.\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n"
    assert script.written(script.run(page)) == page
    assert script.notebook(script.run(page)) != script.notebook(
        script.run(page.replace("print(1)", "print(2)"))
    )
    assert script.written(script.run(page.replace("\n1\n", "\n7\n"))) == page


def test_pages_keep_books_of_their_own(script: ModuleType) -> None:
    """Run one after the other in the same folder, a second page would find the first one's budget
    spent, or its shares given.
    """
    books = [
        name
        for page in script.PAGES
        for name in set(re.findall(r'ledger="([^"]+)"', page.read_text(encoding="utf-8")))
    ]
    assert len(books) == len(set(books)) >= 2
    assert "delete `owner.ledger`" in (TUTORIALS / "owner.md").read_text(encoding="utf-8")
