"""A question to protected tables, as something to audit: two neighbouring datasets go in, answers
come out.

*Whole*   Every draw is a whole release, `fresh`: charge, tally, perturb, finish, of a protected
          table with a ledger in memory and a budget large enough. Tables are made anew after some
          hundreds of draws, or for each draw (`anew`) where the question learns what it lacks. A
          function is always given a new table: one that has answered would give a question that is
          asked again its stored answer, and all draws would be one.
*Door*    The default, some sixty times as fast: the exact integers of a dataset are read once, by
          the same statements, and pass through the same door for every draw. What is published is
          what the door gives: groups, and noisy integers. All that an answer says besides is made
          from them.
*Order*   Where a statement takes some rows of a unit by a secret order (`bounding="truncation"`,
          distinct values), the order is part of the chance: the statements are then made and read
          anew for every draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from .. import release as door
from ..errors import Refused
from ..exact.numbers import Number
from ..guarantees import Approx, Guarantee, Pure
from ..noise.bits import SYSTEM
from ..tables.plan.query_plan import Plan
from ..tables.plan.statements import statements
from .canonical_outputs import Error

_FEW = 500  # releases of one table


@dataclass(frozen=True, slots=True)
class Asked:
    """A SELECT, or a function of a protected table, with the promise of one answer and how the
    table is declared.
    """

    question: str | Callable[[Any], Any]
    claim: Guarantee
    declared: Mapping[str, Any]
    whole: bool
    anew: bool

    @property
    def __name__(self) -> str:
        return (
            self.question
            if isinstance(self.question, str)
            else getattr(self.question, "__name__", "question")
        )

    def outputs_at(self, source: Any, n: int) -> list[Any]:
        """n answers about a dataset."""
        if isinstance(self.question, str) and not self.whole:
            return self._through_the_door(source, n)
        found: list[Any] = []
        while len(found) < n:
            found += self._released(source, 1 if self.anew else min(n - len(found), self._few))
        return found

    @property
    def _few(self) -> int:
        """How many releases a budget has room for: δ must stay below 1."""
        delta = float(self.claim.parameters.get("delta", 0))
        return max(1, min(_FEW, int(0.4 / delta) if delta else _FEW))

    def _protected(self, source: Any, releases: int) -> Any:
        from ..session.protect import protect  # mechanisms are audited without any table

        return protect(source, budget=(2 * releases + 2) * self.claim, **self.declared)

    def _released(self, source: Any, n: int) -> list[Any]:
        with self._protected(source, n) as table:
            return [_said(lambda: self._answer(table)) for _ in range(n)]

    def _answer(self, table: Any) -> Any:
        return (
            table.sql(self.question, promise=self.claim, fresh=True)
            if isinstance(self.question, str)
            else self.question(table)
        )

    def _through_the_door(self, source: Any, n: int) -> list[Any]:
        with self._protected(source, 1) as table:
            plan: Plan = table.plan(
                self.question, promise=self.claim, learn=False
            )  # what a question lacks is declared, or `whole` is asked for
            if by_secret_order(plan):
                return [
                    _said(lambda: _read_and_published(replace(plan))) for _ in range(n)
                ]  # a new plan has statements, and an order, of its own
            try:
                tally = door._tally(plan, plan.statements, None)
            except Exception as error:  # an error is an output
                return [Error(type(error).__name__)] * n
            return [_said(lambda: _published(plan, tally)) for _ in range(n)]


_MARK = "the secret of an order"


def by_secret_order(plan: Plan) -> bool:
    """Whether what the engine reads depends on a secret that is drawn for the plan."""
    made = statements(plan.source.table, plan.query, plan.pieces, plan.calibration.bounding, _MARK)
    return any(_MARK in plan.source.engine.sql(statement.expression) for statement in made)


def _read_and_published(plan: Plan) -> Any:
    return _published(plan, door._tally(plan, plan.statements, None))


def _published(plan: Plan, tally: Any) -> Any:
    groups, noisy = door._perturb(plan, plan.groups, tally, SYSTEM)
    return [list(groups.rows), {piece.name: piece.values for piece in noisy}]


def _said(answer: Callable[[], Any]) -> Any:
    try:
        return answer()
    except Exception as error:  # an error is an output
        return Error(type(error).__name__)


def asked(
    question: str | Callable[[Any], Any],
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    promise: Guarantee | None = None,
    whole: bool = False,
    anew: bool = False,
    **declared: Any,
) -> Asked:
    """A question to audit: `sf.audit(asked("SELECT …", epsilon=1, name="visits", unit="user", …),
    one_dataset, its_neighbour)`.

    `declared` is what `sf.protect` is told of the table. A function is given a protected table, a
    new one for every draw, and makes a whole release: `lambda t: t.sql(…)`.
    """
    _known(declared)
    if (promise is None) == (epsilon is None):
        raise Refused(
            "audit.claim",
            "asked(…)",
            "give the promise of one answer, by epsilon= or promise=",
            "asked('SELECT …', epsilon=1, name='visits')",
        )
    claim = (
        promise
        if promise is not None
        else Pure(epsilon)  # type: ignore[arg-type]
        if delta is None
        else Approx(epsilon, delta)  # type: ignore[arg-type]
    )
    made = not isinstance(question, str)
    return Asked(question, claim, declared, whole or anew or made, anew or made)


_OURS = {
    "budget": "every draw has a budget of its own",
    "ledger": "what a ledger remembers would be given again, and all draws be one",
}


def _known(declared: Mapping[str, Any]) -> None:
    from ..session.protect import protect

    names = [
        name for name in signature(protect).parameters if name != "source" and name not in _OURS
    ]
    for name in declared:
        if name not in names:
            reason = _OURS.get(name, "a table is not declared with this")
            raise Refused(
                "audit.declared",
                f"asked(…, {name}=…)",
                reason,
                ", ".join(f"{known}=" for known in names),
            )
