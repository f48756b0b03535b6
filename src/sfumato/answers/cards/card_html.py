"""Render a release card as an HTML page, as an HTML fragment or as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ...templates.fill_template import fill_template
from ..plain_json import Plain, Record
from ..render.tabulate import printable

TITLES = {
    "basic": "What it is",
    "privacy_loss": "Who is protected, and how much",
    "dp_variant": "What is promised",
    "deployment_model": "Between whom",
    "implementation": "How it was done",
}
"""The headings of a deployment's parts, in reading order."""

ShownValue: TypeAlias = "str | list[ShownValue] | dict[str, ShownValue]"


def card_page(content: Record) -> str:
    """Render the card as a complete HTML document."""
    return _fill("card_page.html", content)


def card_fragment(content: Record) -> str:
    """Render the card as a part of an HTML page."""
    return _fill("card.html", content)


def card_lines(content: Record) -> str:
    """Render the card as indented text."""
    lines = [printable(_title(content)), f"release card, version {content['version']}"]
    for name, title in TITLES.items():
        lines += ["", title, *_lines(content["deployment"].get(name, {}), "  ")]
    return "\n".join([*lines, "", "The release, exactly", *_lines(content["release"], "  ")])


def _title(content: Record) -> str:
    return str(content["deployment"]["basic"]["name"])


def _label(name: str) -> str:
    return printable(name.replace("_", " "))


def _fill(template: str, content: Record) -> str:
    parts = {title: _shown(content["deployment"].get(name, {})) for name, title in TITLES.items()}
    return fill_template(
        template,
        title=printable(_title(content)),
        version=content["version"],
        parts=parts,
        release=_shown(content["release"]),
        label=_label,
    )


def _shown(value: Plain) -> ShownValue:
    """Convert a value to printable texts. A list of one plain value becomes that value."""
    match value:
        case dict():
            return {str(name): _shown(item) for name, item in value.items()}
        case list() if any(isinstance(item, dict | list) for item in value) or len(value) > 1:
            return [_shown(item) for item in value]
        case [item]:
            return _shown(item)
    return printable(_plain(value))


def _lines(value: dict[str, Plain] | list[Plain], indent: str) -> Iterator[str]:
    items = value.items() if isinstance(value, dict) else (("-", item) for item in value)
    for name, item in items:
        label = _label(str(name))
        if isinstance(item, dict | list) and item:
            yield f"{indent}{label}"
            yield from _lines(item, indent + "  ")
        else:
            yield (
                f"{indent}{label}: {printable(_plain(item)) or '–'}"
                if label != "-"
                else f"{indent}- {printable(_plain(item))}"
            )


def _plain(value: Plain) -> str:
    return (
        {True: "yes", False: "no"}[value]
        if isinstance(value, bool)
        else "–"
        if value in ([], {}, None)
        else str(value)
    )
