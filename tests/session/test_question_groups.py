"""The limit of groups for private keys: learned with other limits, and for these keys alone."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.session.protected_table import Table
from sfumato.session.question_groups import lacks_groups
from sfumato.tables.plan.missing_limits import MissingLimit

from .test_learning import rows

pytestmark = pytest.mark.usefixtures("certain")

BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
PEOPLE = "SELECT city, COUNT(DISTINCT u) AS n FROM visits GROUP BY city"
BUDGET = sf.Approx(1000, "1e-3")


def table(**about: Any) -> Table:
    return sf.protect(rows(), **{"name": "visits", "unit": "u", "budget": BUDGET, **about})


def groups_of(visits: Table, text: str) -> int:
    plan: Any = visits.plan(text, epsilon=60)
    return int(plan.calibration.bounding.groups)


def spent(visits: Table) -> Fraction:
    return visits.ledger.account().spent[0]


def test_it_is_learned_at_the_same_price_and_for_its_keys() -> None:
    """Every unit is in two cities. Votes need no more than one group; counts of people need two."""
    with table() as visits:
        answer = visits.sql(BY_CITY, epsilon=60)
        assert answer.rules[-1].endswith("rows per unit, groups by city per unit")
        assert spent(visits) == 70
        assert groups_of(visits, BY_CITY) == 1
        assert groups_of(visits, PEOPLE) == 2
        assert visits.declaration.max_groups is None
        assert "votes" not in " ".join(answer.rules)  # the count itself says which are shown
        explained = " ".join(visits.explain_sql(PEOPLE, epsilon=60).split())
        assert "in more than 2 groups counts as 2, split over them (learned" in explained
        assert visits.sql(BY_CITY, epsilon=60).recalled
        visits.sql(PEOPLE, epsilon=60)
        assert spent(visits) == 130


def test_later_questions_have_it_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    with table(ledger=path) as visits:
        visits.sql(BY_CITY, epsilon=60)
    with table(ledger=path) as visits:
        visits.sql(PEOPLE, epsilon=60)
        assert groups_of(visits, PEOPLE) == 2
        assert spent(visits) == 130


def test_nobody_pays_for_it_alone() -> None:
    """Another key, when all that the question needs is known: votes are spread over all groups."""
    with table() as visits:
        visits.learn(epsilon=60)
        before = spent(visits)
        assert groups_of(visits, BY_CITY) == 1
        assert groups_of(visits, PEOPLE) == 4, "as many as the limit of rows"
        visits.sql(BY_CITY, epsilon=60)
        assert spent(visits) == before + 60


@pytest.mark.parametrize(
    ("text", "about", "needed"),
    [
        (BY_CITY, {"max_rows": 4}, True),
        (BY_CITY, {"max_rows": 4, "max_groups": 2}, False),
        (BY_CITY, {"max_rows": 4, "keys": {"city": ["Roma"]}}, False),
        ("SELECT COUNT(*) AS n FROM visits", {"max_rows": 4}, False),
        (
            (
                "SELECT city, COUNT(*) AS n FROM (SELECT u, MIN(city) AS city FROM visits "
                "GROUP BY u) AS t GROUP BY city"
            ),
            {"max_rows": 4},
            False,
        ),
        (
            "SELECT LOWER(city) AS city, COUNT(*) AS n FROM visits GROUP BY 1",
            {"max_rows": 4},
            False,
        ),
    ],
)
def test_which_questions_lack_it(text: str, about: dict[str, Any], *, needed: bool) -> None:
    with table(**about) as visits:
        plan: Any = visits.plan(text, epsilon=60)
        limit = MissingLimit("max_groups", ("city",))
        assert lacks_groups(plan.query) == (limit if needed else None)


def test_what_the_owner_declared_is_not_changed() -> None:
    with table(max_rows=4) as visits:
        assert groups_of(visits, BY_CITY) == 4
    with table(max_groups=3) as visits:
        visits.sql(BY_CITY, epsilon=60)
        assert groups_of(visits, BY_CITY) == 3
