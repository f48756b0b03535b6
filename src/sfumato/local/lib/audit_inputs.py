"""Inputs for audits that several oracles share: categories, and pairs of values."""

from __future__ import annotations

from ...mechanisms.shared.audit_example import fixed

NAMES = ("a", "b", "c", "d", "e", "f")
LETTERS = fixed(("a", "b"), ("e", "f"), ("a", "f"), ("c", "d"), ("none of them", "a"))
NUMBERS = fixed((0.0, 1.0), (0.5, 1.0), (0.0, 0.5), (0.25, 0.75), (float("nan"), 1.0))
