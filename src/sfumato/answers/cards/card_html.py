"""Render a release card as an HTML page, as an HTML fragment or as text. Every text is escaped, and
there is no script.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from ..plain_json import Plain, Record
from ..render.render_html import escape_text
from ..render.tabulate import printable

STYLE = """
body { margin: 2.5em auto; max-width: 62em; padding: 0 1em; color: #222; background: #fff; }
.card { font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
.card h1 { font-size: 1.5em; margin: 0 0 .2em; }
.card h2 { font-size: 1.05em; margin: 1.6em 0 .4em; border-bottom: 1px solid #bbb; }
.card dl { display: grid; grid-template-columns: 13em 1fr; gap: .25em 1.2em; margin: .2em 0; }
.card dt { color: #666; }
.card dd { margin: 0; }
.card dd dl { grid-template-columns: 10em 1fr; }
.card ul { margin: 0; padding-left: 1.1em; }
.card summary { cursor: pointer; margin: 1.6em 0 .4em; font-weight: 600; }
@media (max-width: 40em) { .card dl, .card dd dl { grid-template-columns: 1fr; } }
"""

TITLES = {
    "basic": "What it is",
    "privacy_loss": "Who is protected, and how much",
    "dp_variant": "What is promised",
    "deployment_model": "Between whom",
    "implementation": "How it was done",
}
"""The headings of a deployment's parts, in reading order."""


def card_page(content: Record) -> str:
    """Render the card as a complete HTML document."""
    title = escape(printable(_title(content)))
    head = (
        f'<meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{title}</title>'
    )
    return (
        f"<!doctype html>\n<html "
        f'lang="en"><head>{head}</head><body>{card_fragment(content)}</body></html>\n'
    )


def card_fragment(content: Record) -> str:
    """Render the card as a part of an HTML page."""
    parts = [
        f"<h2>{escape(title)}</h2>{_value(content['deployment'].get(name, {}))}"
        for name, title in TITLES.items()
    ]
    exact = (
        f"<details><summary>The release, exactly</summary>{_value(content['release'])}</details>"
    )
    name = escape_text(printable(_title(content)))
    return (
        f'<div class="card"><style>{STYLE}</style><h1>{name}</h1><p>Release card, version '
        f"{int(content['version'])}</p>{''.join(parts)}{exact}</div>"
    )


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


def _value(value: Plain) -> str:
    match value:
        case dict():
            return (
                "<dl>"
                + "".join(
                    f"<dt>{escape_text(_label(str(name)))}</dt><dd>{_value(item)}</dd>"
                    for name, item in value.items()
                )
                + "</dl>"
            )
        case list() if any(isinstance(item, dict | list) for item in value) or len(value) > 1:
            return "<ul>" + "".join(f"<li>{_value(item)}</li>" for item in value) + "</ul>"
        case list():
            return "".join(_value(item) for item in value) or "–"
    return escape_text(printable(_plain(value)))


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
