"""Read the ledger of a dataset behind a server, as far as the token may. The server stores the
ledger; the client charges it only by asking questions.
"""

from __future__ import annotations

from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import restore
from ..ledger import Balance, Charge, Head, History, Verification
from . import client_refusals as refusals
from .transport import Reply, Wire

PAGE = 200  # ledger entries per request
BLIND = "cannot see: "


class RemoteLedger:
    """The budget, the spending and the entries of a remote dataset."""

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
        """The token's own share of the budget, if it has one."""
        share = self._read_budget()["share"]
        return None if share is None else _balance(share)

    @property
    def shares(self) -> dict[str, Balance]:
        """All shares of the budget by name: for owners and auditors."""
        shares = self._read_budget().get("shares")
        if shares is None:
            raise refusals.SHARES_NOT_VISIBLE()
        return {str(share["name"]): _balance(share) for share in shares}

    def history(self) -> History:
        """All entries that the token may see, oldest first: an analyst's own, or all."""
        charges: list[Charge] = []
        after: int | None = 0
        while after is not None:
            page = self._wire.get(self._path("history"), after=after, limit=PAGE)
            charges += [self._charge(entry) for entry in page["entries"]]
            after = page["next"]
        return History(charges)

    def verify(self) -> Verification:
        """Let the server verify the whole ledger: for owners and auditors."""
        reply = self._wire.get(self._path("verify"))
        lines = reply["says"]
        blind = tuple(line.removeprefix(BLIND) for line in lines if line.startswith(BLIND))
        wrong = tuple(
            line.removeprefix("problem: ") for line in lines if not line.startswith(BLIND)
        )
        return Verification(() if reply["holds"] else wrong, blind, Head.read(reply["head"]))

    def __repr__(self) -> str:
        return f"<sfumato ledger of {self.dataset}, at {self._wire.url}>"

    def _path(self, what: str) -> str:
        return f"/api/datasets/{self.dataset}/{what}"

    def _read_budget(self) -> Reply:
        return self._wire.get(self._path("budget"))

    def _balance(self) -> Balance:
        return _balance(self._read_budget())

    def _charge(self, entry: Reply) -> Charge:
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


def _balance(record: Reply) -> Balance:
    return Balance(restore(record["budget"]), restore(record["spent"]))
