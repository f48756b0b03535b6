"""Examples for audits that several oracles share."""

from __future__ import annotations

from collections.abc import Callable

from ...mechanisms.shared.mechanism import Mechanism
from ...mechanisms.stated.audit_example import AuditExample, fixed

LETTERS = fixed(("a", "b"), ("e", "f"), ("a", "f"), ("c", "d"), ("none of them", "a"))
NUMBERS = fixed((0.0, 1.0), (0.5, 1.0), (0.0, 0.5), (0.25, 0.75), (float("nan"), 1.0))


def category_example(kind: type[Mechanism], setting: str = "", **options: object) -> AuditExample:
    """Return an example of an oracle for six categories."""
    build: Callable[..., Mechanism] = kind
    name = f"local.{kind.__name__}{', ' * bool(setting)}{setting}"
    return AuditExample(name, lambda e: build(epsilon=e, categories="abcdef", **options), LETTERS)


def number_example(kind: type[Mechanism]) -> AuditExample:
    """Return an example of an oracle for a number between 0 and 1."""
    build: Callable[..., Mechanism] = kind
    return AuditExample(
        f"local.{kind.__name__}", lambda e: build(epsilon=e, low=0, high=1), NUMBERS
    )
