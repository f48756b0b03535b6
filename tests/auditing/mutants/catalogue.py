"""All mutants and their correct counterparts, in one table."""

from __future__ import annotations

from types import ModuleType

from . import (
    accountants,
    choices,
    doubles,
    influence,
    ledgers,
    local_clients,
    mechanisms,
    no_numbers,
    plans,
    queries,
    records,
    sampled,
    sensitivities,
    sums,
    thresholds,
)
from .case import Case

THEMES: dict[str, ModuleType] = {
    "Noise in doubles": doubles,
    "Sums, means, counts": sums,
    "What is no number": no_numbers,
    "Sensitivities": sensitivities,
    "Questions": queries,
    "The reach of a person, and the price": influence,
    "Plans": plans,
    "Noise, responses, claims": mechanisms,
    "Thresholds": thresholds,
    "Choices": choices,
    "Releases seen from outside": sampled,
    "Records": records,
    "Accountants and statements": accountants,
    "Local clients": local_clients,
    "Ledgers": ledgers,
}
"""Heading → where its cases are."""

CASES: dict[str, Case] = {
    name: case for theme in THEMES.values() for name, case in theme.CASES.items()
}

assert len(CASES) == sum(len(theme.CASES) for theme in THEMES.values()), "a name is given twice"
