"""Print a refusal in a terminal: the lines of `str(refusal)`, with colour if there is any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import Refused

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {"refused": "bold red", "why": "bold", "try": "bold green"}


class ReportFailed(RuntimeError):
    """A command that charges nothing failed after data was read. The text never varies, as with
    `Failed`: it could be about a person.
    """

    TEXT = (
        "failed: the report could not be made; nothing was written, and nothing was charged "
        "(SFUMATO_DEBUG=1 prints the traceback)"
    )

    def __init__(self) -> None:
        super().__init__(self.TEXT)


@contextmanager
def rewrite_as_command(example: str) -> Iterator[None]:
    """Replace the rewrite of a refused path: in a shell it is the command `example`, not a call of
    `protect`.
    """
    try:
        yield
    except Refused as refusal:
        if refusal.code != "table.path" or not refusal.rewrite.startswith(
            ("protect(", "sf.protect(")
        ):
            raise
        place = refusal.place.removeprefix("protect(").removesuffix(", …)")
        raise refusal.replace(place=place, rewrite=example) from None


def print_refusal(refusal: Refused) -> None:
    """Print the refusal on standard error."""
    from rich.console import Console

    Console(stderr=True, highlight=False).print(render(refusal), soft_wrap=True)


def render(refusal: Refused) -> Text:
    """Style a refusal: the first word of a line says what the line is, so it gets the colour."""
    from rich.text import Text

    text = Text(printable(str(refusal)))
    for word, style in _STYLES.items():
        text.highlight_regex(rf"(?m)^{word}\b", style)
    text.highlight_regex(r"(?m)^ *\^+", "red")
    return text


def printable(text: str) -> str:
    """Escape characters that would move the cursor or recolour the screen: a refusal quotes what
    the user typed.
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )
