"""How long a census takes, how much memory it needs, and how large its errors are.

*Data*      Invented people from a fixed seed: one state, 30 counties, 700 tracts, 2,300 groups and
            60,000 blocks; 2 × 2 × 63 cells (voting age, hispanic, race); as an Arrow table of one
            row for each person.
*Measured*  CPU seconds of the whole process for `sf.census` as a user calls it: count in DuckDB,
            draw exact noise, store, estimate, round; and the most memory. Errors are root mean
            squares against the invented truth.
*Naive*     Whole numbers from the top without a pass of totals: each cell of a place is dealt to
            its children by itself.

`--blocks` and `--people` change the size; `--markdown` prints for a page.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sfumato as sf
from sfumato.studies.census_settings import round_from_top
from sfumato.tables.declare.place_hierarchy import PlaceHierarchy
from telling import as_columns, as_pipes

LEVELS = ("state", "county", "tract", "group", "block")
CELLS = {"adult": [False, True], "hispanic": [False, True], "race": list(range(63))}
TABLES = {"total": 4, ("adult", "hispanic"): 5, "race": 5, "detail": 6}
WEIGHTS = {"state": 2, "county": 4, "tract": 5, "group": 3, "block": 6}
SIZES = (1, 30, 700, 2_300)


def invent(blocks: int, people: int, seed: int = 0) -> tuple[PlaceHierarchy, pa.Table]:
    """Invent places, and people who live there: races differ by county, blocks by size."""
    random = np.random.default_rng(seed)
    above = [
        np.sort(np.r_[np.arange(parents), random.integers(0, parents, size - parents)])
        for parents, size in zip(SIZES, [*SIZES[1:], blocks], strict=True)
    ]
    size = random.negative_binomial(1, 1 / 31, blocks)
    chosen = random.choice(blocks, people, p=size / size.sum())
    at = [np.sort(chosen)]
    for parents in above[::-1]:
        at.insert(0, parents[at[0]])
    races = random.dirichlet(np.r_[np.full(6, 2.0), np.full(57, 0.02)], SIZES[1])
    uniform = random.random(people)
    race = np.zeros(people, dtype=np.int64)
    for county in range(SIZES[1]):
        here = at[1] == county
        race[here] = np.searchsorted(np.cumsum(races[county]), uniform[here]).clip(0, 62)
    ids = [np.arange(blocks)]
    for parents in above[::-1]:
        ids.insert(0, parents[ids[0]])
    places = pa.table(dict(zip(LEVELS, ids, strict=True)))
    table = pa.table(
        {
            **dict(zip(LEVELS, at, strict=True)),
            "adult": random.random(people) < 0.77,
            "hispanic": random.random(people) < 0.2,
            "race": race,
        }
    )
    return sf.hierarchy(*LEVELS, places=places), table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=60_000)
    parser.add_argument("--people", type=int, default=2_000_000)
    parser.add_argument("--naive", action="store_true", help="measure the naive rounding, too")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    geography, table = invent(options.blocks, options.people)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    people = sf.protect(table, name="people", budget=sf.ZCDP(1), each_row_a_person=True)
    start, wall = time.process_time(), time.perf_counter()
    settings = {"geography": geography, "cells": CELLS, "tables": TABLES, "levels": WEIGHTS}
    plan = sf.plan_census(people, rho="1/2", **settings)
    planned = time.process_time() - start
    census = plan.release()
    cpu, wall = time.process_time() - start, time.perf_counter() - wall
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    assert all((counts >= 0).all() for counts in census.counts_by_level)
    print(
        f"{options.people:,} people, {options.blocks:,} blocks, {plan.numbers:,} noisy numbers: "
        f"{cpu:.1f} CPU s ({planned:.1f} to plan), {wall:.1f} s, {memory:,} MB at most, {before:,} "
        f"MB before"
    )
    exact = np.zeros_like(census.counts)
    columns = [table.column(name).to_numpy(zero_copy_only=False) for name in ("block", *CELLS)]
    block, adult, hispanic, race = (column.astype(np.int64) for column in columns)
    order = np.array([path[-1] for path in geography.paths])
    place = np.argsort(order)[block]
    np.add.at(exact, (place, (adult * 2 + hispanic) * 63 + race), 1)
    truth = census.design.spine.sum_up(exact)
    naive_counts = (
        census.design.spine.sum_up(round_from_top(census.design, list(census.estimates)))
        if options.naive
        else None
    )
    print_errors(census, truth, naive_counts, markdown=options.markdown)


def print_errors(
    census: sf.censuses.Census,
    truth: list[NDArray[np.int64]],
    naive_counts: list[NDArray[np.int64]] | None,
    *,
    markdown: bool,
) -> None:
    """Print the root mean square error of totals and of counts by race at every level."""
    heads = ["level", "table", "measured alone", "best linear, by its variance", "best linear"]
    heads += ["whole numbers", "whole / best linear", *(["naive"] if naive_counts else [])]
    rows = []
    design = census.design
    for at, level in enumerate(LEVELS):
        for name, subset in (("total", ()), ("race", (2,))):
            exact = design.sum_table(truth[at], subset)
            linear = rms(design.sum_table(census.estimates[at], subset) - exact)
            counts = rms(design.sum_table(census.counts_by_level[at], subset) - exact)
            row = [level, name, design.variances[at, subset] ** 0.5]
            row += [design.variance(at, subset).mean() ** 0.5, linear, counts, counts / linear]
            if naive_counts:
                row.append(rms(design.sum_table(naive_counts[at], subset) - exact))
            rows.append([x if isinstance(x, str) else f"{x:.2f}" for x in row])
    print(as_pipes([heads, *rows], ("level", "table")) if markdown else as_columns([heads, *rows]))


def rms(errors: NDArray[np.generic]) -> float:
    """Return the root mean square."""
    return float(np.sqrt((errors.astype(np.float64) ** 2).mean()))


if __name__ == "__main__":
    main()
