"""Print a refusal in a terminal: the lines of `str(refusal)`, with colour if there is any."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import Refused, printable

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


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command as it was typed: its first words, its question, and its options with values."""

    words: tuple[str, ...]
    text: str
    options: tuple[tuple[str, str], ...] = ()

    def ask(self, text: str) -> CommandLine:
        """Return the command with another question."""
        return replace(self, text=text)

    def set_option(self, form: str) -> CommandLine:
        """Return the command with an option such as `--types amount=float` in the place of the same
        option, or of the same option of the same column.
        """
        option, _, value = form.partition(" ")
        column = value.partition("=")[0] if "=" in value else None
        others = tuple(
            (name, old)
            for name, old in self.options
            if name != option or (column is not None and old.partition("=")[0] != column)
        )
        return replace(self, options=(*others, (option, value)))

    def __str__(self) -> str:
        options = [word for pair in self.options for word in pair]
        return shlex.join([*self.words, self.text, *options])


_ARGUMENT = re.compile(
    r"(?P<name>epsilon|delta|within|budget|max_rows|max_groups|unit)='?(?P<value>[\w./-]+)'?"
)
"""An argument in Python that is an option of the command."""


@contextmanager
def rewrite_as_command(example: str, command: CommandLine | None = None) -> Iterator[None]:
    """Replace rewrites in SQL and Python by commands of a shell: `command` with another question or
    option, and `example` for a path that is refused.
    """
    try:
        yield
    except Refused as refusal:
        if command is not None:
            if (form := refusal.forms.get("shell")) is not None:
                raise refusal.replace(rewrite=str(command.set_option(form))) from None
            if (argument := _ARGUMENT.fullmatch(refusal.rewrite)) is not None:
                option = f"--{argument['name'].replace('_', '-')} {argument['value']}"
                raise refusal.replace(rewrite=str(command.set_option(option))) from None
            if refusal.rewrite.upper().startswith(("SELECT ", "WITH ")):
                raise refusal.replace(rewrite=str(command.ask(refusal.rewrite))) from None
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
