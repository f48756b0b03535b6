"""Fair queues: scarce resources (workers, planning threads) go to analysts in turn, not in the
order of requests.

*Turns*     A free resource goes to the name that has waited longest since its last turn. So a name
            with sixty requests delays another name by one turn, not by sixty.
*Limits*    A name may have a limited number of waiting requests; one more is refused at once
            (`Full`). A name may hold a limited number of resources. All in one event loop.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class Full(Exception):
    """Too many requests of one name are waiting."""


class Turns(Generic[T]):
    """Resources, and the names that wait for one."""

    def __init__(self, things: Iterable[T], *, waiting: int, held: int | None = None) -> None:
        self._free = list(things)
        self._waiting, self._most = waiting, held
        # by name, the one whose turn is next first
        self._lines: OrderedDict[str, deque[asyncio.Future[T]]] = OrderedDict()
        self._held: Counter[str] = Counter()

    async def take(self, who: str, seconds: float) -> T:
        """Return a resource for a name. Raises `Full` if too many of its requests wait,
        TimeoutError if its turn does not come in time.
        """
        line = self._lines.setdefault(who, deque())
        if len(line) >= self._waiting:
            raise Full
        place: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        line.append(place)
        self._give_out()
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(place)
        except BaseException:
            if place.done() and not place.cancelled():  # its turn came in the same moment
                self.give(who, place.result())
            else:
                place.cancel()
                self._leave(who, place)
            raise

    def give(self, who: str, thing: T) -> None:
        """Take a resource back from a name."""
        self.left(who)
        self.add(thing)

    def left(self, who: str) -> None:
        """Count one resource less for a name; the resource itself returns later, by `add`."""
        self._held[who] -= 1
        if not self._held[who]:
            del self._held[who]

    def add(self, thing: T) -> None:
        """Add a free resource."""
        self._free.append(thing)
        self._give_out()

    def _give_out(self) -> None:
        """Give free resources to the names whose turn it is."""
        while (
            self._free
            and (who := next((name for name in self._lines if self._may(name)), None)) is not None
        ):
            place = self._lines[who].popleft()
            if not self._lines[who]:
                del self._lines[who]
            else:
                self._lines.move_to_end(who)
            self._held[who] += 1
            place.set_result(self._free.pop())

    def _may(self, who: str) -> bool:
        return bool(self._lines[who]) and (self._most is None or self._held[who] < self._most)

    def _leave(self, who: str, place: asyncio.Future[T]) -> None:
        line = self._lines.get(who)
        if line is not None and place in line:
            line.remove(place)
            if not line:
                del self._lines[who]
