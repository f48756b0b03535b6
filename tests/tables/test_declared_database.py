"""The declaration of several tables: through a file and back, and refused where it does not hold
together.
"""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.tables.declare.declared_database import DatabaseDeclaration

from ..session.clinic import CITIES, TABLES, clinic


@pytest.fixture(scope="module")
def text() -> str:
    with clinic(
        relation="replace", version="2026-03", table_rows={"tests": 2**20}, max_groups={"visits": 2}
    ) as db:
        return db.declaration.to_toml()


def test_through_a_file_and_back(text: str) -> None:
    declaration = DatabaseDeclaration.from_toml(text)
    assert declaration.to_toml() == text
    with sf.protect(TABLES, public={"cities": CITIES}, budget=1, **declaration.arguments) as db:
        assert db.declaration == declaration
        assert db["tests"].declaration.unit == ("patients_id",)
        assert {table.unit_name for table in declaration.tables} == {"patients.id"}


def test_nothing_of_the_data_is_in_it(text: str) -> None:
    assert "Oslo" not in text


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('sfumato = "database"', 'sfumato = "declaration"', "table.stored"),
        ("version = 1\n\n[database]", "version = 2\n\n[database]", "table.stored"),
        ("[links]", "[more]\n[links]", "table.stored"),
        ('unit = ["patients.id"]', 'unit = "patients.id"', "table.stored"),
        ('name = "visits"', 'name = "visit"', "table.stored"),
        ('unit = ["patient_id"]', 'unit = ["number"]', "table.column"),
        (
            '"visits.patient_id" = "patients.id"',
            '"visits.patient_id" = "patients.nothing"',
            "table.column",
        ),
        ('"visits.patient_id" = "patients.id"\n', "", "table.links"),
        ('relation = "replace"', 'relation = "add-remove"', "table.links"),
        ('[public."cities"', '[public."Visits"', "table.stored"),
        ("[links]", "[links", "table.stored"),
    ],
)
def test_refused(text: str, old: str, new: str, code: str) -> None:
    assert old in text
    with pytest.raises(Refused) as caught:
        DatabaseDeclaration.from_toml(text.replace(old, new, 1))
    assert caught.value.code == code
