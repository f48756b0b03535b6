"""Charge a share for learned limits before it gets an answer: an answer shows every limit learned
of its tables, so the share must have paid for all of them.

*Lessons*   Every learned limit of the declaration, whether the question needs it or not: an
            answer's facts include the declaration, for several tables that of all. A share that has
            not seen a lesson pays what the first asker paid, once.
*Together*  Unpaid lessons, limits yet to be learned and the answer fit into the share together, or
            nothing is charged. The cost of an accuracy may depend on the lessons: then the lessons
            are charged first, and whether the answer fits is checked afterwards.
*Again*     If a limit was learned anew meanwhile, paying for it takes it over: the limits in an
            answer are those on the account.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from ..accounting.filters import Filter
from ..errors import RefusalText
from ..exact.numbers import text
from ..guarantees import Approx, Guarantee, Pure
from ..ledger import Ledger
from ..ledger.entries import spent_as_guarantee
from ..ledger.exact_totals import Ratios, ratios
from ..ledger.pricing import Priced, price
from ..ledger.stored_answers import StoredAnswer as Stored
from ..ledger.stored_answers import find_answer, unpaid_costs
from ..release import question_key
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import MissingLimit
from ..tables.plan.query_plan import Plan
from . import session_refusals as refusals
from .batches import Batch
from .choose_limits import histogram_share
from .learning import plan_lesson, recall_lesson, storage_name
from .pending_plan import PendingBatch
from .table_state import TableState, state_of


def pay_lessons_and_replan(
    plans: Sequence[Plan], mechanism: Priced, share: str, *, fresh: bool
) -> bool:
    """Charge `share` for the learned limits that these plans show, if the answers fit as well.
    Returns True if limits changed and the caller must plan again.
    """
    about = dict.fromkeys(state_of(plan.query) for plan in plans)
    states = [state for state in about if state is not None]
    if not any(has_unpaid(state, share) for state in states):
        return False
    ledger = states[0].ledger  # of all: one release has one ledger
    stored = [None if fresh else _read_stored(ledger, question_key(plan), share) for plan in plans]
    answers = unpaid_costs(stored)
    if None in stored:
        answers.append(ratios(price(ledger.budget, (mechanism,))))
    return _check_and_charge(states, answers, share, refusals.LESSONS_AND_ANSWER_EXCEED_BUDGET)


def pay_lessons(state: TableState, answer: Priced | None, share: str) -> None:
    """Charge `share` for unpaid lessons, if an answer of this cost fits as well. For an answer of
    unknown cost, only the lessons have to fit.
    """
    costs = [] if answer is None else [ratios(price(state.ledger.budget, (answer,)))]
    _check_and_charge(
        (state,),
        costs,
        share,
        refusals.LESSONS_EXCEED_BUDGET
        if answer is None
        else refusals.LESSONS_AND_ANSWER_EXCEED_BUDGET,
    )


def has_unpaid(state: TableState, share: str) -> bool:
    """Tell whether a share has unpaid lessons about these tables."""
    state.ledger.account(share)  # refuses an unknown share
    return bool(unpaid_costs(_stored_lessons(state, _learned_limits(state), share)))


def check_fits(
    state: TableState,
    missing: Sequence[MissingLimit],
    learning: Guarantee,
    answer: Guarantee | None,
    share: str | None,
    *,
    before: Sequence[MissingLimit] = (),
    fresh: bool = False,
) -> None:
    """Refuse, before anything is read or charged, lessons and an answer that do not fit together:
    into the total budget, and into the share together with its unpaid lessons.
    """
    ledger = state.ledger
    plans = [
        plan_lesson(state, limit, histogram_share(learning, Fraction(1, len(missing))))
        for limit in missing
    ]
    cost = histogram_share(learning, Fraction(1)) if missing else learning
    entry = (
        refusals.LEARNING_EXCEEDS_BUDGET
        if answer is None
        else refusals.LEARNING_AND_ANSWER_EXCEED_BUDGET
    )
    later = [] if answer is None else [ratios(price(ledger.budget, (answer,)))]
    for account in (None,) if share is None else (None, share):
        ledger.account(account)  # refuses an unknown share
        stored = [
            None if fresh else _read_stored(ledger, question_key(plan), account) for plan in plans
        ]
        costs = [
            ratios(price(ledger.budget, (plan.mechanism,)))
            for plan, answered in zip(plans, stored, strict=True)
            if answered is None
        ]
        learned = {*before, *_learned_limits(state)} - set(missing)
        lessons = [] if account is None else _stored_lessons(state, learned, account)
        unpaid = unpaid_costs([*lessons, *stored])
        fields = {"cost": cost_text(cost)}
        if answer is not None:
            fields["less"] = _find_less(ledger, account, None if unpaid else cost, answer)
        _check_account(ledger, account, [*unpaid, *costs, *later], entry, **fields)


def _find_less(
    ledger: Ledger, share: str | None, learning: Guarantee | None, answer: Guarantee
) -> str:
    """Return the largest ε for an answer that fits into an account with its learning, as an
    argument; in words, where the cost is not a multiple of one ε.
    """
    account = ledger.account(share)
    left = Filter(account.budget, spent_as_guarantee(account)).remaining
    if learning is None or not all(
        isinstance(part, Pure | Approx) for part in (left, learning, answer)
    ):
        return refusals.LESS
    epsilon, extra = (part.parameters["epsilon"] for part in (answer, learning))
    fits = left.parameters["epsilon"] * epsilon / (epsilon + extra)
    if not fits:
        return refusals.LESS
    is_decimal = not {"/", "…"} & set(text(fits))
    return f"epsilon={text(fits) if is_decimal else repr(str(fits))}"


def charge_share(state: TableState, share: str, *, but: Sequence[MissingLimit] = ()) -> bool:
    """Charge a share for every lesson that it has not seen. Returns True if one of them differs
    from the one that the tables use.
    """
    pairs = [
        (lesson, recall_lesson(state, lesson.limit, share))
        for lesson in state.lessons.values()
        if lesson.limit not in but
    ]
    changed = tuple(new for old, new in pairs if new is not None and new != old)
    state.apply(changed)
    return bool(changed)


def _check_and_charge(
    states: Sequence[TableState],
    answers: Sequence[Ratios],
    share: str,
    entry: RefusalText,
) -> bool:
    lessons = [
        stored
        for state in states
        for stored in _stored_lessons(state, _learned_limits(state), share)
    ]
    _check_account(states[0].ledger, share, [*unpaid_costs(lessons), *answers], entry)
    changed = [charge_share(state, share) for state in states]
    return any(changed)


def _learned_limits(state: TableState) -> list[MissingLimit]:
    return [lesson.limit for lesson in state.lessons.values()]


def _stored_lessons(
    state: TableState, limits: Iterable[MissingLimit], share: str
) -> list[Stored | None]:
    """Read the ledger's record of each learned limit."""
    return [
        _read_stored(
            state.ledger, storage_name(limit, state.original[state.table_of(limit)]), share
        )
        for limit in limits
    ]


def check_steps(
    state: TableState,
    plans: Sequence[Batch | PendingBatch],
    promise: Guarantee,
    share: str | None,
    *,
    fresh: bool,
) -> None:
    """Refuse, before anything is read or charged, releases one after the other that do not fit into
    the budget together. A stored answer costs nothing.
    """
    ledger = state.ledger
    for account in (None,) if share is None else (None, share):
        costs = []
        for plan in plans:
            paid = plan.cost if isinstance(plan, PendingBatch) else plan.mechanism
            if isinstance(plan, PendingBatch) or fresh or not is_stored(plan, ledger, account):
                costs.append(ratios(price(ledger.budget, (paid,))))
        entry = refusals.STEPS_EXCEED_BUDGET
        _check_account(ledger, account, costs, entry, steps=len(plans), cost=cost_text(promise))


def is_stored(plan: Batch, ledger: Ledger, share: str | None) -> bool:
    """Tell whether the ledger has the answers to all questions, and the share has seen them."""
    return all(_read_stored(ledger, question_key(part), share) for part in plan.plans)


def _read_stored(ledger: Ledger, name: str, share: str | None) -> Stored | None:
    """Read what is stored under a name, with what a share still owes for it. Charges nothing."""
    with ledger._store.reading() as tx:
        return find_answer(tx, ledger.dataset, name, share)


def _check_account(
    ledger: Ledger,
    share: str | None,
    costs: Iterable[Ratios],
    entry: RefusalText,
    **fields: object,
) -> None:
    """Refuse with `entry` if these costs do not fit into an account together."""
    account = after = ledger.account(share)
    for cost in costs:
        after = after.plus(cost)
    if not after.fits:
        left = Filter(account.budget, spent_as_guarantee(account)).remaining
        name = ledger.dataset if share is None else f"{ledger.dataset} / {share}"
        raise entry(account=name, left=left.numbers_text, **fields)
