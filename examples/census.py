"""Publish a census of an invented island: counts by sex and age, from the island down to villages,
for one cost. The tables are whole, not negative, and add up.
"""

import numpy as np

import sfumato as sf

places = {
    "North": {"Aster": ["Alm", "Arn", "Ash"], "Birch": ["Bay", "Bel"]},
    "South": {"Cedar": ["Cap", "Cor", "Cul", "Cyr"], "Dahlia": ["Dor"]},
}
geography = sf.hierarchy("province", "county", "village", places=places)
AGES = ["0-17", "18-64", "65+"]

# invented people; a statistical office reads a file here
random = np.random.default_rng(2026)
sizes = [210, 4, 35, 90, 1, 330, 12, 60, 7, 140]
paths = [path for path, size in zip(geography.paths, sizes, strict=True) for _ in range(size)]
rows = {
    "province": [path[0] for path in paths],
    "county": [path[1] for path in paths],
    "village": [path[2] for path in paths],
    "sex": random.choice(["f", "m"], len(paths)).tolist(),
    "age": random.choice(AGES, len(paths), p=[0.2, 0.6, 0.2]).tolist(),
}


def as_frame(columns):
    import pyarrow as pa

    return pa.table(columns)


people = sf.protect(
    as_frame(rows),
    name="people",
    each_row_a_person=True,
    keys={geography.levels: geography, "sex": ["f", "m"], "age": AGES},
    budget=sf.ZCDP(2),
)

# what it would cost, and how exact it would be: free of charge
settings = {
    "geography": ["province", "county", "village"],
    "cells": ["sex", "age"],
    "tables": {"total": 2, ("sex", "age"): 1},
    "levels": {"province": 1, "county": 2, "village": 2},
    "rho": "1/2",
}
print(sf.plan_census(people, **settings))

census = sf.census(people, **settings)
print(f"\n{census}\n")
print("county     count  estimate  95 % interval")
for row in census.table("county").to_pylist():
    print(
        f"{row['county']:9} {row['count']:6}  {row['estimate']:8.1f}  "
        f"{row['low']:.1f} to {row['high']:.1f}"
    )

# a coast that follows no county: any union of villages
(coast,) = census.area(["Alm", "Cap", "Dor"]).to_pylist()
print(f"\nthe coast: {coast['count']} people, {coast['low']:.0f} to {coast['high']:.0f}")

# one row for each person counted: all tables of these rows are those of the census
print(f"micro-data: {census.people().num_rows} rows")

# a total that the registry has published already: no further cost
again = sf.census(people, **settings, public={"province": {"North": 340}})
print(f"with a public total: {again.table('province').column('count').to_pylist()}")
print(f"spent: {people.spent}")
