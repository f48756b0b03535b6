"""The vectorised oracle beside the exact law of the client: frequencies of whole reports."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.stats import binom

from sfumato.local import Reports

FALSE_ALARM = 1e-7


def agrees(reports: Reports, law: dict[bytes, Fraction]) -> bool:
    """Whether the count of every report is one that its probability would give; for a right law
    false with probability at most FALSE_ALARM.
    """
    n = len(reports)
    rows, counts = np.unique(reports.payload, axis=0, return_counts=True)
    observed = {row.tobytes(): int(count) for row, count in zip(rows, counts, strict=True)}
    if not set(observed) <= set(law):
        return False
    each = FALSE_ALARM / (2 * len(law))
    return all(
        binom.cdf(observed.get(report, 0), n, float(p)) > each
        and binom.sf(observed.get(report, 0) - 1, n, float(p)) > each
        for report, p in law.items()
    )


def bent(law: dict[bytes, Fraction]) -> dict[bytes, Fraction]:
    """A law that is wrong by ten per cent: the likeliest report has that much more of its chance,
    the rest less.
    """
    likeliest = max(law, key=lambda report: law[report])
    more = law[likeliest] * Fraction(11, 10)
    return {
        report: more if report == likeliest else p * (1 - more) / (1 - law[likeliest])
        for report, p in law.items()
    }
