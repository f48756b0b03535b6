"""What a share has to pay before it is answered: an answer shows all that was learned of its table,
so whoever sees the one has the other on the account.

*Lessons*   Every limit of the declaration that was learned, whether the question needs it or not:
            the declaration is among the facts of an answer, of several tables that of all. A share
            that has not seen one pays what the first asker paid, once.
*Together*  What is owed for lessons, what is yet to be learned and the answer fit into the share,
            or nothing of it is paid for. What an accuracy costs may follow from the lessons alone:
            then they are paid for first, and whether the answer fits is said after.
*Again*     What has since been learned anew is taken over when it is paid for: the limits in an
            answer are those on the account.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from ..accounting.filters import Filter
from ..guarantees import Guarantee
from ..ledger import BudgetExceeded, Ledger
from ..ledger.entries import spent_as_guarantee
from ..ledger.exact_totals import Ratios, ratios
from ..ledger.pricing import Priced, price
from ..ledger.stored_answers import Found as Stored
from ..ledger.stored_answers import found, owed
from ..release import question
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import Lack
from ..tables.plan.query_plan import Plan
from .choose_limits import part
from .learning import Found, lesson, name_of, recalled
from .table_state import Known

if TYPE_CHECKING:
    from .protected_table import Table

BEFORE = "what was learned before, which this share has not paid for yet"


def settled(
    plans: Sequence[Plan], whole: Priced, ledger: Ledger, share: str, *, fresh: bool
) -> bool:
    """Book to a share what it has yet to pay of the lessons that these plans show, if the answers
    fit, too. Whether limits are others now: plan again.
    """
    families = tuple(dict.fromkeys(cast("Table", plan.query.rows.curator).known for plan in plans))
    if not any(owes(known, ledger, share) for known in families):
        return False
    stored = [None if fresh else _stored(ledger, question(plan), share) for plan in plans]
    answers = owed(stored)
    if None in stored:
        answers.append(ratios(price(ledger.budget, (whole,))))
    return _booked(families, answers, ledger, share, f"{BEFORE}, and the answer")


def settle(known: Known, whole: Priced | None, ledger: Ledger, share: str) -> None:
    """Book to a share what it has yet to pay of the lessons of some tables, if an answer of this
    cost fits, too; of an unknown cost: if they fit.
    """
    answer = [] if whole is None else [ratios(price(ledger.budget, (whole,)))]
    _booked(
        (known,), answer, ledger, share, BEFORE if whole is None else f"{BEFORE}, and the answer"
    )


def owes(known: Known, ledger: Ledger, share: str) -> bool:
    """Whether a share has yet to pay for something that was learned of tables."""
    ledger.account(share)  # refuses a name that is none
    return bool(owed(_taught(known, ledger, _lacks(known), share)))


def affordable(
    known: Known,
    ledger: Ledger,
    lacks: Sequence[Lack],
    learning: Guarantee,
    answer: Guarantee | None,
    share: str | None,
    *,
    before: Sequence[Lack] = (),
    fresh: bool = False,
) -> None:
    """Refuse, before anything is read or paid for, what does not fit as one: into the whole, and
    into the share with what that owes for what is known.
    """
    plans = [lesson(known, lack, part(learning, Fraction(1, len(lacks)))) for lack in lacks]
    cost = part(learning, Fraction(1)) if lacks else learning
    both = f"learning ({cost_text(cost)})" + ("" if answer is None else " and the answer")
    later = [] if answer is None else [ratios(price(ledger.budget, (answer,)))]
    for account in (None,) if share is None else (None, share):
        ledger.account(account)  # refuses a name that is none
        stored = [None if fresh else _stored(ledger, question(plan), account) for plan in plans]
        costs = [
            ratios(price(ledger.budget, (plan.mechanism,)))
            for plan, one in zip(plans, stored, strict=True)
            if one is None
        ]
        seen = {*before, *_lacks(known)} - set(lacks)
        taught = [] if account is None else _taught(known, ledger, seen, account)
        _fit(ledger, account, [*owed([*taught, *stored]), *costs, *later], both)


def booked(known: Known, ledger: Ledger, share: str, *, but: Sequence[Lack] = ()) -> bool:
    """Book to a share every lesson that it has not seen; whether one of them is another than the
    tables had.
    """
    seen = [
        (one, remembered(known, ledger, one.lack, share))
        for one in known.lessons.values()
        if one.lack not in but
    ]
    other = tuple(new for old, new in seen if new is not None and new != old)
    known.take(other)
    return bool(other)


def remembered(known: Known, ledger: Ledger, lack: Lack, share: str | None = None) -> Found | None:
    """What was learned before, if it was; booked to a share, if one is named."""
    return recalled(ledger, known.given[known.home(lack)], lack, share)


def _booked(
    families: Sequence[Known], answers: Sequence[Ratios], ledger: Ledger, share: str, what: str
) -> bool:
    taught = [one for known in families for one in _taught(known, ledger, _lacks(known), share)]
    _fit(ledger, share, [*owed(taught), *answers], what)
    other = [booked(known, ledger, share) for known in families]
    return any(other)


def _lacks(known: Known) -> list[Lack]:
    return [one.lack for one in known.lessons.values()]


def _taught(known: Known, ledger: Ledger, lacks: Iterable[Lack], share: str) -> list[Stored | None]:
    """What is stored of what was learned of tables."""
    return [_stored(ledger, name_of(lack, known.given[known.home(lack)]), share) for lack in lacks]


def _stored(ledger: Ledger, name: str, share: str | None) -> Stored | None:
    """What is stored under a name, and what a share has yet to pay for it. Books nothing."""
    with ledger._store.reading() as tx:
        return found(tx, ledger.dataset, name, share)


def _fit(ledger: Ledger, share: str | None, costs: Iterable[Ratios], what: str) -> None:
    account = after = ledger.account(share)
    for cost in costs:
        after = after.plus(cost)
    if not after.fits:
        left = Filter(account.budget, spent_as_guarantee(account)).remaining
        place = ledger.dataset if share is None else f"{ledger.dataset} / {share}"
        verb = "do not fit together" if " and " in what else "does not fit"
        reason = f"{what} {verb}: {left} is left; nothing was read, nothing was spent"
        raise BudgetExceeded(
            "budget.exceeded", place, reason, "a smaller cost, or limits and bounds in protect(…)"
        )
