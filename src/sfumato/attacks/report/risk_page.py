"""The risk report as one HTML page in plain words: no script, nothing to fetch, and all text from
the data is escaped. The words stand in the template `risk.html`.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from ... import __version__
from ...exact.numbers import text as ratio
from ...guarantees.meaning.bayes import posterior_bounds
from ...templates.fill_template import encode_png, fill_template
from ..lib.attack_text import at_most, epsilon_label, format_number, join_names, per_cent
from .risk import MANY, UNNAMED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .risk import RiskReport

MOST_ODDS = 10**6  # larger odds are written as a power of e


def page(report: RiskReport) -> str:
    """Build the page of a report."""
    alone, difference = report.uniqueness, report.difference
    private = report.successes[1:]
    at_one = [success for success in private if success.against == epsilon_label(1)]
    about = 0 if difference is None else alone.n - 1 if difference.summed else difference.without
    body = fill_template(
        "risk.html",
        report=report,
        is_unnamed=report.name == UNNAMED,
        alone=alone,
        difference=difference,
        asks_many=about >= MANY,
        column=report.column,
        successes=report.successes,
        example=next(iter([*at_one, *private]), None),
        notes=([alone.unread.sentence] if alone.unread else []) + list(report.notes),
        beliefs=_beliefs(report),
        most_odds=MOST_ODDS,
        version=__version__,
        number=format_number,
        answer=format_answer,
        ratio=ratio,
        per_cent=per_cent,
        at_most=at_most,
        round_up=round_up,
        epsilon_label=epsilon_label,
        join_names=join_names,
        png=encode_png,
    )
    return keep_digits_together(body)


def format_answer(value: float) -> str:
    """Format an answer as it was released."""
    return (
        format_number(value) if float(value).is_integer() else f"{value:,.1f}".replace(",", " ")
    ).replace("-", "−")


def keep_digits_together(body: str) -> str:
    """Keep the digits of a number on one line, and the sign of a percentage with it."""
    return re.sub(r"(?<=\d) (?=\d{3}(?!\d)|%)", "\u202f", body)


def round_up(value: float) -> str:
    """Format a bound, rounded up to two decimals."""
    return f"{math.ceil(100 * value) / 100:.12g}" if math.isfinite(value) else "∞"


def _beliefs(report: RiskReport) -> Figure | None:
    """Plot what an answer can do to a belief, for up to five ε of at most 5."""
    from ...plots.beliefs import beliefs

    priors = np.linspace(0.01, 0.99, 99)
    bands = {}
    for epsilon in [b.epsilon for b in report.epsilon_effects if b.epsilon <= 5][:5]:
        ends = [posterior_bounds(epsilon, float(prior)) for prior in priors]
        bands[epsilon_label(epsilon)] = (
            np.array([end.low for end in ends]),
            np.array([end.high for end in ends]),
        )
    title = "What one answer can do to a belief"
    return beliefs(priors, bands, title=title) if bands else None
