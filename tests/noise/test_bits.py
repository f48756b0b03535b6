"""Secure bits: fair, fresh in every call, process and thread; and if the operating system has none,
nothing is drawn.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from flint import ctx

from sfumato.noise import bits as module
from sfumato.noise.bernoulli import Bernoulli
from sfumato.noise.bits import CHUNK, SYSTEM, SystemBits
from sfumato.noise.choice import Choice
from sfumato.noise.geometric import Geometric
from sfumato.noise.rounded_normal import RoundedNormal
from sfumato.testing import SeededBits, TapeBits

from .cases import ONES, geometric_magnitudes

COUNTS = [
    0,
    1,
    2,
    module._SMALL - 1,
    module._SMALL,
    module._SMALL + 1,
    CHUNK - 1,
    CHUNK,
    CHUNK + 1,
    3 * CHUNK + 5,
]


@pytest.mark.parametrize("count", COUNTS)
def test_words(count: int) -> None:
    """All different: two of 50,000 words agree with probability below 1e-10."""
    words = SYSTEM.words(count)
    assert words.shape == (count,)
    assert words.dtype == np.uint64
    assert words.flags.writeable
    assert len(np.unique(np.concatenate([words, SYSTEM.words(count)]))) == 2 * count


@pytest.mark.parametrize("count", [module._SMALL, 10 * CHUNK])
def test_every_bit_is_fair(count: int) -> None:
    """Ones at each of 64 places, 6.5 standard deviations wide: false alarms below 64 · 1e-10 for
    each of two sizes.
    """
    words = np.concatenate([SYSTEM.words(count) for _ in range(10 * CHUNK // count)])
    ones = np.array(
        [int(((words >> np.uint64(place)) & np.uint64(1)).sum()) for place in range(64)]
    )
    assert (np.abs(ones - len(words) / 2) < 6.5 * np.sqrt(len(words)) / 2).all()


@pytest.mark.parametrize("bits", [1, 7, 8, 9, 28, 63, 64, 65, 200])
def test_integer(bits: int) -> None:
    """Within range, and each place seen both ways in 200 draws, but for a chance of 400 ·
    2^-200.
    """
    drawn = [SYSTEM.integer(bits) for _ in range(200)]
    assert all(0 <= number < 1 << bits for number in drawn)
    for place in range(bits):
        assert {number >> place & 1 for number in drawn} == {0, 1}


@pytest.mark.parametrize("count", [module._SMALL + 1, CHUNK + 3, 2 * CHUNK + 1])
def test_many_words_are_one_stream_of_a_key_read_in_the_call(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    keys = [bytes([i]) * 32 for i in (1, 2)]

    def urandom(size: int) -> bytes:
        sizes.append(size)
        return keys[len(sizes) - 1]

    monkeypatch.setattr(os, "urandom", urandom)
    for key in keys:
        stream = (
            Cipher(algorithms.AES256(key), modes.CTR(bytes(16)))
            .encryptor()
            .update(bytes(8 * count))
        )
        assert SystemBits().words(count).tobytes() == stream
    assert sizes == [32, 32], "a new key for each call, and nothing else"


@pytest.mark.parametrize("count", [5, module._SMALL])
def test_few_words_come_from_the_system_itself(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda size: bytes(range(256))[:8] * (size // 8))
    assert set(SYSTEM.words(count).tolist()) == {int.from_bytes(bytes(range(8)), sys.byteorder)}


def test_no_state() -> None:
    assert SystemBits.__slots__ == ()
    assert not hasattr(SYSTEM, "__dict__")


DRAWS: dict[str, Callable[[], Any]] = {
    "geometric draw": Geometric(scale=3).draw,
    "geometric sample": lambda: Geometric(scale=3).sample(5),
    "geometric large sample": lambda: Geometric(scale=10**9).sample(1000),
    "normal draw": RoundedNormal(sigma=3).draw,
    "normal sample": lambda: RoundedNormal(sigma=3).sample(5),
    "normal large sample": lambda: RoundedNormal(sigma=10**9).sample(1000),
    "coin draw": Bernoulli(p="1/3").draw,
    "coin sample": lambda: Bernoulli(p="1/3").sample(5000),
    "choice draw": Choice([0, 1]).draw,
    "choice sample": lambda: Choice([0, 1]).sample(5000),
}


@pytest.mark.parametrize("name", DRAWS)
def test_without_entropy_nothing_is_drawn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(size: int) -> bytes:
        raise OSError("no entropy")

    DRAWS[name]()
    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(OSError, match="no entropy"):
        DRAWS[name]()


@pytest.mark.parametrize("name", ["geometric draw", "normal draw"])
@pytest.mark.parametrize("calls", [0, 1])
def test_entropy_that_fails_midway_closes_too(
    name: str, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Further bits are asked for after the first word, and are not to be had."""
    left = itertools.count(calls, -1)

    def fail_later(size: int) -> bytes:
        if next(left) <= 0:
            raise OSError("no entropy")
        return bytes(size)

    monkeypatch.setattr(os, "urandom", fail_later)
    with pytest.raises(OSError, match="no entropy"):
        DRAWS[name]()


def test_threads() -> None:
    """Eight threads, switched as often as can be, each with lanes that ball arithmetic settles:
    what each draws is what it draws alone.
    """
    scale = 10**9
    words = [first for first, *_ in geometric_magnitudes(Geometric(scale=scale).scale)]
    tapes = [words[i:] + words[:i] for i in range(0, 64, 8)]
    geometric, normal = Geometric(scale=scale), RoundedNormal(sigma=scale)

    def work(tape: list[int]) -> list[Any]:
        half = len(tape) // 2
        drawn: list[Any] = geometric.sample(half, TapeBits(tape)).tolist()
        drawn += normal.sample(500, SeededBits(tape[0] % 1000)).tolist()
        drawn += [geometric.draw(TapeBits([word, ONES])) for word in tape[:20]]
        return [*drawn, geometric.tail(scale), normal.quantile("0.9")]

    alone = [work(tape) for tape in tapes]
    together: dict[int, list[Any]] = {}
    threads = [
        threading.Thread(target=lambda i=i: together.__setitem__(i, work(tapes[i])))
        for i in range(len(tapes))
    ]
    before, interval = ctx.prec, sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert [together[i] for i in range(len(tapes))] == alone
    assert ctx.prec == before


def test_threads_draw_different_bits() -> None:
    drawn: list[int] = []
    threads = [
        threading.Thread(target=lambda: drawn.extend(SYSTEM.words(1000).tolist())) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == 8000


def run(script: str) -> list[str]:
    """The lines a script prints in a fresh interpreter, where a fork copies no test runner."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout.split()


FORKS = """
    import os
    import numpy as np
    from sfumato.noise.bits import SYSTEM
    {setup}
    out, into = os.pipe()
    for _ in range({forks}):
        if os.fork() == 0:
            os.write(into, np.array({draws}, dtype=np.uint64).tobytes())
            os._exit(0)
        os.wait()
        for word in np.frombuffer(os.read(out, 16), dtype=np.uint64):
            print(word)
"""


@pytest.mark.parametrize("forks", [300, pytest.param(1000, marks=pytest.mark.slow)])
def test_forks_draw_different_words(forks: int) -> None:
    """One word from the system and one from a stream in each child; two of the 2,000 of a thousand
    children agree with probability 1e-13.
    """
    drawn = run(
        FORKS.format(
            forks=forks,
            setup="SYSTEM.words(1000)",
            draws="[SYSTEM.integer(64), SYSTEM.words(1000)[0]]",
        )
    )
    assert len(drawn) == len(set(drawn)) == 2 * forks


def test_a_generator_with_state_is_caught() -> None:
    """The twin: a seeded generator's children all draw the same."""
    setup = (
        "from sfumato.testing import SeededBits; bits = SeededBits(int.from_bytes(os.urandom(8)))"
    )
    drawn = run(FORKS.format(forks=50, setup=setup, draws="[bits.integer(64), bits.integer(64)]"))
    assert len(drawn) == 100
    assert len(set(drawn)) == 2


LOCKED = """
    import os, signal, threading
    from sfumato.exact import balls
    from sfumato.noise.geometric import Geometric
    from sfumato.testing import TapeBits

    held, done = threading.Event(), threading.Event()

    def hold():
        with balls.precision(1000):
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    old = balls._lock
    child = os.fork()
    if child == 0:
        signal.alarm({seconds})  # a child that waits for the lock is ended by the signal
        {in_child}
        drawn = Geometric(scale=10).draw(TapeBits([0, 0, 1 << 30]))
        os._exit(0 if drawn == Geometric(scale=10).draw(TapeBits([0, 0, 1 << 30])) > 400 else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    done.set()
    thread.join()
"""


def test_a_fork_while_another_thread_holds_the_precision() -> None:
    """That thread does not exist in the child, which must not wait for it."""
    assert run(LOCKED.format(seconds=60, in_child="pass")) == ["0"]


def test_a_fork_that_keeps_the_lock_is_caught() -> None:
    """The twin: with the parent's lock the child hangs, and is ended."""
    assert run(LOCKED.format(seconds=1, in_child="balls._lock = old")) == ["-14"]
