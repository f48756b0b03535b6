"""Audit a query to protected tables: two neighbouring datasets go in, answers come out.

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
from typing import TYPE_CHECKING, Any

from .. import release as door
from ..exact.numbers import Number
from ..guarantees import Approx, Guarantee, Pure
from ..noise.bits import SYSTEM
from ..tables.plan.query_plan import Plan
from ..tables.plan.statements import build_statements
from . import audit_refusals as refusals
from .canonical_outputs import Error, Input, Output

if TYPE_CHECKING:
    from ..release import Tables
    from ..session.protected_table import Table

Declared = Mapping[str, Any]  # arguments of sf.protect, which checks them
_FEW = 500  # releases of one table


@dataclass(frozen=True, slots=True)
class TableQuery:
    """A SELECT, or a function of a protected table, with the promise of one answer and the table's
    declaration.
    """

    question: str | Callable[[Table], Output]
    claim: Guarantee
    declared: Declared
    full_release: bool
    new_table: bool

    @property
    def __name__(self) -> str:
        return (
            self.question
            if isinstance(self.question, str)
            else getattr(self.question, "__name__", "question")
        )

    def outputs_at(self, source: Input, n: int) -> list[Output]:
        """Release n answers about a dataset."""
        if isinstance(self.question, str) and not self.full_release:
            return self._through_the_door(self.question, source, n)
        answers: list[Output] = []
        while len(answers) < n:
            answers += self._released(
                source, 1 if self.new_table else min(n - len(answers), self._few)
            )
        return answers

    @property
    def _few(self) -> int:
        """How many releases one table serves: their total δ must stay below 1."""
        delta = float(self.claim.parameters.get("delta", 0))
        return max(1, min(_FEW, int(0.4 / delta) if delta else _FEW))

    def _protected(self, source: Input, releases: int) -> Table:
        from ..session.protect import protect_trial  # mechanisms are audited without any table

        return protect_trial(source, budget=(2 * releases + 2) * self.claim, **self.declared)

    def _released(self, source: Input, n: int) -> list[Output]:
        with self._protected(source, n) as table:
            return [_output_or_error(lambda: self._answer(table)) for _ in range(n)]

    def _answer(self, table: Table) -> Output:
        return (
            table.sql(self.question, promise=self.claim, fresh=True)
            if isinstance(self.question, str)
            else self.question(table)
        )

    def _through_the_door(self, question: str, source: Input, n: int) -> list[Output]:
        with self._protected(source, 1) as table:
            # missing limits must be declared; only a full release learns them
            plan = table.plan(question, promise=self.claim, learn=False)
            assert isinstance(plan, Plan)
            if uses_secret_order(plan):
                return [
                    _output_or_error(lambda: _read_and_publish(replace(plan))) for _ in range(n)
                ]  # a new plan has statements, and an order, of its own
            try:
                tally = door._tally(plan, plan.statements, None)
            except Exception as error:  # an error is an output
                return [Error(type(error).__name__)] * n
            return [_output_or_error(lambda: _publish(plan, tally)) for _ in range(n)]


_MARK = "the secret of an order"


def uses_secret_order(plan: Plan) -> bool:
    """Whether the engine's results depend on a secret that is drawn for the plan."""
    marked = build_statements(
        plan.source.table,
        plan.query,
        plan.components,
        plan.calibration.bounding,
        _MARK,
        ballot=plan.needs_ballot,
    )
    return any(_MARK in plan.source.engine.sql(statement.expression) for statement in marked)


def _read_and_publish(plan: Plan) -> Output:
    return _publish(plan, door._tally(plan, plan.statements, None))


def _publish(plan: Plan, tally: Tables) -> Output:
    groups, noisy = door._perturb(plan, plan.groups, tally, SYSTEM)
    return [list(groups.rows), {piece.name: piece.values for piece in noisy}]


def _output_or_error(answer: Callable[[], Output]) -> Output:
    try:
        return answer()
    except Exception as error:  # an error is an output
        return Error(type(error).__name__)


def query(
    question: str | Callable[[Table], Output],
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    promise: Guarantee | None = None,
    full_release: bool = False,
    new_table: bool = False,
    **declared: Any,
) -> TableQuery:
    """Wrap a query for an audit: `sf.audit(query("SELECT …", epsilon=1, name="visits",
    unit="user", …), dataset, neighbour)`.

    `declared` are the arguments of `sf.protect` for the table. A function gets a protected table, a
    new one for every draw, and makes a full release: `lambda t: t.sql(…)`.
    """
    _check_declared(declared)
    claim: Guarantee
    if promise is not None and epsilon is None:
        claim = promise
    elif promise is None and epsilon is not None:
        claim = Pure(epsilon) if delta is None else Approx(epsilon, delta)
    else:
        raise refusals.QUERY_WITHOUT_PROMISE()
    is_function = not isinstance(question, str)
    return TableQuery(
        question,
        claim,
        declared,
        full_release or new_table or is_function,
        new_table or is_function,
    )


_OURS = {"budget": refusals.QUERY_WITH_BUDGET, "ledger": refusals.QUERY_WITH_LEDGER}
"""Arguments of `sf.protect` that the audit gives itself."""


def _check_declared(declared: Declared) -> None:
    from ..session.protect import protect

    names = [
        name for name in signature(protect).parameters if name != "source" and name not in _OURS
    ]
    for name in declared:
        if name in _OURS:
            raise _OURS[name]()
        if name not in names:
            raise refusals.UNKNOWN_DECLARATION(name=name, names=", ".join(names))
