"""The people are those of the visits, the same on every machine."""

from __future__ import annotations

import hashlib
from collections import Counter

import pyarrow as pa

from sfumato.samples import people, visits
from sfumato.samples.people import DISEASES
from sfumato.samples.visits import CITIES, USERS


def test_one_row_a_person() -> None:
    table = people()
    names = {
        "user_id": pa.int64(),
        "sex": pa.string(),
        "born": pa.date32(),
        "age": pa.int64(),
        "city": pa.string(),
        "disease": pa.string(),
    }
    assert table.schema == pa.schema(list(names.items()))
    assert len(set(table["user_id"].to_pylist())) == table.num_rows == USERS
    assert not any(table[name].null_count for name in table.column_names)
    assert set(table["city"].to_pylist()) == set(CITIES)


def test_they_are_the_customers() -> None:
    ages = dict(zip(*(people()[name].to_pylist() for name in ("user_id", "age")), strict=True))
    assert all(
        ages[user] == age
        for user, age in zip(
            *(visits()[name].to_pylist() for name in ("user_id", "age")), strict=True
        )
    )


def test_everybody_is_as_old_as_they_were_born() -> None:
    assert all(
        born.year + age == 2025
        for born, age in zip(*(people()[name].to_pylist() for name in ("born", "age")), strict=True)
    )


def test_one_disease_is_rare() -> None:
    result = Counter(people()["disease"].to_pylist())
    assert list(DISEASES) == [name for name, _ in result.most_common()]
    assert 3 <= result["porphyria"] <= 20


def test_it_is_the_same_everywhere() -> None:
    assert (
        hashlib.sha256(repr(people().to_pydict()).encode()).hexdigest()[:16] == "063d73e60627fd04"
    )
