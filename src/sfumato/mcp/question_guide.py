"""Write the guide to questions that a program reads before it asks: from the tables of the SQL
reader, so that it names what is accepted now.
"""

from __future__ import annotations

from ..sql.sql_functions import function_names
from ..tables.aggregates import KINDS

GUIDE = """\
# Questions that are answered

One SELECT over the tables of a dataset. Every column is an aggregate, a key of GROUP BY, or \
arithmetic on these. Rows are never shown.

Example: SELECT city, COUNT(*) AS n, AVG(spend) AS mean FROM visits WHERE age >= 18 GROUP BY city

## Aggregates

{aggregates}

## Functions of a row

{functions}

## What costs less

- COUNT, SUM, AVG, VARIANCE of one column together cost as much as one of them.
- One GROUP BY costs as much as one group: do not ask for groups one by one.
- WHERE, CASE, HAVING, ORDER BY, LIMIT cost nothing.
- Keys that are declared public need no threshold; others are shown only where many people are.
- `within` asks for an accuracy, and finds the least ε for it.
- The same question again is free.

## How to read a refusal

refused [code] place: what is refused, and where. why: the reason. try: a text that is accepted; \
send it as it is. After a refusal nothing was read and nothing was spent.
"""


def write_guide() -> str:
    """Return the guide as Markdown."""
    forms = {
        kind.client.format(of="x", by="y", q="0.5", edges="0, 10, 20", unit="unit"): kind.about
        for kind in KINDS.values()
    }
    return GUIDE.format(
        aggregates="\n".join(f"- {form}: {about}" for form, about in forms.items()),
        functions=", ".join(name.upper() for name in function_names()),
    )
