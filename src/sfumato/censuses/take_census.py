"""`census` and `plan_census`: read the arguments, plan, release."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Unpack

import numpy as np

from ..errors import Refused
from ..exact.balls import root_up
from ..exact.numbers import positive, probability
from ..guarantees import GDP, ZCDP, Guarantee
from ..guarantees.gdp import largest_mu
from ..keywords import takes
from ..mechanisms import Combined, Gaussian
from ..session.protected_table import Table
from ..tables.declare.declaration import Key
from ..tables.declare.place_hierarchy import PlaceHierarchy
from ..tables.engine.arrow_arrays import array
from ..tables.plan.bounding import NARROW, Bounding
from ..tables.plan.components import components_of
from ..tables.plan.engine_keys import engine_keys
from ..tables.plan.place_counts import PlaceCounts
from ..tables.plan.read_results import ResultGroups
from ..tables.plan.statements import EngineStatement, build_statements
from ..tables.query.owned_rows import table_source
from ..tables.query.stages import Query, Rows
from . import census_refusals as refusals
from .budget_shares import Shares, divide_cost
from .census_design import Attribute, CensusDesign
from .census_limits import possible_cells, read_limits
from .census_options import DEFAULTS, EXPLAINED, CensusOptions, CensusRelease, CensusSettings
from .census_plan import CensusPlan
from .census_result import Census
from .spine import level_paths, spine_of

MOST_NUMBERS = 100_000_000
"""The most cells of all smallest places together: each takes about 90 bytes of memory."""

_FINE = 256
"""The least σ in steps of the integers: rounding to them widens intervals by 1 % at most."""


@takes(CensusRelease, DEFAULTS, EXPLAINED)
def census(table: Table | Rows, **options: Unpack[CensusRelease]) -> Census:
    """Count a population by place and attributes, in the manner of the US Census of 2020.

    One cost pays for the tables of all levels. They are whole, not negative, and add up; every
    number has an interval.

    >>> places = {"A": ["A1", "A2"], "B": ["B1"]}
    >>> census = sf.census(
    ...     people, geography=sf.hierarchy("state", "county", places=places), cells=["sex"], rho=1
    ... )
    >>> census.levels
    ('state', 'county')
    """
    settings = CensusSettings(**options)
    return _plan(table, settings).release(
        share=settings.share, fresh=settings.fresh, timeout=settings.timeout
    )


@takes(CensusOptions, DEFAULTS, EXPLAINED)
def plan_census(table: Table | Rows, **options: Unpack[CensusOptions]) -> CensusPlan:
    """Return the cost of a census and the error of each table. Reads no data, costs nothing."""
    return _plan(table, CensusSettings(**options))


def _plan(table: Table | Rows, settings: CensusSettings) -> CensusPlan:
    rows = table.rows if isinstance(table, Table) else table
    if not isinstance(rows, Rows) or not isinstance(owner := rows.curator, Table) or rows.public:
        raise refusals.NOT_A_PROTECTED_TABLE(kind=type(table).__name__)
    geography = _read_geography(settings.geography, rows)
    attributes = _read_cells(settings.cells, rows, geography)
    shape = tuple(len(keys) for _, keys in attributes)
    numbers = prod(shape) * len(geography.paths)
    if numbers > MOST_NUMBERS:
        raise refusals.TOO_MANY_NUMBERS(numbers=numbers, most=MOST_NUMBERS)
    names = [name for name, _ in attributes]
    shares = divide_cost(settings.tables, settings.levels, names, geography.levels)
    possible = possible_cells(attributes, settings.impossible)
    paths = level_paths(geography.paths)
    spine = spine_of(paths)
    limits = read_limits(spine, geography.levels, paths, settings.public, settings.at_least)

    domains = {level: geography.names(level) for level in geography.levels} | dict(attributes)
    query = rows.group_by(*domains, **domains).count()
    bounding = replace(Bounding.of(query, "L1"), limits_total=True)
    (component,) = components_of(query).components
    noise, mechanism = _fit_noise(settings, shares, bounding, owner.budget)
    if bounding.sum_bits(component) + max(shift for shift, _ in noise) > NARROW:
        raise refusals.SUMS_TOO_LARGE(bits=(bounding.table_rows - 1).bit_length())
    source = table_source(rows)
    (statement,) = build_statements(
        source.table, query, (component,), bounding, secrets.token_hex(16), ballot=False
    )
    counts = PlaceCounts(
        _groups(geography.levels, geography.paths, query, statement),
        tuple(
            _groups((name,), [(key,) for key in keys], query, statement)
            for name, keys in attributes
        ),
        tuple(spine.ancestors()),
        spine.sizes,
        possible,
        tuple(shares),
        tuple(shift for shift, _ in noise),
    )
    variances = {
        key: gaussian.variance / 4.0 ** (bounding.bits + shift)
        for key, (shift, gaussian) in zip(shares, noise, strict=True)
    }
    return CensusPlan(
        query,
        bounding,
        source,
        owner.ledger,
        statement,
        CensusDesign(
            geography,
            spine,
            attributes,
            variances,
            limits,
            possible,
            min(float(gaussian.sigma) for _, gaussian in noise),
        ),
        counts,
        shares,
        tuple(gaussian for _, gaussian in noise),
        mechanism,
    )


def _read_geography(geography: object, rows: Rows) -> PlaceHierarchy:
    """Return the hierarchy with names of the columns' types."""
    if isinstance(geography, PlaceHierarchy):
        for level in geography.levels:
            if level not in rows.schema:
                raise refusals.LEVEL_NOT_A_COLUMN(level=level, columns=", ".join(rows.schema))
        return geography.typed(rows.schema)
    if not isinstance(geography, str) and isinstance(geography, Sequence):
        levels = tuple(geography)
        for declared in rows.declaration.hierarchies:
            if levels and declared.levels[: len(levels)] == levels:
                return declared.down_to(levels[-1])
    raise refusals.GEOGRAPHY_UNKNOWN(geography=geography)


def _read_cells(
    cells: Iterable[str] | Mapping[str, Iterable[Key]], rows: Rows, geography: PlaceHierarchy
) -> tuple[Attribute, ...]:
    """Return the attributes with their public keys."""
    if cells is None or isinstance(cells, str) or not isinstance(cells, Iterable):
        raise refusals.CELLS_MISSING(cells=cells)
    names = list(cells)
    if not names or len(set(names)) < len(names) or set(names) & set(geography.levels):
        raise refusals.CELLS_MISSING(cells=names)
    listed = dict(cells) if isinstance(cells, Mapping) else {}
    groups = rows.group_by(*names, **listed)
    for name, keys in zip(groups.keys, groups.domains, strict=True):
        if not keys:
            raise refusals.CELLS_WITHOUT_KEYS(column=name)
    return tuple(zip(groups.keys, groups.domains, strict=True))


def _groups(
    names: Sequence[str],
    paths: Sequence[tuple[Key, ...]],
    query: Query,
    statement: EngineStatement,
) -> ResultGroups:
    """Return keys as the engine's result names them: k0, k1, …"""
    import pyarrow as pa

    columns, schema = {}, statement.expression.schema()
    for i, name in enumerate(names):
        keys = engine_keys(tuple(path[i] for path in paths), query.rows.schema[name])
        column = f"k{query.keys.index(name)}"
        columns[column] = array(keys, schema[column].to_pyarrow())
    return ResultGroups(pa.table(columns), query, list(paths))


def _fit_noise(
    settings: CensusSettings, shares: Shares, bounding: Bounding, budget: Guarantee
) -> tuple[list[tuple[int, Gaussian]], Combined]:
    """Return the noise of each table, with the bits that its integers move up, and all of it as
    one mechanism.
    """
    stated, rho = _read_cost(settings)
    moved = root_up(Fraction(2 if bounding.relation == "replace" else 1)) * bounding.weight
    unit = bounding.called or ", ".join(bounding.unit) or "row"
    noise = []
    for share in shares.values():
        sigma = float(moved) / (2 * float(rho * share)) ** 0.5
        shift = max(0, int(np.ceil(np.log2(_FINE / sigma)))) if bounding.bits == 0 else 0
        gaussian = Gaussian(
            sensitivity=moved * (1 << shift),
            rho=rho * share,
            relation=bounding.relation,
            unit=unit,
        )
        noise.append((shift, gaussian))
    e, d = stated or (None, None)
    mechanism = Combined([gaussian for _, gaussian in noise], epsilon=e, delta=d)
    if not stated and not isinstance(budget, ZCDP | GDP):
        try:
            mechanism.to(type(budget))
        except Refused:
            raise refusals.BUDGET_IN_EPSILON(rho=settings.rho, budget=budget) from None
    return noise, mechanism


def _read_cost(settings: CensusSettings) -> tuple[tuple[Fraction, Fraction] | None, Fraction]:
    """Return the ε and δ to state, if these are what the census may cost, and ρ."""
    rho, epsilon, delta = settings.rho, settings.epsilon, settings.delta
    if rho is not None and epsilon is None and delta is None:
        return None, positive(rho, "rho")
    if rho is not None or epsilon is None or delta is None:
        raise refusals.COST_MISSING(rho=rho, epsilon=epsilon, delta=delta)
    e, d = positive(epsilon, "epsilon"), probability(delta, "delta")
    if not d:
        raise refusals.COST_MISSING(rho=rho, epsilon=epsilon, delta=delta)
    return (e, d), largest_mu(e, d) ** 2 / 2
