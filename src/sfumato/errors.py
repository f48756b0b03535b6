"""The two ways a call can end without an answer.

Refused   Raised before any data is read. It says what is wrong, where, why, and what would pass.
          Nothing was read, nothing was spent.
Failed    Raised after data was read. Its text is constant, so that the failure itself tells nothing
          about the data.

*Short*   Public functions raise both without their inner frames (`trim_frames`): a traceback ends
          at the caller's own line. IPython shows the text alone, in colour, without any frame.
          SFUMATO_DEBUG=1 keeps all frames.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from traceback import walk_tb
from types import FunctionType, TracebackType
from typing import Literal, Self, TypeVar, cast

Language = Literal["sql", "shell"]
"""The languages of callers, beside Python."""

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T", bound=type)

EXTRAS = {
    "tables": ("ibis", "duckdb", "sqlglot", "pyarrow", "pandas", "polars"),
    "spark": ("pyspark",),
    "postgres": ("psycopg",),
    "server": ("fastapi", "starlette", "uvicorn", "httpx", "argon2"),
    "mcp": ("mcp", "mcp_types"),
    "plots": ("matplotlib",),
}
"""The optional extras of the package, and the modules that each installs."""


class Refused(ValueError):
    """A request that cannot be granted. Raised before data is read; everything in it is public."""

    def __init__(
        self,
        code: str,
        place: str,
        reason: str,
        rewrite: str = "",
        *,
        forms: Mapping[Language, str] | None = None,
        part: object = None,
    ) -> None:
        super().__init__(code, place, reason, rewrite)
        self.code = code
        self.place = place
        self.reason = reason
        self.rewrite = rewrite
        self.forms = dict(forms or {})
        self.part = part  # of a parsed text, for who looks for a rewrite; never shown or sent

    def __str__(self) -> str:
        lines = [f"refused [{self.code}]  {self.place}"]
        if "\n" in self.place:  # with a mark below: Python writes more before the first line
            lines = [f"refused [{self.code}]"]
            lines += [f"      {line}" for line in self.place.split("\n")]
        lines.append(f"why   {self.reason}")
        if self.rewrite:
            lines.append(f"try   {self.rewrite}")
        return "\n".join(lines)

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return render_box(self)

    def record(self) -> dict[str, str]:
        """Return the four parts, to send them to another process."""
        return {
            "code": self.code,
            "place": self.place,
            "reason": self.reason,
            "rewrite": self.rewrite,
        }

    @classmethod
    def restore(cls, record: Mapping[str, str]) -> Self:
        """Build the refusal that another process sent as its `record`."""
        return cls(record["code"], record["place"], record["reason"], record["rewrite"])

    def replace(
        self,
        *,
        place: str | None = None,
        reason: str | None = None,
        rewrite: str | None = None,
        part: object = None,
    ) -> Self:
        """Return the same refusal with another place, reason, rewrite or part of a text."""
        return type(self)(
            self.code,
            self.place if place is None else place,
            self.reason if reason is None else reason,
            self.rewrite if rewrite is None else rewrite,
            forms=self.forms,
            part=self.part if part is None else part,
        )

    def without_part(self) -> Self:
        """Return the same refusal, which no longer holds a part of a parsed text."""
        return type(self)(self.code, self.place, self.reason, self.rewrite, forms=self.forms)


class RefusedName(Refused, AttributeError):
    """A name that an object does not have, and what the same is called here."""


class UnitWarning(UserWarning):
    """A table without a unit has a column that looks like an identifier of people: then all rows of
    one person together are not protected.
    """


class DeltaWarning(UserWarning):
    """A budget whose δ allows that some units are published in full: n·δ is 0.01 or more."""


@dataclass(frozen=True, slots=True)
class RefusalText:
    """One entry of a catalogue of refusals: call it with its fields to get the refusal.

    `place`, `reason`, `rewrite` and `shell` are format strings: `{name!r:.40}` is a field. Every
    package keeps its entries in one module named `…_refusals`, so that they can be read as a whole.

    `rewrite` is for callers in Python. `shell` has the options that a command needs instead. `sql`
    stands in a SELECT in the place of the refused argument; the reader of SQL fills its field:
    {of} is the first argument, {by} the second.
    """

    code: str
    place: str
    reason: str
    rewrite: str = ""
    kind: type[Refused] = Refused
    sql: str = ""
    shell: str = ""

    def __call__(self, /, **fields: object) -> Refused:
        forms: dict[Language, str] = {"sql": self.sql} if self.sql else {}
        if self.shell:
            forms["shell"] = self.shell.format(**fields)
        return self.kind(
            self.code,
            self.place.format(**fields),
            self.reason.format(**fields),
            self.rewrite.format(**fields),
            forms=forms,
        )


class Failed(RuntimeError):
    """Something broke after data was read. The text never varies: a varying message could reveal
    something about a person.
    """

    TEXT = (
        "failed: the answer could not be made; what was charged for it stays charged\n"
        "why   the source or its engine broke, or a service's deadline passed; this text never "
        "says which\n"
        "try   check the source, or ask the owner of the service for a longer deadline; then ask "
        "again, which is a new charge"
    )

    def __init__(self) -> None:
        super().__init__(self.TEXT)

    def __reduce__(self) -> tuple[type[Failed], tuple[()]]:
        """Pickle without arguments: the text is constant."""
        return Failed, ()

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return render_box(self)


_PACKAGE = str(Path(__file__).parent) + os.sep
_RED, _BOLD, _GREEN, _DIM, _PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[32m", "\x1b[2m", "\x1b[0m"
_COLOURS = {
    "refused": _RED + _BOLD,
    "failed:": _RED + _BOLD,
    "why": _BOLD,
    "try": _GREEN + _BOLD,
}
"""The first word of a line → its colour."""
_RULE = _RED + "─" * 72 + _PLAIN


def trim_frames(function: F) -> F:
    """Let a public function raise refusals and failures without its inner frames."""

    @wraps(function)
    def call(*arguments: object, **keywords: object) -> object:
        try:
            return function(*arguments, **keywords)
        except (Refused, Failed) as error:
            if os.environ.get("SFUMATO_DEBUG") == "1":
                raise
            raise error.with_traceback(None) from None

    return cast(F, call)


def trim_methods(of: T) -> T:
    """Let the public methods of a class, and its `[…]`, raise as `trim_frames` does."""
    for name, method in list(vars(of).items()):
        if isinstance(method, FunctionType) and (name == "__getitem__" or name[0] != "_"):
            setattr(of, name, trim_frames(method))
    return of


def render_box(error: Refused | Failed) -> list[str]:
    """Return the text of an error in colour, between two rules, and the caller's own line. The
    rules stand above and below alone, so that a rewrite can be copied.
    """
    lines = [_RULE]
    for line in printable(str(error)).split("\n"):
        first, rest = line[:7].partition(" ")[0], line
        if first in _COLOURS:
            rest = f"{_COLOURS[first]}{first}{_PLAIN}{line[len(first) :]}"
        elif line.strip().startswith("^"):
            rest = f"{_RED}{line}{_PLAIN}"
        lines.append(rest)
    caller = _line_of_caller(error.__traceback__)
    return [*lines, *([f"{_DIM}{caller}{_PLAIN}"] if caller else []), _RULE]


def printable(text: str) -> str:
    """Escape characters that would move the cursor or recolour the screen: a refusal quotes what
    the user typed.
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def _line_of_caller(traceback: TracebackType | None) -> str:
    """Return the number and the text of the last line that is not of this package."""
    text = ""
    for frame, number in walk_tb(traceback):
        path = frame.f_code.co_filename
        if not path.startswith(_PACKAGE):
            source = linecache.getline(path, number, frame.f_globals).strip()
            text = f"line {number}: {printable(source)}" if source else ""
    return text


def install_command(extras: str) -> str:
    """Return the command that installs extras: in a clone, and with the name in a package index."""
    return f"pip install '.[{extras}]'  # in a clone; elsewhere 'sfumato[{extras}]'"


PACKAGE_MISSING = RefusalText(
    "package.missing",
    "{module}",
    "this needs {module}, which is not installed",
    install_command("{extra}"),
)


def name_extras(function: F) -> F:
    """Let a function refuse with the extra to install where a module is missing."""

    @wraps(function)
    def call(*arguments: object, **keywords: object) -> object:
        try:
            return function(*arguments, **keywords)
        except ModuleNotFoundError as error:
            raise missing_package(error) or error from None

    return cast(F, call)


def missing_package(error: ModuleNotFoundError) -> Refused | None:
    """Return a refusal that names the extra to install; None if no extra has the module."""
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules:
            return PACKAGE_MISSING(module=module, extra=extra)
    return None
