"""Describe a plan of several groupings: what is measured, and the error of each table beside that
of separate answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import Refused
from ..declare.declaration import Key
from ..marginals.choose_shares import choose_shares
from ..marginals.parts import Domain, Keys, positions
from .plan_groupings import check_groupings

if TYPE_CHECKING:
    from .plan_groupings import PlannedGroupings
    from .query_plan import Plan


_WORSE = 1.005
"""An error that is larger than that of separate answers by more than rounding of shares."""


def explain_measured(workload: PlannedGroupings) -> tuple[str, ...]:
    """Return the rule about how tables come to agree."""
    count, measured = len(workload.requested), len(workload.noise)
    tables = f"{count} tables follow" if count > 1 else "1 table follows"
    sources = f"{measured} noisy ones" if measured > 1 else "1 noisy one"
    return (f"{tables} from {sources} by least squares, so that their numbers agree",)


def explain_tables(plan: Plan) -> list[str]:
    """Return a line for each table: its error, and what is measured of it."""
    workload = plan.workload
    if workload is None:
        return []
    ratios = workload.shares.ratios
    lines = []
    for table, keys in zip(plan.tables, workload.requested, strict=True):
        errors = ", ".join(f"{name} ± {error:.4g}" for name, error in table.error().items())
        lines.append(
            f"table   {plan.query.set_text(keys)}: {errors}; {_measured(workload, keys)}; "
            f"{ratios[keys]:.2f} of the error of separate answers"
        )
    lines += [
        f"also    {plan.query.set_text(keys)} is measured with {share:.3g} of the promise"
        for keys, share in _only_measured(workload)
    ]
    worse = [plan.query.set_text(keys) for keys, ratio in ratios.items() if ratio > _WORSE]
    if worse:
        lines.append(
            f"worse   {'; '.join(worse)}: more noise than by itself, for less in the large tables; "
            "as questions of sf.report, no table has more"
        )
    return [*lines, f"all     {compare(workload)}"]


def compare(workload: PlannedGroupings) -> str:
    """Compare the errors of all cells with those of separate answers."""
    cells = {keys: workload.domain.cells(keys) for keys in workload.requested}
    squares = sum(cells[keys] * ratio**2 for keys, ratio in workload.shares.ratios.items())
    ratio = math.sqrt(squares / sum(cells.values()))
    return f"errors are {ratio:.2f} of those of separate answers (root mean square, all cells)"


def compare_report(plans: Sequence[Plan]) -> str:
    """Say what a report would gain over separate answers to these questions; "" if they are no
    tables of the same rows and columns by public keys.
    """
    first, keys = plans[0], dict[str, tuple[Key, ...]]()
    for plan in plans:
        query = plan.query
        if (
            plan.workload is not None
            or not query.public
            or (plan.declared, query.rows.text) != (first.declared, first.query.rows.text)
            or [each.text for _, each in query.aggregates]
            != [each.text for _, each in first.query.aggregates]
        ):
            return ""
        for key, values in zip(query.keys, query.domains, strict=True):
            if keys.setdefault(key, values) != values:
                return ""
    names = list(keys)
    requested = [positions(plan.query.keys, names) for plan in plans]
    query = replace(
        first.query, keys=tuple(names), domains=tuple(keys.values()), sets=tuple(requested)
    )
    try:
        check_groupings(query, first.components)
    except Refused:
        return ""
    domain = Domain(tuple(map(len, keys.values())))
    power = 2 if first.calibration.bounding.norm == "L1" else 1
    shares = choose_shares(domain, requested, power=power, fair=True)
    ratio = shares.rms(domain) / shares.apart
    return (
        f"report  sf.report measures these tables together, so that they agree: noise {ratio:.2f} "
        "of this; a row with a key that is not public is in none of them"
    )


def _measured(workload: PlannedGroupings, keys: Keys) -> str:
    share = workload.shares.measured.get(keys)
    return f"measured with {float(share):.3g} of the promise" if share else "not measured"


def _only_measured(workload: PlannedGroupings) -> list[tuple[Keys, float]]:
    """Return the measured tables that nobody asked for, with their shares."""
    shares = workload.shares.measured
    return [
        (keys, float(share)) for keys, share in shares.items() if keys not in workload.requested
    ]
