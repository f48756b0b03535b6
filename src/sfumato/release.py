"""The door: the one place where exact integers of the data meet noise.

*Charge*    durable before anything is read. From then on nothing is refunded, and whatever breaks
            says one constant text.
*Secret*    two calls: `_tally` has the engine add integers, `_perturb` selects groups and adds
            noise. Nothing in between leaves.
*Finish*    makes the answer: post-processing of noisy integers and public things. It is stored
            under its question, which, asked again, costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from . import __version__
from .answers.answer import Answer
from .answers.answer_records import Column, Noisy, Paid, Weighing
from .errors import Failed
from .guarantees import Guarantee
from .ledger import Ledger, Receipt
from .mechanisms.shared.mechanism import Mechanism
from .mechanisms.shared.stored_mechanism import record
from .noise.bits import SYSTEM, Bits
from .tables.plan.explain import rules
from .tables.plan.min_max import with_end
from .tables.plan.query_plan import Plan
from .tables.plan.read_results import Groups, chosen_groups, read, read_points, votes_of

Tables = tuple[Any, ...]
T = TypeVar("T")


def release_all(
    plans: Sequence[Plan],
    whole: Mechanism,
    ledger: Ledger,
    said: tuple[str, ...] = (),
    *,
    share: str | None = None,
    fresh: bool = False,
    timeout: float | None = None,
    bits: Bits = SYSTEM,
) -> tuple[Answer, ...]:
    """Several plans for one charge, recorded before any of them reads a row; or all of the stored
    answers, where every one of them is stored.

    What is `said` of all of them is among the rules of each.
    """
    asked = [question(plan) for plan in plans]
    stored = None if fresh else ledger.recall_all(asked, share=share)
    if stored is not None:
        return tuple(
            replace(Answer.from_json(found.answer), recalled=found.when) for found in stored
        )
    ready = [
        (plan.statements, plan.groups) for plan in plans
    ]  # public: made before the charge, so that nothing is charged for what cannot be made
    for plan, (statements, _) in zip(plans, ready, strict=True):
        _check(plan, statements, timeout)
    receipt = ledger.charge(whole, memo="\n\n".join(plan.text for plan in plans), share=share)
    left = ledger.remaining
    answers = []
    for plan, (statements, groups), one in zip(plans, ready, asked, strict=True):
        secret = _attempt(plan, statements, groups, timeout, bits)
        if secret is None:
            raise Failed
        made = or_failed(partial(finish, plan, *secret, ledger=ledger, receipt=receipt, left=left))
        answers.append(replace(made, rules=(*made.rules, *said)))
        _remember(ledger, receipt, one, answers[-1])
    return tuple(answers)


def release(
    plan: Plan,
    ledger: Ledger,
    *,
    share: str | None = None,
    fresh: bool = False,
    timeout: float | None = None,
    bits: Bits = SYSTEM,
) -> Answer:
    """Charge, tally, perturb, finish; or the stored answer to the same question."""
    return release_all(
        (plan,), plan.mechanism, ledger, share=share, fresh=fresh, timeout=timeout, bits=bits
    )[0]


def or_failed(make: Callable[[], T]) -> T:
    """What is made of released numbers. It was charged for and data was read: whatever breaks now
    has failed, and is neither told nor kept as a cause.
    """
    with suppress(Exception):
        return make()
    raise Failed


def _remember(ledger: Ledger, receipt: Receipt, asked: str, answer: Answer) -> None:
    """Store an answer. Data was read for it and it was charged: what cannot be stored is not
    refused any more, it has failed.
    """
    with suppress(Exception):
        ledger.remember(receipt, asked, answer.to_json())
        return
    raise Failed


def _check(plan: Plan, statements: Tables, timeout: float | None) -> None:
    """Refuse what the engine could not run, before anything is charged."""
    plan.source.engine.check(timeout)
    for statement in statements:
        plan.source.engine.speaks(statement.expression)


def question(plan: Plan) -> str:
    """Query, declaration (with the owner's label of the data) and promise: what has to be the same
    for an answer to be given again.
    """
    pieces = [
        [p.name, p.form, p.low, p.high, str(p.step), p.cells, *map(str, p.edges)]
        for p in plan.pieces
    ]  # should two queries ever be written alike
    said = {
        "question": 1,
        "query": plan.text,
        "pieces": pieces,
        "declaration": plan.declared,
        "promise": plan.promise.to_json(),
    }
    return json.dumps(said, ensure_ascii=False)


def _attempt(
    plan: Plan, statements: Tables, groups: Groups | None, timeout: float | None, bits: Bits
) -> tuple[Groups, tuple[Noisy, ...]] | None:
    """Everything that sees data. What it raises would be about data, so it is not even kept as the
    cause of what is raised instead.
    """
    try:
        return _perturb(plan, groups, _tally(plan, statements, timeout), bits)
    except Exception:
        return None


def _tally(plan: Plan, statements: Tables, timeout: float | None) -> Tables:
    """The exact integers, as the engine gives them, of files and tables that stay the same
    meanwhile.
    """
    with plan.source.engine.unchanged():
        return tuple(
            plan.source.engine.tally(statement, timeout=timeout) for statement in statements
        )


def _perturb(
    plan: Plan, public: Groups | None, tally: Tables, bits: Bits
) -> tuple[Groups, tuple[Noisy, ...]]:
    """Groups are selected; then every piece of those that are named gets its noise, in the order of
    the plan.
    """
    statements, bounding, chosen = (
        plan.statements,
        plan.calibration.bounding,
        plan.calibration.selection,
    )
    groups = (
        public
        if chosen is None or public is not None
        else chosen_groups(tally[0], chosen.keep(votes_of(tally[0]), bits=bits), plan.query)
    )
    assert groups is not None
    at = {place: i for i, statement in enumerate(statements) for place in statement.pieces}
    noisy = []
    for place, (piece, noise) in enumerate(zip(plan.pieces, plan.calibration.noise, strict=True)):
        statement, table = (statements[at[place]], tally[at[place]])
        if piece.form == "point":
            values = with_end(
                piece,
                _quantiles(noise, *read_points(table, place, groups, bounding), len(groups), bits),
            )
        else:
            values = noise[0].perturb(  # type: ignore[attr-defined]
                read(statement, table, piece, place, groups, bounding, public=public is not None),
                bits=bits,
            )
        noisy.append(
            Noisy(
                piece.name,
                values,
                piece.step if piece.form == "point" else bounding.step(piece),
                noise[0],
            )
        )
    return groups, tuple(noisy)


def _quantiles(
    noise: tuple[Mechanism, ...], groups: Any, points: Any, weights: Any, count: int, bits: Bits
) -> Any:
    """A column for each mechanism: the quantile, and the ends of its interval."""
    made = (
        [mechanism.perturb_each(groups, points, weights, count, bits=bits) for mechanism in noise]  # type: ignore[attr-defined]
        if count
        else []
    )
    return np.stack(made, axis=1) if made else np.zeros((0, len(noise)), dtype=np.int64)


def finish(
    plan: Plan,
    groups: Groups,
    noisy: tuple[Noisy, ...],
    *,
    ledger: Ledger,
    receipt: Receipt,
    left: Guarantee | None = None,
) -> Answer:
    """The answer, from what came through the door. Its moment is that of the charge, and so is what
    it says is left: when the work ended is about data.
    """
    declared, bounding = plan.query.rows.declaration, plan.calibration.bounding
    facts = {
        "dataset": plan.query.rows.dataset,
        "unit": declared.unit_name,
        "relation": declared.relation,
        "question": plan.text,
        "rows": plan.query.rows.text,
        "declaration": plan.declared,
        "mechanisms": [record(mechanism) for mechanism in plan.mechanism.parts],
        "released": receipt.when[:19] + receipt.when[23:],  # in seconds
        "versions": {"sfumato": __version__, "engine": plan.source.engine.version},
    }
    return Answer(
        keys=plan.query.keys,
        rows=tuple(groups.rows),
        pieces=noisy,
        columns=tuple(
            Column(c.name, c.kind, c.pieces, c.text, c.numbers, c.edges) for c in plan.columns
        ),
        cost=receipt.cost,
        promise=plan.promise,
        receipts=(Paid.by(receipt),),
        rules=rules(plan),
        facts=facts,
        budget=ledger.budget,
        left=ledger.remaining if left is None else left,
        weighing=Weighing(bounding.rule, bounding.rows, bounding.groups, bounding.bits),
        complete=plan.query.public,
    )
