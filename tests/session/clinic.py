"""Four tables: patients, their visits, tests of visits, and public cities. Keys repeat, lead
nowhere and are null here and there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.session import Database
from sfumato.tables.plan.query_plan import Plan
from sfumato.testing.exact_checks import through_the_door

TABLES = {
    "patients": pa.table(
        {"id": [1, 2, 3, 4], "age": [30, 40, 50, None], "city": ["Roma", "Bari", "Roma", "Oslo"]}
    ),
    "visits": pa.table(
        {
            "number": [10, 11, 12, 13, 14, 15],
            "patient_id": [1, 1, 2, 3, 9, None],
            "spend": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            "city": ["Roma", "Bari", "Bari", "Roma", "Oslo", "Roma"],
        }
    ),
    "tests": pa.table({"visit": [10, 10, 12, 99, 14, 15], "value": [5, 6, 7, 8, 9, 9]}),
}
CITIES = pa.table(
    {"city": ["Roma", "Bari", "Bari", None], "region": ["L", "P", "Q", None], "size": [3, 1, 1, 0]}
)
DECLARED: dict[str, Any] = {
    "unit": "patients.id",
    "links": {"visits.patient_id": "patients.id", "tests.visit": "visits.number"},
    "max_rows": 3,
    "bounds": {"visits.spend": (0, 10), "tests.value": (0, 10), "patients.age": (0, 100)},
    "keys": {"cities.region": ["L", "P", "Q"]},
}


def clinic(**changes: Any) -> Database:
    about = {**DECLARED, "public": {"cities": CITIES}, "budget": sf.Approx(1000, "1e-3"), **changes}
    db: Database = sf.protect(TABLES, **about)
    return db


def counted(db: Database, text: str) -> list[float]:
    """The first column of an answer, without noise; of each group."""
    plan = db.plan(text, promise=sf.Approx(1, "1e-6"))
    assert isinstance(plan, Plan)
    piece = through_the_door(plan).pieces[plan.columns[0].components[0]]
    return [float(value * piece.step) for value in piece.values.ravel()]


def hospital(units: int = 1200, **changes: Any) -> Database:
    """Of which little is declared: every patient has three or four visits, with spend between 4 and
    8, for one in twenty 40; a visit two tests, of 5 to 7.
    """
    owner = np.repeat(np.arange(units), 3 + np.arange(units) % 2)
    number = np.arange(len(owner))
    tables = {
        "patients": pa.table({"id": np.arange(units), "age": 20 + np.arange(units) % 41}),
        "visits": pa.table(
            {
                "number": number,
                "patient_id": owner,
                "spend": np.where(owner % 20 == 0, 40.0, 4 + number % 4),
                "age": 1 + number % 2,
            }
        ),
        "tests": pa.table(
            {"visit": np.repeat(number, 2), "value": 5 + np.arange(2 * len(number)) % 3}
        ),
    }
    about = {
        "unit": "patients.id",
        "links": DECLARED["links"],
        "public": {"days": pa.table({"day": [5, 6], "length": [7.5, 8.0]})},
        "budget": 1000,
    }
    db: Database = sf.protect(tables, **{**about, **changes})
    return db
