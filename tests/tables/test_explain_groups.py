"""From which size on a group is shown: in the plan, as a warning, in the answer, and with remedies
that paste.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.session.protected_table import Table

COUNTED = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


@pytest.fixture(scope="module")
def visits() -> Table:
    rows = 400
    table = pa.table(
        {
            "user": np.arange(rows) % 100,
            "city": np.array(["Roma", "Bari"])[np.arange(rows) % 2],
            "day": np.datetime64("2026-01-01", "D") + np.arange(rows) % 90,
            "x": np.arange(rows) % 10,
        }
    )
    return sf.protect(
        table,
        name="visits",
        unit="user",
        max_rows=8,
        bounds={"x": (0, 10)},
        budget=sf.Approx(100, "1e-3"),
    )


def test_plans_say_it_in_one_line(visits: Table) -> None:
    plan = visits.plan(COUNTED, promise=sf.Approx(1, "1e-9"))
    (line,) = re.findall(r"^groups  (.*)$", plan.explain(), re.MULTILINE)
    assert line == "of 173 rows are shown half of the time, of 205 rows with 99 %"
    assert "\nrule    a group is shown from about 173 rows on\n" in plan.explain()
    assert plan.warnings == ()
    mean = visits.plan("SELECT city, AVG(x) AS m FROM visits GROUP BY city", epsilon=1)
    assert re.search(r"^groups  of \d+ different user are shown", mean.explain(), re.MULTILINE)


def test_public_keys_need_no_size(visits: Table) -> None:
    plan = visits.plan(visits.group_by(city=["Roma"]).aggregate(n=sf.count()), epsilon=1)
    assert "groups  " not in plan.explain()
    assert plan.warnings == ()


def test_a_size_above_a_thousand_is_a_warning_before_payment(visits: Table) -> None:
    plan = visits.plan(COUNTED, promise=sf.Approx("0.1", "1e-9"))
    (warning,) = plan.warnings
    assert f"warning {warning}" in plan.explain()
    assert re.match(r"groups of less than about 1,\d\d\d (rows|different user) are", warning)
    small = sf.protect(
        pa.table({"user": [1], "city": ["Roma"]}),
        name="small",
        unit="user",
        max_rows=8,
        table_rows=100,
        budget=sf.Approx(9, "1e-6"),
    )
    text = COUNTED.replace("visits", "small")
    assert small.plan(text, promise=sf.Approx(1, "1e-9")).warnings  # more than the table may have
    assert not small.plan(text, promise=sf.Approx(4, "1e-9")).warnings


def test_an_answer_without_a_group_says_what_helps(visits: Table) -> None:
    answer = visits.sql(COUNTED, promise=sf.Approx("0.1", "1e-9"))
    assert answer.rows == ()
    assert re.match(r"a group is shown from about [\d,]+ .* on$", answer.rules[-2])
    remedy = answer.rules[-1]
    assert remedy.startswith("no group was large enough; to show smaller ones: ")
    keys = re.search(r"keys=(\{.*?\})", remedy)
    assert keys is not None
    assert eval(keys[1]) == {"city": ["first", "second"]}
    assert "max_groups=2" in remedy
    assert "epsilon=0.2" in remedy
    assert " ".join(remedy.split()) in " ".join(str(answer).split())


def test_dates_get_a_calendar_that_pastes(visits: Table) -> None:
    answer = visits.sql(
        "SELECT day, COUNT(*) AS n FROM visits GROUP BY day", promise=sf.Approx("0.1", "1e-9")
    )
    calendar = re.search(r"CALENDAR\(.*?'\)", answer.rules[-1])
    assert calendar is not None
    months = visits.sql(
        f"SELECT {calendar[0]} AS month, COUNT(*) AS n FROM visits GROUP BY month", epsilon=1
    )
    assert len(months.rows) == 12
    assert "keys=" not in answer.rules[-1]


def test_an_answer_with_groups_has_no_remedy(visits: Table) -> None:
    answer = visits.sql(COUNTED, promise=sf.Approx(4, "1e-9"))
    assert answer.rows == (("Bari",), ("Roma",))
    assert answer.rules[-1].startswith("a group is shown from about ")
