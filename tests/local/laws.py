"""The exact law of a client, by running it: every coin and every uniform choice is followed both
ways, and the probabilities are multiplied as rationals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from sfumato.local import client

ONE = 1 << 64
LARGE = 1 << 16
"""A uniform choice among more is not followed: `large_draws` fixes it. The law is then that of the
rest, given this choice (of a hash function).
"""

Report = TypeVar("Report", bound=Hashable)


@dataclass
class Run:
    """One way through a client: a script of choices, and what else could have been chosen after
    it.
    """

    script: tuple[int, ...]
    large_draws: tuple[int, ...]
    chance: Fraction = Fraction(1)
    at: int = 0
    drawn: int = 0
    others: list[tuple[int, ...]] = field(default_factory=list)

    def choose(self, chances: list[Fraction]) -> int:
        possible = [i for i, chance in enumerate(chances) if chance > 0]
        if self.at < len(self.script):
            chosen = self.script[self.at]
        else:
            chosen = possible[0]
            self.others += [(*self.script, choice) for choice in possible[1:]]
            self.script = (*self.script, chosen)
        self.at += 1
        self.chance *= chances[chosen]
        return chosen

    def coin(self, m: int) -> bool:
        heads = Fraction(min(max(m, 0), ONE), ONE)  # U < m: never for m ≤ 0, always for m ≥ 2^64
        return self.choose([1 - heads, heads]) == 1

    def below(self, limit: int) -> int:
        if limit > LARGE:
            self.drawn += 1
            return self.large_draws[self.drawn - 1] % limit
        return self.choose([Fraction(1, limit)] * limit)


@contextmanager
def chosen(module: Any, run: Run) -> Iterator[None]:
    before = module.coin, module.below
    module.coin, module.below = run.coin, run.below
    try:
        yield
    finally:
        module.coin, module.below = before


def law_of_call(
    call: Callable[[], Report], *, large_draws: tuple[int, ...] = (), module: Any = client
) -> dict[Report, Fraction]:
    """The exact law of what a call returns."""
    law: defaultdict[Report, Fraction] = defaultdict(Fraction)
    open_: list[tuple[int, ...]] = [()]
    while open_:
        run = Run(open_.pop(), large_draws)
        with chosen(module, run):
            out = call()
        law[out] += run.chance
        open_ += run.others
    assert sum(law.values()) == 1
    return dict(law)


def law_of(
    question: dict[str, Any],
    code: object,
    *,
    large_draws: tuple[int, ...] = (),
    module: Any = client,
) -> dict[bytes, Fraction]:
    """The exact law of the payload that the client sends for a value."""
    if question["kind"] == "rappor":
        return law_of_call(
            lambda: module.rappor(question, code, {}), large_draws=large_draws, module=module
        )
    return law_of_call(
        lambda: module.KINDS[question["kind"]](question, code),
        large_draws=large_draws,
        module=module,
    )


def largest_odds(laws: list[dict[bytes, Fraction]]) -> Fraction | None:
    """The largest ratio of the chances of one report under two values; None where one of them is
    0.
    """
    reports = {report for law in laws for report in law}
    worst = Fraction(1)
    for report in reports:
        chances = [law.get(report, Fraction(0)) for law in laws]
        if min(chances) == 0:
            return None
        worst = max(worst, max(chances) / min(chances))
    return worst
