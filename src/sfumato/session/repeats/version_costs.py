"""What each version of the data has cost: the charges of a ledger, by the owner's label.

A charge for questions about a version states it in the first line of its memo (`release`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...guarantees import Guarantee
from ...ledger import Ledger
from ...release import MEMO_OF_VERSION
from ...tables.plan.explain import cost_text
from ...templates.summary import Summarized, Summary


class VersionCosts(Mapping[str, Guarantee], Summarized):
    """The cost of each version of the data, oldest first; "" for charges that state none."""

    def __init__(self, costs: Mapping[str, Guarantee]) -> None:
        self._costs = dict(costs)

    def __getitem__(self, version: str) -> Guarantee:
        return self._costs[version]

    def __iter__(self) -> Iterator[str]:
        return iter(self._costs)

    def __len__(self) -> int:
        return len(self._costs)

    __repr__ = Summarized.__repr__

    def _summary(self) -> Summary:
        return Summary(
            title="cost by version of the data",
            heads=("version", "cost"),
            rows=[(name or "no version", cost_text(cost)) for name, cost in self._costs.items()],
        )


def cost_by_version(ledger: Ledger) -> VersionCosts:
    """Add up the charges of a ledger by version. Every charge counts once, so the costs sum to what
    is spent.
    """
    costs: dict[str, Guarantee] = {}
    for entry in ledger.history():
        if entry.cost is None or entry.kind != "charge":
            continue
        first = entry.memo.partition("\n")[0]
        is_labelled = first.startswith(MEMO_OF_VERSION)
        version = first.removeprefix(MEMO_OF_VERSION) if is_labelled else ""
        costs[version] = costs[version] + entry.cost if version in costs else entry.cost
    return VersionCosts(costs)
