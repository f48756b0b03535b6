"""The laws and draws of randomized response for audits, and its examples.

*Projection*  Of the reports of several people only that of the one who has changed is looked at:
              all others have the same law under both inputs, and are independent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..shared.mechanism import Input
from .audit_example import AuditExample, fixed
from .stated_laws import FiniteLaws

if TYPE_CHECKING:
    from ..randomized_response import RandomizedResponse


def response_examples(kind: type[RandomizedResponse]) -> list[AuditExample]:
    """List an example of two categories, and one of six."""
    # with two categories one person has one pair; in the others one of several people changes
    answers = fixed(
        ("yes", "no"),
        (["yes", "yes", "yes"], ["yes", "no", "yes"]),
        (["no"] * 4, ["no"] * 3 + ["yes"]),
        (["yes", "no"], ["no", "no"]),
        (["no", "yes", "yes", "no", "yes"], ["no", "yes", "yes", "no", "no"]),
    )
    return [
        AuditExample("RandomizedResponse", lambda e: kind(epsilon=e), answers),
        AuditExample(
            "RandomizedResponse, six categories", lambda e: kind(epsilon=e, categories="abcdef")
        ),
    ]


def response_laws(m: RandomizedResponse, x: Input, y: Input) -> FiniteLaws | None:
    """State the laws of one person's report, by its place among the categories."""
    if m.labels.is_single_value(x) and m.labels.is_single_value(y):
        at, place = [m.labels.index(value) for value in (x, y)], ""
    else:
        codes_x, codes_y = (m.labels.codes(values) for values in (x, y))
        if codes_x.ndim != 1 or codes_x.shape != codes_y.shape or (codes_x != codes_y).sum() != 1:
            return None
        who = int(np.argmax(codes_x != codes_y))
        at, place = [int(codes_x[who]), int(codes_y[who])], f"[{who}]"
    names = m.categories
    p, q = (tuple(m.probability(name, names[i]) for name in names) for i in at)
    texts = [f"{name} at {place}" if place else str(name) for name in names]
    return FiniteLaws(range(m.k), p, q, texts, place)


def draw_responses(m: RandomizedResponse, x: Input, n: int) -> NDArray[np.int64] | None:
    """Draw n reports of one person, or of several people, as places among the categories."""
    if not m.labels.is_single_value(x):
        codes = m.labels.codes(x)
        if codes.ndim != 1:
            return None
        return m.labels.codes(m.perturb(np.tile(m.labels.array[codes], (n, 1))))
    # a value that is no category is refused, before an array of texts cuts it to their length
    m.labels.index(x)
    reports = np.empty(n, dtype=m.labels.array.dtype)
    reports[:] = x
    return m.labels.codes(m.perturb(reports))
