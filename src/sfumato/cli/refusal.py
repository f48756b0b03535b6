"""How a refusal looks in a terminal: the lines of `str(refusal)`, with colour where there is any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import Refused

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {"refused": "bold red", "why": "bold", "try": "bold green"}


def show(refusal: Refused) -> None:
    """Print the refusal on standard error."""
    from rich.console import Console

    Console(stderr=True, highlight=False).print(render(refusal), soft_wrap=True)


def render(refusal: Refused) -> Text:
    """The refusal as styled text. The first word of a line says what the line is, so it carries the colour."""
    from rich.text import Text

    text = Text(printable(str(refusal)))
    for word, style in _STYLES.items():
        text.highlight_regex(rf"(?m)^{word}\b", style)
    text.highlight_regex(r"(?m)^ *\^+", "red")
    return text


def printable(text: str) -> str:
    """The place quotes what the user wrote: escape what would move the cursor or recolour the screen."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
