"""The two ways a call can end without an answer.

Refused   before any data is read: says what is wrong, where, why, and what would pass. Nothing was
read, nothing was spent. Failed after data was read: one constant text, so that the failure itself
tells nothing about the data.
"""

from __future__ import annotations

EXTRAS = {
    "tables": ("ibis", "duckdb", "sqlglot", "pyarrow", "pandas", "polars"),
    "spark": ("pyspark",),
    "postgres": ("psycopg",),
    "server": ("fastapi", "starlette", "uvicorn", "httpx", "argon2"),
    "plots": ("matplotlib",),
}
"""What is installed on request, and the modules that come with it."""


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


class Failed(RuntimeError):
    """Something broke after data was read. The text never varies: a message that did could be a
    message about a person.
    """

    TEXT = "failed: the answer could not be made; what was charged for it stays charged"

    def __init__(self) -> None:
        super().__init__(self.TEXT)

    def __reduce__(self) -> tuple[type[Failed], tuple[()]]:
        """From one process to another: the text is all there is."""
        return Failed, ()


def missing(error: ModuleNotFoundError) -> Refused | None:
    """What to install for a module that is not there; None for one that no extra brings."""
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules:
            return Refused(
                "package.missing",
                module,
                f"this needs {module}, which is not installed",
                f"pip install 'sfumato[{extra}]'",
            )
    return None
