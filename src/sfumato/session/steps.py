"""Answer a SELECT whose WHERE compares with released numbers, in priced steps.

*Steps*    The sub-queries are released first, then the question with their numbers as constants.
           Every step is a release of its own, for an equal part of the promise.
*Before*   All steps are planned, and have to fit into the budget together, before the first one is
           paid for. The plan of the last step holds 0 for the numbers that are not known yet.
*Meaning*  The last answer is about the released numbers, exactly: "rows above 36.1". Its intervals
           do not cover the noise of 36.1.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Unpack

from ..answers.answer import Answer
from ..answers.render.footnote_texts import SPENT_BEFORE
from ..answers.render.footnotes import cost_text
from ..sql.inner_values import InnerValues
from ..tables.query.question_options import QuestionSettings, ReleaseOptions
from . import session_refusals as refusals
from .accuracy import Goal
from .request import Request
from .share_payments import check_steps

if TYPE_CHECKING:
    from .table_state import TableState


def answer_in_steps(
    state: TableState, table: str, inner: InnerValues, **options: Unpack[ReleaseOptions]
) -> Answer:
    """Release the sub-queries, then the question with their numbers."""
    settings = QuestionSettings(**options)
    promise = Goal.of(state.ledger.budget, settings).promise
    if promise is None:
        raise refusals.STEPS_WITH_ACCURACY()
    part = promise.scaled(Fraction(1, len(inner.questions) + 1))
    options = {**options, "promise": part, "epsilon": None, "delta": None}

    def request(text: str) -> Request:
        return Request.of_question(state, table, text, **options)

    first = [request(text) for text in inner.questions]
    last = request(inner.with_values([0.0] * len(first)))
    plans = [step.plan() for step in (*first, last)]
    check_steps(state, plans, promise, settings.share, fresh=settings.fresh)
    notes, values = [], []
    for text, step in zip(inner.questions, first, strict=True):
        answer = step.release()[0]
        value = float(answer[answer.names[0]][0])
        if not math.isfinite(value):
            raise refusals.STEP_WITHOUT_NUMBER(question=text)
        values.append(float(f"{value:.6g}"))
        cost = "nothing" if answer.recalled else cost_text(answer.cost, None)
        notes.append(
            f"{cost}{SPENT_BEFORE}{text}: {values[-1]:.6g}{_margin(answer)}, a constant here"
        )
    final = request(inner.with_values(values)).release()[0]
    return replace(final, rules=(*final.rules, *notes))


def _margin(answer: Answer) -> str:
    """Return how far the released number may be off, as text; "" if nothing is known."""
    low, high = (float(end[0]) for end in answer.interval(answer.names[0]))
    half = (high - low) / 2
    return f" ± {half:.2g}" if math.isfinite(half) else ""
