"""The plan of a question to a server: what it would cost and how exact it would be, as the server
worked it out. Reads no data, costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import Refused
from ..exact.numbers import Number, probability
from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import record, restore
from .transport import unreadable


@dataclass(frozen=True, slots=True, eq=False)
class RemotePlan:
    """What a release would cost, and what is expected of it."""

    text: str  # the SQL that is asked
    cost: Guarantee
    promise: Guarantee
    kinds: Mapping[str, str]
    keys: tuple[str, ...]
    affordable: bool
    deadline: float  # seconds within which the answer comes
    groups: int | None  # how many, where they are public
    explained: str = field(repr=False)
    asked: Mapping[str, Any] = field(repr=False)
    errors: Mapping[str, float | str] = field(repr=False)
    again: Callable[[Mapping[str, Any]], RemotePlan] = field(repr=False)

    @classmethod
    def of(
        cls, reply: Any, asked: Mapping[str, Any], again: Callable[[Mapping[str, Any]], RemotePlan]
    ) -> RemotePlan:
        """What a server replied to a question."""
        try:
            cost = restore(reply["cost"])
            return cls(
                text=str(asked["sql"]),
                cost=cost,
                promise=restore(reply["promise"]) if reply.get("promise") is not None else cost,
                kinds={str(column["name"]): str(column["kind"]) for column in reply["columns"]},
                keys=tuple(map(str, reply["keys"])),
                affordable=bool(reply["affordable"]),
                deadline=float(reply["deadline"]),
                groups=None if reply["rows"] is None else int(reply["rows"]),
                explained="\n".join(map(str, reply["explained"])),
                asked=asked,
                errors={str(name): _width(width) for name, width in reply["error"].items()},
                again=again,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, Refused):
                raise
            raise unreadable("the plan") from None

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> dict[str, float | str]:
        """Expected ± of each column, at this confidence; "after learning" where it is not known
        yet.
        """
        probability(confidence, "confidence", zero=False)
        size = self.asked.get("group_size") if group_size is None else group_size
        level = str(confidence)
        if (level, size) == (str(self.asked.get("confidence", 0.95)), self.asked.get("group_size")):
            return dict(self.errors)
        how = {
            name: value
            for name, value in self.asked.items()
            if name not in ("confidence", "group_size")
        }
        if "within" in how:  # at another level that would be another cost
            how = {
                name: value for name, value in how.items() if name not in ("within", "delta")
            } | {"promise": record(self.promise)}
        return dict(
            self.again(
                {**how, "confidence": level, **({} if size is None else {"group_size": size})}
            ).errors
        )

    def explain(self) -> str:
        """What would happen, in sentences."""
        return self.explained

    def __str__(self) -> str:
        return self.explained


def _width(width: Any) -> float | str:
    """A number; NaN where none is known beforehand."""
    return width if isinstance(width, str) else math.nan if width is None else float(width)
