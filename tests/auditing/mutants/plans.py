"""Plans of the product with a hole torn into them, on tables: the recorder of the tables' own
tests, and their holes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from ...tables import test_replay as torn
from ...tables.worlds import Bench
from .case import Case, How


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A question to a table and to a neighbour of it, planned and run with silent mechanisms."""

    question: str
    intact: bool  # or with the hole of this name
    how: ClassVar[How] = "replay"

    def alarm(self) -> str:
        where, attribute, hole, ask, second, about = torn.TWINS[self.question]
        bench = Bench()
        try:
            with pytest.MonkeyPatch.context() as patch:
                if not self.intact:
                    patch.setattr(where, attribute, hole)
                result = torn._caught(torn._plan(bench, ask, **about), bench, torn.ALONE, second)
        finally:
            bench.close()
        return "status, calls or distance differ between neighbours" if result else ""


HOLES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "no clip": ("a plan that does not clip", "clips", ("B10",)),
    "no weights": ("a plan that counts all rows of a person", "weighs them", ("D17",)),
    "weights by group": (
        "a plan that bounds a person in each group by itself",
        "over all groups",
        ("D8",),
    ),
    "whole votes": (
        "a whole vote for a person in every group",
        "a share of one",
        ("D17", "Qrlew 0.9.26"),
    ),
    "whole votes for names": ("the same where groups are named", "a share of one", ("D6", "D17")),
    "no weights for names": (
        "counts all rows of a person, and names groups by this count",
        "weighs them",
        ("D6", "D17"),
    ),
    "whole votes for units that name": (
        "a whole vote for a person in every group, in a count that names groups",
        "a share of one",
        ("D6", "D17"),
    ),
    "dtype by value": ("integers as narrow as the values allow", "of one width", ("B4",)),
    "no empty groups": (
        "leaves out the groups that are empty",
        "all groups of the list",
        ("C6", "D5"),
    ),
    "no truncation": ("a plan that does not truncate", "truncates", ("D7",)),
    "an error": ("a cast that fails on a large value", "total functions", ("D1", "B6")),
}

CASES: dict[str, Case] = {
    f"plan-{name.replace(' ', '-')}": Case(
        wrong=wrong,
        right=right,
        known_from=known_from,
        broken=Planned(question=name, intact=False),
        correct=Planned(question=name, intact=True),
    )
    for name, (wrong, right, known_from) in HOLES.items()
}
