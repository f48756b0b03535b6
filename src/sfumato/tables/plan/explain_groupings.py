"""Describe a plan of several groupings: what is measured, and the error of each table beside that
of separate answers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..marginals.parts import Keys

if TYPE_CHECKING:
    from .plan_groupings import PlannedGroupings
    from .query_plan import Plan


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
    return [*lines, f"all     {compare(workload)}"]


def compare(workload: PlannedGroupings) -> str:
    """Compare the errors of all cells with those of separate answers."""
    cells = {keys: workload.domain.cells(keys) for keys in workload.requested}
    squares = sum(cells[keys] * ratio**2 for keys, ratio in workload.shares.ratios.items())
    ratio = math.sqrt(squares / sum(cells.values()))
    return f"errors are {ratio:.2f} of those of separate answers (root mean square, all cells)"


def _measured(workload: PlannedGroupings, keys: Keys) -> str:
    share = workload.shares.measured.get(keys)
    return f"measured with {float(share):.3g} of the promise" if share else "not measured"


def _only_measured(workload: PlannedGroupings) -> list[tuple[Keys, float]]:
    """Return the measured tables that nobody asked for, with their shares."""
    shares = workload.shares.measured
    return [
        (keys, float(share)) for keys, share in shares.items() if keys not in workload.requested
    ]
