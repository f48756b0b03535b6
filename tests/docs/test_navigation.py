"""Every page is in the navigation, once, under one of seven headings; every link leads to a page
that is there, and to a heading of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown.extensions.toc import slugify

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
NAV: list[dict[str, Any]] = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]

LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!https?://|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)")


def listed(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from listed(part)


def prose(page: Path) -> str:
    """Without blocks of code, and without code inside lines."""
    text = re.sub(
        r"^ *(`{3,}|~{3,}).*?^ *\1",
        "",
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page: Path) -> set[str]:
    text = re.sub(
        r"^(`{3,}|~{3,}).*?^\1",
        "",
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    titles = re.findall(r"^#+ +(.*?) *#*$", text, re.MULTILINE)
    slugs = {slugify(re.sub(r"[`*_]|\{.*?\}", "", title).strip(), "-") for title in titles}
    return (
        slugs
        | set(re.findall(r"\{[^}]*#([\w-]+)[^}]*\}", text))
        | set(re.findall(r"id=\"([\w-]+)\"", text))
    )


def broken(page: Path, text: str) -> list[str]:
    """Links that lead nowhere."""
    broken_links = []
    for target, anchor in LINK.findall(text):
        there = (page.parent / target).resolve() if target else page
        if not there.exists() or (
            anchor and there.suffix == ".md" and anchor not in anchors(there)
        ):
            broken_links.append(f"{target}#{anchor}" if anchor else target)
    return broken_links


def test_every_page_is_listed_once() -> None:
    names = list(listed(NAV))
    assert sorted(names) == [str(page.relative_to(DOCS)) for page in PAGES]
    assert len(set(names)) == len(names)


def test_folders_follow_the_navigation() -> None:
    """The first folder of a page is named after the top heading that lists it."""
    assert [
        page
        for part in NAV
        for title, entries in part.items()
        for page in listed(entries)
        if page != "index.md" and page.partition("/")[0] != title.lower()
    ] == []


def test_the_order_is_clear() -> None:
    assert [next(iter(part)) for part in NAV] == [
        "Start",
        "Tutorials",
        "Guides",
        "Reference",
        "Why",
        "Proofs",
        "Project",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_links(page: Path) -> None:
    assert broken(page, prose(page)) == []


def test_a_broken_link_is_seen() -> None:
    page = DOCS / "index.md"
    assert broken(
        page,
        (
            "[a](nowhere.md) and [b](start/five-minutes.md#nowhere), not "
            "[c](start/five-minutes.md#install) nor ![d](nowhere.png)"
        ),
    ) == ["nowhere.md", "start/five-minutes.md#nowhere"]
