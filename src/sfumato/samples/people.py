"""The 5,000 invented customers of `visits` as a doctor might list them: one row for each person,
with a rare disease.

*Columns*  user_id int64 · sex string · born date32 · age int64, at the beginning of 2026 · city
           string, where they live · disease string
*Shape*    Half are women. Nine in ten are well; asthma and diabetes are common; about one person in
           five hundred has porphyria.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..errors import name_extras
from .visits import CITIES, SEED, USERS, Uniform, customers

if TYPE_CHECKING:
    import pyarrow as pa

DISEASES = {"none": 0.9, "asthma": 0.06, "diabetes": 0.038, "porphyria": 0.002}
"""Disease → share of people who have it."""


@name_extras
@lru_cache(maxsize=1)
def people() -> pa.Table:
    """Return the table, a `pyarrow.Table`."""
    import pyarrow as pa

    customer, uniform = customers(Uniform(SEED)), Uniform(SEED + 1)
    woman = uniform(USERS) < 0.5
    ill = np.searchsorted(np.cumsum(list(DISEASES.values())), uniform(USERS), side="right")
    birthday = np.floor(365 * uniform(USERS)).astype("timedelta64[D]")
    born = (2025 - 1970 - customer.age).astype("datetime64[Y]").astype("datetime64[D]") + birthday
    return pa.table(
        {
            "user_id": 100_000 + np.arange(USERS),
            "sex": pa.array(np.where(woman, "female", "male").astype(object), type=pa.string()),
            "born": pa.array(born, type=pa.date32()),
            "age": customer.age,
            "city": pa.array(np.array(list(CITIES), dtype=object)[customer.home], type=pa.string()),
            "disease": pa.array(
                np.array(list(DISEASES), dtype=object)[np.minimum(ill, len(DISEASES) - 1)],
                type=pa.string(),
            ),
        }
    )
