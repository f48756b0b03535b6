"""How a refusal looks in a terminal: the lines of `str(refusal)`, with colour where there is
any.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import Refused

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {"refused": "bold red", "why": "bold", "try": "bold green"}


class Unmade(RuntimeError):
    """A command that charges nothing broke after data was read. As of `Failed`, the text never
    varies.
    """

    TEXT = (
        "failed: the report could not be made; nothing was written, and nothing was charged "
        "(SFUMATO_DEBUG=1 shows where)"
    )

    def __init__(self) -> None:
        super().__init__(self.TEXT)


@contextmanager
def typed(example: str) -> Iterator[None]:
    """In a shell, what would pass is a command: for a path that is no table's, this one, and not a
    call of `protect`.
    """
    try:
        yield
    except Refused as refusal:
        if refusal.code != "table.path" or not refusal.rewrite.startswith("protect("):
            raise
        raise Refused(
            refusal.code,
            refusal.place.removeprefix("protect(").removesuffix(", …)"),
            refusal.reason,
            example,
        ) from None


def show(refusal: Refused) -> None:
    """Print the refusal on standard error."""
    from rich.console import Console

    Console(stderr=True, highlight=False).print(render(refusal), soft_wrap=True)


def render(refusal: Refused) -> Text:
    """The refusal as styled text. The first word of a line says what the line is, so it carries the
    colour.
    """
    from rich.text import Text

    text = Text(printable(str(refusal)))
    for word, style in _STYLES.items():
        text.highlight_regex(rf"(?m)^{word}\b", style)
    text.highlight_regex(r"(?m)^ *\^+", "red")
    return text


def printable(text: str) -> str:
    """The place quotes what the user wrote: escape what would move the cursor or recolour the
    screen.
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )
