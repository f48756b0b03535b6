"""Things that are few, given out by turns among names."""

from __future__ import annotations

import asyncio

import pytest

from sfumato.server.workers.fair_turns import Full, Turns


def test_one_name_with_many_requests_delays_another_by_one_turn() -> None:
    """One analyst with 60 requests at once left no worker for anybody else."""

    async def live() -> list[str]:
        turns, served = Turns(["worker"], waiting=100), list[str]()

        async def ask(who: str) -> None:
            thing = await turns.take(who, 20)
            served.append(who)
            await asyncio.sleep(0)
            turns.give(who, thing)

        tasks = [asyncio.create_task(ask("mallory")) for _ in range(60)]
        await asyncio.sleep(0)
        tasks += [asyncio.create_task(ask(who)) for who in ("ada", "bob", "ada", "bob")]
        await asyncio.gather(*tasks)
        assert len(served) == 64
        return served

    served = asyncio.run(live())
    first = served.index("ada")
    assert first <= 4  # some turns passed before ada came
    assert served[first : first + 5] in (
        ["ada", "bob", "mallory", "ada", "bob"],
        ["ada", "bob", "ada", "bob", "mallory"],
    )


def test_so_many_requests_of_one_name_wait() -> None:
    async def live() -> None:
        turns = Turns(["worker"], waiting=2)
        thing = await turns.take("ada", 1)
        waiting = [asyncio.create_task(turns.take("ada", 20)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Full):
            await turns.take("ada", 20)
        bobs_turn = asyncio.create_task(turns.take("bob", 20))
        await asyncio.sleep(0)
        turns.give("ada", thing)
        assert await waiting[0] == "worker"
        turns.give("ada", "worker")
        assert await bobs_turn == "worker"  # before the second of who came first
        turns.give("bob", "worker")
        assert await waiting[1] == "worker"

    asyncio.run(live())


def test_a_name_holds_so_many_at_a_time() -> None:
    async def live() -> None:
        turns = Turns([1, 2, 3], waiting=5, held=1)
        first = await turns.take("ada", 1)
        with pytest.raises(TimeoutError):
            await turns.take("ada", 0.01)
        assert await turns.take("bob", 1) != first
        turns.give("ada", first)
        assert await turns.take("ada", 1) is not None

    asyncio.run(live())


def test_who_leaves_loses_nothing_for_others() -> None:
    """A request that is cancelled, or waits too long, holds nothing afterwards: also where its turn
    came in the same moment.
    """

    async def live() -> None:
        turns = Turns(["worker"], waiting=5)
        thing = await turns.take("ada", 1)
        gone = asyncio.create_task(turns.take("bob", 20))
        late = asyncio.create_task(turns.take("eve", 0.01))
        await asyncio.sleep(0.05)
        gone.cancel()
        await asyncio.gather(gone, late, return_exceptions=True)
        same = asyncio.create_task(turns.take("bob", 20))
        await asyncio.sleep(0)
        turns.give("ada", thing)
        same.cancel()  # it has its turn, and has not heard of it yet
        await asyncio.gather(same, return_exceptions=True)
        assert await turns.take("ada", 1) == "worker"
        assert not turns._lines
        assert turns._held == {"ada": 1}

    asyncio.run(live())


def test_a_thing_may_come_back_later() -> None:
    async def live() -> None:
        turns = Turns(["worker"], waiting=5, held=1)
        await turns.take("ada", 1)
        turns.left("ada")
        with pytest.raises(TimeoutError):
            await turns.take("bob", 0.01)
        turns.add("another")
        assert await turns.take("bob", 1) == "another"

    asyncio.run(live())
