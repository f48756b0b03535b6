"""The two ways a call can end without an answer.

Refused   Raised before any data is read. It says what is wrong, where, why, and what would pass.
          Nothing was read, nothing was spent.
Failed    Raised after data was read. Its text is constant, so that the failure itself tells nothing
          about the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

EXTRAS = {
    "tables": ("ibis", "duckdb", "sqlglot", "pyarrow", "pandas", "polars"),
    "spark": ("pyspark",),
    "postgres": ("psycopg",),
    "server": ("fastapi", "starlette", "uvicorn", "httpx", "argon2"),
    "plots": ("matplotlib",),
}
"""The optional extras of the package, and the modules that each installs."""


class Refused(ValueError):
    """A request that cannot be granted. Raised before data is read; everything in it is public."""

    def __init__(self, code: str, place: str, reason: str, rewrite: str = "") -> None:
        super().__init__(code, place, reason, rewrite)
        self.code = code
        self.place = place
        self.reason = reason
        self.rewrite = rewrite

    def __str__(self) -> str:
        lines = [f"refused [{self.code}]  {self.place}", f"why   {self.reason}"]
        if self.rewrite:
            lines.append(f"try   {self.rewrite}")
        return "\n".join(lines)

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
        self, *, place: str | None = None, reason: str | None = None, rewrite: str | None = None
    ) -> Self:
        """Return the same refusal with another place, reason or rewrite."""
        return type(self)(
            self.code,
            self.place if place is None else place,
            self.reason if reason is None else reason,
            self.rewrite if rewrite is None else rewrite,
        )


@dataclass(frozen=True, slots=True)
class RefusalText:
    """One entry of a catalogue of refusals: call it with its fields to get the refusal.

    `place`, `reason` and `rewrite` are format strings: `{name!r:.40}` is a field. Every package
    keeps its entries in one module named `…_refusals`, so that they can be read as a whole.
    """

    code: str
    place: str
    reason: str
    rewrite: str = ""
    kind: type[Refused] = Refused

    def __call__(self, /, **fields: object) -> Refused:
        return self.kind(
            self.code,
            self.place.format(**fields),
            self.reason.format(**fields),
            self.rewrite.format(**fields),
        )


class Failed(RuntimeError):
    """Something broke after data was read. The text never varies: a varying message could reveal
    something about a person.
    """

    TEXT = "failed: the answer could not be made; what was charged for it stays charged"

    def __init__(self) -> None:
        super().__init__(self.TEXT)

    def __reduce__(self) -> tuple[type[Failed], tuple[()]]:
        """Pickle without arguments: the text is constant."""
        return Failed, ()


PACKAGE_MISSING = RefusalText(
    "package.missing",
    "{module}",
    "this needs {module}, which is not installed",
    "pip install 'sfumato[{extra}]'",
)


def missing_package(error: ModuleNotFoundError) -> Refused | None:
    """Return a refusal that names the extra to install; None if no extra has the module."""
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules:
            return PACKAGE_MISSING(module=module, extra=extra)
    return None
