"""The server of tools: list, describe, plan, ask, look at the budget and the history.

*Wall*     The tools hold no data: they are a client of the service, with a token. What the token
           may not see or spend, they cannot. Whoever misleads them gets no more than the ledger
           grants to the token's share.
*Once*     A question's key is made of the question: asked again, also after a lost connection, it
           is charged once. Only a new `attempt` may charge again.
*Silence*  Nothing is logged: refusals are public, but questions may not be.
"""

import hashlib
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from .. import __version__
from ..client.connection import Connection, Dataset
from ..client.remote_plan import RemotePlan
from ..errors import Failed, Refused
from . import mcp_refusals as refusals
from .question_guide import write_guide
from .spending_policy import SpendingPolicy, epsilon_of
from .tool_replies import (
    NOTICE,
    AnswerReply,
    DatasetReply,
    HistoryReply,
    PlanReply,
    reply_with_answer,
    reply_with_history,
    reply_with_plan,
)

T = TypeVar("T")

INSTRUCTIONS = f"""\
Ask questions about people in SQL. Every answer has noise, and costs a part of a privacy budget \
that never comes back. Call describe_dataset first, then plan_question (free) until the expected \
error is good enough, then ask_question. Ask for whole tables with GROUP BY, not for one group at \
a time. The same question again is free. A refusal has a line `try` that works when it is sent. \
State numbers with their ±. {NOTICE}"""

DatasetName = Annotated[str, Field(description="a name from list_datasets")]
Sql = Annotated[str, Field(description="one SELECT with aggregates, as sfumato://sql explains")]
Epsilon = Annotated[
    str | None,
    Field(description="the privacy loss, such as 0.1: less is more private and less exact"),
]
Within = Annotated[
    str | None,
    Field(description="instead of epsilon: the largest ± at 95 %, such as 25; it finds the ε"),
]
FREE = ToolAnnotations(read_only_hint=True, open_world_hint=False)
CHARGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


class Consent(BaseModel):
    """A person's decision about the cost of one question."""

    agree: bool = Field(description="spend this part of the budget on this question")


class NoConsentNeeded(Consent):
    """The question is free, or within what needs no consent."""


def build_server(
    connect: Callable[[str], Connection], token: str | None, policy: SpendingPolicy
) -> MCPServer[None]:
    """Build the server. `connect` opens the service with a token: `token`, or, where it is None,
    the one that each request carries.
    """
    server: MCPServer[None] = MCPServer(
        "sfumato", version=__version__, instructions=INSTRUCTIONS, log_level="CRITICAL"
    )
    open_service = lru_cache(maxsize=100)(connect)

    def open_dataset(name: str, context: Context) -> Dataset:
        return open_service(token or _sent_token(context))[name]

    def plan(dataset: Dataset, sql: str, epsilon: str | None, within: str | None) -> RemotePlan:
        planned: RemotePlan = dataset.plan(sql, **_promise(epsilon, within))
        return planned

    def needs_consent(planned: RemotePlan) -> bool:
        return not planned.paid and not policy.allows(epsilon_of(planned.cost))

    def find_consent(
        dataset: str, sql: str, epsilon: str | None, within: str | None, context: Context
    ) -> Consent | Elicit[Consent]:
        planned = _or_refused(lambda: plan(open_dataset(dataset, context), sql, epsilon, within))
        if not needs_consent(planned):
            return NoConsentNeeded(agree=True)
        capabilities = context.client_capabilities
        if capabilities is None or capabilities.elicitation is None:
            raise ToolError(str(_consent_refusal(refusals.CONSENT_IMPOSSIBLE, planned)))
        return Elicit(
            f"A program asks to spend {planned.cost.numbers_text} of the privacy budget of "
            f"{dataset} on:\n{sql}",
            Consent,
        )

    def _consent_refusal(text: Callable[..., Refused], planned: RemotePlan) -> Refused:
        return text(
            epsilon=f"{float(epsilon_of(planned.cost)):.4g}",
            per_question=f"{float(policy.per_question):.4g}",
            in_all=f"{float(policy.in_all):.4g}",
        )

    @server.tool(annotations=FREE)
    def list_datasets(context: Context) -> list[str]:
        """List the datasets that may be asked."""
        return list(_or_refused(lambda: open_service(token or _sent_token(context)).datasets))

    @server.tool(annotations=FREE)
    def describe_dataset(dataset: DatasetName, context: Context) -> DatasetReply:
        """Describe a dataset: tables, columns, types, bounds, public keys, unit, and the budget.
        Free; reads no data.
        """

        def describe() -> DatasetReply:
            opened = open_dataset(dataset, context)
            share = opened.ledger.share
            return DatasetReply(
                dataset=dataset,
                described=str(opened.describe()),
                declaration=opened.declaration.to_toml(),
                budget=opened.budget.numbers_text,
                left=opened.remaining.numbers_text,
                own_share_left=None if share is None else share.remaining.numbers_text,
            )

        return _or_refused(describe)

    @server.tool(annotations=FREE)
    def plan_question(
        dataset: DatasetName,
        sql: Sql,
        context: Context,
        epsilon: Epsilon = None,
        within: Within = None,
    ) -> PlanReply:
        """Say what a question would cost and how exact its answer would be. Free; reads no data."""

        def describe() -> PlanReply:
            planned = plan(open_dataset(dataset, context), sql, epsilon, within)
            return reply_with_plan(
                planned, float(epsilon_of(planned.cost)), needs_consent=needs_consent(planned)
            )

        return _or_refused(describe)

    @server.tool(annotations=CHARGES)
    def ask_question(
        dataset: DatasetName,
        sql: Sql,
        context: Context,
        consent: Annotated[Consent, Resolve(find_consent)],
        epsilon: Epsilon = None,
        within: Within = None,
        attempt: Annotated[
            int, Field(description="raise it only after a failure: a new attempt may cost again")
        ] = 1,
        first_row: Annotated[int, Field(description="for the next rows of a long answer")] = 0,
    ) -> AnswerReply:
        """Answer a question with noise, and charge its cost to the budget for ever. The same
        question again is free. State each number with its ±.
        """

        def answer() -> AnswerReply:
            if first_row < 0:
                raise refusals.ROWS_OUTSIDE(first_row=first_row)
            opened = open_dataset(dataset, context)
            planned = plan(opened, sql, epsilon, within)
            if isinstance(consent, NoConsentNeeded):
                if not planned.paid and not policy.reserve(epsilon_of(planned.cost)):
                    raise _consent_refusal(refusals.CONSENT_IMPOSSIBLE, planned)
            elif not consent.agree:
                raise _consent_refusal(refusals.CONSENT_DECLINED, planned)
            question = {"dataset": dataset, "sql": sql, "epsilon": epsilon, "within": within}
            released = opened.sql(sql, key=_key(question, attempt), **_promise(epsilon, within))
            return reply_with_answer(released, question, first_row)

        return _or_refused(answer)

    @server.tool(annotations=FREE)
    def read_history(dataset: DatasetName, context: Context) -> HistoryReply:
        """List the latest charges that this token may see, oldest first. Free."""
        return _or_refused(
            lambda: reply_with_history(open_dataset(dataset, context).ledger.history())
        )

    @server.tool(annotations=FREE)
    def read_card(
        dataset: DatasetName,
        entry: Annotated[int, Field(description="the entry of an answer's receipt")],
        context: Context,
    ) -> dict[str, object]:
        """Read the release card of an answer: what was measured, with which noise, at what cost.
        Free.
        """
        return _or_refused(lambda: dict(open_dataset(dataset, context).card(entry)))

    @server.resource("sfumato://sql", mime_type="text/markdown")
    def sql_guide() -> str:
        """What SQL may say: aggregates, functions, keys, and how to read a refusal."""
        return write_guide()

    return server


def _or_refused(act: Callable[[], T]) -> T:
    """Run a call to the service; a refusal or a failure becomes the tool's error, in its words."""
    try:
        return act()
    except (Refused, Failed) as error:
        raise ToolError(str(error)) from None


def _promise(epsilon: str | None, within: str | None) -> dict[str, str]:
    stated = {"epsilon": epsilon, "within": within}
    return {name: value for name, value in stated.items() if value is not None}


def _sent_token(context: Context) -> str:
    """Return the token of the request that the tools work for."""
    kind, _, token = (context.headers or {}).get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise refusals.TOKEN_NOT_SENT()
    return token.strip()


def _key(question: dict[str, str | None], attempt: int) -> str:
    """Return the idempotency key of a question: the same for the same text and promise."""
    return hashlib.sha256(json.dumps([question, attempt]).encode()).hexdigest()
