"""One row is all that a scalar function needs: a toy function, added in a fresh process, is a
method, a word of SQL, a form of the client's SQL, a line of the stub and a row of the reference.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"

SCRIPT = """
import sys

from sfumato.tables.expr import engine_values as ev
from sfumato.tables.expr import functions_arithmetic as family
from sfumato.tables.expr.promotion import convert
from sfumato.tables.expr.scalar_function import NUMBER, Function, always
from sfumato.tables.expr.types import FLOAT

family.FUNCTIONS += (
    Function(
        name="midpoint",
        group="arithmetic",
        takes=(NUMBER, NUMBER),
        gives=always(FLOAT),
        build=lambda values, arguments, result: (
            convert(values[0], arguments[0], FLOAT) + convert(values[1], arguments[1], FLOAT)
        )
        / ev.number(2),
        passes_nan=True,
        sql=("MIDPOINT({all})", "CENTRE({all})"),
        parameters="other",
        rule="the number in the middle of two, a float64",
    ),
)

import sfumato as sf
from sfumato.client.to_sql import query_to_sql
from sfumato.testing.exact_checks import through_the_door

TEXT = "SELECT COUNT(*) AS n FROM visits WHERE MIDPOINT(age, 10) > 25"
condition = sf.col("age").midpoint(other=10) > 25
assert condition.text == "midpoint(age, 10) > 25"

with sf.protect(
    sf.samples.visits(), name="visits", unit="user_id", max_rows=4, budget=10
) as visits:
    query = visits.rows.where(condition).aggregate(n=sf.count())
    assert query_to_sql(query) == TEXT
    older = visits.rows.where(sf.col("age") > 40).aggregate(n=sf.count())
    tallies = [
        [list(piece.values) for piece in through_the_door(visits.plan(asked, epsilon=1)).pieces]
        for asked in (query, TEXT, TEXT.replace("MIDPOINT", "CENTRE"), older)
    ]
    assert tallies[0] == tallies[1] == tallies[2] == tallies[3]
    assert any(any(values) for values in tallies[0])

sys.path.insert(0, sys.argv[1])
import reference

assert "    def midpoint(self, other: object) -> Expr: ...\\n" in reference.methods()
row = "| `midpoint` | `x.midpoint(y)`: the number in the middle of two, a float64 |"
assert row in reference.expressions()
print("all from one row")
"""


def test_a_toy_function_takes_one_row() -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error::SyntaxWarning", "-c", SCRIPT, str(DOCS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == "all from one row\n", ran.stderr
