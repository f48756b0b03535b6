"""Constants that all dialects share: regular expressions of texts that can be cast to numbers, days
and truth values, and doubles written as text.

*Texts*   are cast where DuckDB casts them, too: 42, -1.5, 2e3, 2026-01-31, 2026-01-31 12:30:00. The
          regular expressions mean the same in every engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt

    from ....errors import RefusalText

NUMBER = "^[+-]?([0-9]{1,255}[.]?[0-9]{0,255}|[.][0-9]{1,255})([eE][+-]?[0-9]{1,4})?$"
INFINITE = "^[+-]?inf(inity)?$"  # in small letters
DAY = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
MOMENT = (
    f"^{DAY}([ T][0-9]{{1,2}}:[0-9]{{2}}(:[0-9]{{2}}([.][0-9]{{1,6}})?)?"
    "(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"
)
BOOL_OF_TEXT = (
    "CASE WHEN lower(a_) IN ('true', 't', '1', 'yes', 'y') THEN TRUE WHEN lower(a_) IN "
    "('false', 'f', '0', 'no', 'n') THEN FALSE END"
)

MOST_DIGITS = 18
"""The most digits of a decimal that a float is cast to: the scaled value is a 64-bit integer."""


def double(value: float, kind: str) -> str:
    """Write a double exactly; `kind` is the engine's name of the type."""
    return (
        f"CAST('{value!r}' AS {kind})".replace("'inf'", "'Infinity'")
        .replace("'-inf'", "'-Infinity'")
        .replace("'nan'", "'NaN'")
    )


def check_digits(to: dt.Decimal, too_long: RefusalText) -> None:
    """Refuse to cast a float to a decimal with more digits than a float has. `too_long` is the
    engine's refusal.
    """
    if to.precision > MOST_DIGITS:
        raise too_long(
            precision=to.precision,
            scale=to.scale,
            most_digits=MOST_DIGITS,
            most_scale=min(to.scale, MOST_DIGITS),
        )
