"""Every Python example of the documentation runs as printed.

The blocks of one page share a namespace, in order. There is no way to opt out: an example that
cannot run is not an example. A comment `#> value`, behind an expression or on the line below it,
shows its value: the test compares the two.
"""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [p for p in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if p.exists()]

_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<info>[^`\n]*)$")


class Block(NamedTuple):
    line: int  # of its first line of code, from 1
    info: str
    code: str


def blocks(text: str) -> list[Block]:
    """All fenced blocks of a page; an indented fence (in a list or a tab) takes its indentation off
    its lines.
    """
    code_blocks: list[Block] = []
    opening: re.Match[str] | None = None
    start = 0
    lines = text.splitlines()
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if opening is None and fence:
            opening, start = fence, number + 1
        elif (
            opening is not None
            and fence
            and fence["ticks"].startswith(opening["ticks"])
            and not fence["info"].strip()
        ):
            indent = len(opening["indent"])
            code_blocks.append(
                Block(
                    start + 1,
                    opening["info"].strip(),
                    "\n".join(code[indent:] for code in lines[start:number]) + "\n",
                )
            )
            opening = None
    assert opening is None, f"the block that begins at line {start} is never closed"
    return code_blocks


SHOWN = "#> "


class Shown(ast.NodeTransformer):
    """Turns an expression with a shown value into an assertion that it has this value."""

    def __init__(self, code: str) -> None:
        lines = iter(code.splitlines(keepends=True))
        self.values = {
            token.start[0] - (not token.line[: token.start[1]].strip()): token.string[len(SHOWN) :]
            for token in tokenize.generate_tokens(lambda: next(lines, ""))
            if token.type == tokenize.COMMENT and token.string.startswith(SHOWN)
        }
        """The last line of an expression → the value that is shown behind it or below."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        end = node.end_lineno or node.lineno
        text = self.values.pop(end, None)
        if text is None:
            return node
        value = ast.parse(text, mode="eval").body
        compared = ast.Compare(node.value, [ast.Eq()], [value])
        message = ast.Constant(f"line {end}: its value is not {text}")
        checked = ast.Assert(compared, message)
        for part in ast.walk(checked):
            ast.copy_location(part, node)
        return checked


def checked(code: str) -> ast.Module:
    """The code with an assertion for every shown value."""
    shown = Shown(code)
    tree = ast.fix_missing_locations(shown.visit(ast.parse(code)))
    assert not shown.values, f"values without an expression: {shown.values}"
    assert isinstance(tree, ast.Module)
    return tree


def run(page: Path) -> int:
    """Execute the page's examples; the number of blocks run."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    count = 0
    for block in blocks(page.read_text(encoding="utf-8")):
        if not re.match(r"py", block.info, re.IGNORECASE):
            continue
        assert block.info == "python", (
            f"{page.name}:{block.line - 1}: a Python block is opened by ```python alone, "
            f"not ```{block.info}"
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = checked("\n" * (block.line - 1) + block.code)
            exec(
                compile(tree, str(page), "exec"), namespace
            )  # the blank lines make tracebacks point into the page
        count += 1
    return count


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(page)


def test_pages_are_found() -> None:
    assert {"README.md", "index.md"} <= {page.name for page in PAGES}


def test_shown_values_are_true(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n1 + 1  #> 2\nfor x in (1, 1):\n    (\n        x\n    )\n    #> 1\n"
        "'#> 3'  #> '#> 3'\n[]\n0  #> 0\n```\n"
    )
    assert run(page) == 1


def test_blocks_share_a_namespace_in_order(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\na = 1\n```\n\n```sh\nexit 1\n```\n\n1. item\n\n    ```python\n    if "
        "True:\n        assert a == 1\n    ```\n"
    )
    assert run(page) == 2


@pytest.mark.parametrize(
    "text",
    [
        "```python\nassert False\n```\n",
        "```python\n1 + 1  #> 3\n```\n",
        "```python\nif True:\n    sum(\n        [1]\n    )\n    #> 2\n```\n",
        "```python\na = 1  #> 1\n```\n",
        "```python\n#> 1\n```\n",
        "```python\nimport warnings; warnings.warn('x')\n```\n",
        "```python no-run\na = 1\n```\n",
        "```pycon\n>>> 1\n```\n",
        "~~~py\na = 1\n~~~\n",
        "```python\nnever closed\n",
    ],
    ids=[
        "fails",
        "shown",
        "below",
        "assigned",
        "nothing",
        "warns",
        "opts-out",
        "pycon",
        "py",
        "unclosed",
    ],
)
def test_a_bad_example_is_caught(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises((AssertionError, UserWarning)):
        run(page)
