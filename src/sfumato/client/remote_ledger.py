"""The book of a dataset behind a server, as far as the token may read it. It is kept there: here
nothing is charged but by asking.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import restore
from ..ledger import Balance, Charge, Head, Verification
from .transport import Wire

PAGE = 200  # entries that are asked for at a time
BLIND = "cannot see: "


class RemoteLedger:
    """What was promised away of a dataset."""

    def __init__(self, wire: Wire, dataset: str) -> None:
        self._wire = wire
        self.dataset = dataset

    @property
    def budget(self) -> Guarantee:
        return self._balance().budget

    @property
    def spent(self) -> Guarantee:
        return self._balance().spent

    @property
    def remaining(self) -> Guarantee:
        return self._balance().remaining

    @property
    def share(self) -> Balance | None:
        """The part of the budget that is the token's own, if it has one."""
        found = self._said()["share"]
        return None if found is None else _balance(found)

    @property
    def shares(self) -> dict[str, Balance]:
        """Everybody's part, by name: for owners and auditors."""
        found = self._said().get("shares")
        if found is None:
            raise Refused(
                "client.role",
                "ledger.shares",
                "only owners and auditors see what others have spent",
                "ledger.share",
            )
        return {str(one["name"]): _balance(one) for one in found}

    def history(self) -> tuple[Charge, ...]:
        """Every entry that the token may see, oldest first: an analyst's own, or all."""
        found: list[Charge] = []
        after: int | None = 0
        while after is not None:
            page = self._wire.get(self._path("history"), after=after, limit=PAGE)
            found += [self._charge(entry) for entry in page["entries"]]
            after = page["next"]
        return tuple(found)

    def verify(self) -> Verification:
        """What the server's check of the whole book found: for owners and auditors."""
        found = self._wire.get(self._path("verify"))
        blind = tuple(line.removeprefix(BLIND) for line in found["says"] if line.startswith(BLIND))
        wrong = tuple(
            line.removeprefix("problem: ") for line in found["says"] if not line.startswith(BLIND)
        )
        return Verification(() if found["holds"] else wrong, blind, Head.read(found["head"]))

    def __repr__(self) -> str:
        return f"<sfumato ledger of {self.dataset}, at {self._wire.url}>"

    def _path(self, what: str) -> str:
        return f"/api/datasets/{self.dataset}/{what}"

    def _said(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._wire.get(self._path("budget"))
        return found

    def _balance(self) -> Balance:
        return _balance(self._said())

    def _charge(self, entry: Mapping[str, Any]) -> Charge:
        cost = entry["cost"]
        return Charge(
            number=int(entry["number"]),
            when=str(entry["when"]),
            kind=str(entry["kind"]),
            dataset=self.dataset,
            share=entry["who"] or None,
            memo=str(entry["memo"]),
            cost=None if cost is None else restore(cost),
            mechanisms=(),
            digest=str(entry["receipt"]),
        )


def _balance(said: Mapping[str, Any]) -> Balance:
    return Balance(restore(said["budget"]), restore(said["spent"]))
