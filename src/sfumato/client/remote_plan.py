"""The plan of a question to a server: its cost and its expected error, computed by the server. A
plan reads no data and costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..errors import Refused
from ..exact.numbers import Number, probability
from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import record, restore
from ..tables.plan.query_plan import summarize_plan
from ..templates.summary import ShownText, Summarized, Summary
from . import client_refusals as refusals
from .transport import Reply


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RemotePlan(Summarized):
    """The cost of a release, and the expected error of its columns."""

    text: str  # the SQL of the question
    cost: Guarantee
    promise: Guarantee
    kinds: Mapping[str, str]
    keys: tuple[str, ...]
    affordable: bool
    paid: bool  # the answer is stored, and paid for: asking again is free
    deadline: float  # seconds within which the answer comes
    groups: int | None  # the number of groups, if they are public
    explained: str = field(repr=False)
    payload: Mapping[str, object] = field(repr=False)
    errors: Mapping[str, float | str] = field(repr=False)
    replan: Callable[[Mapping[str, object]], RemotePlan] = field(repr=False)

    @classmethod
    def of(
        cls,
        reply: Reply,
        payload: Mapping[str, object],
        replan: Callable[[Mapping[str, object]], RemotePlan],
    ) -> RemotePlan:
        """Read the plan from a server's reply; `replan` sends another payload to the server."""
        try:
            cost = restore(reply["cost"])
            return cls(
                text=str(payload["sql"]),
                cost=cost,
                promise=restore(reply["promise"]) if reply.get("promise") is not None else cost,
                kinds={str(column["name"]): str(column["kind"]) for column in reply["columns"]},
                keys=tuple(map(str, reply["keys"])),
                affordable=bool(reply["affordable"]),
                paid=bool(reply.get("paid", False)),
                deadline=float(reply["deadline"]),
                groups=None if reply["rows"] is None else int(reply["rows"]),
                explained="\n".join(map(str, reply["explained"])),
                payload=payload,
                errors={str(name): _width(width) for name, width in reply["error"].items()},
                replan=replan,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, Refused):
                raise
            raise refusals.REPLY_UNREADABLE(what="plan") from None

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> dict[str, float | str]:
        """The expected ± of each column at this confidence; "after learning" if it depends on
        limits that are not learned yet.
        """
        probability(confidence, "confidence", zero=False)
        payload = self.payload
        size = payload.get("group_size") if group_size is None else group_size
        level = str(confidence)
        if (level, size) == (str(payload.get("confidence", 0.95)), payload.get("group_size")):
            return dict(self.errors)
        how = {
            name: value
            for name, value in payload.items()
            if name not in ("confidence", "group_size")
        }
        if "within" in how:  # at another confidence the same `within` would have another cost
            how = {
                name: value for name, value in how.items() if name not in ("within", "delta")
            } | {"promise": record(self.promise)}
        return dict(
            self.replan(
                {**how, "confidence": level, **({} if size is None else {"group_size": size})}
            ).errors
        )

    def explain(self) -> str:
        """The plan in sentences."""
        return ShownText(self.explained)

    def __str__(self) -> str:
        return self.explained

    def _summary(self) -> Summary:
        return summarize_plan(
            self.cost,
            [
                (name, error if isinstance(error, str) else f"± {error:.4g}")
                for name, error in self.errors.items()
            ],
            self.text,
        )


def _width(width: str | float | None) -> float | str:
    """Read an expected error; NaN if the server cannot predict it."""
    return width if isinstance(width, str) else math.nan if width is None else float(width)
