"""E1, fork: two workers that inherit one generator add the same noise, and the difference of their
answers is the difference of the data.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json, os, signal, sys, threading, time
import numpy as np
from sfumato import mechanisms as mech
from sfumato.exact.balls import precision
from sfumato.noise.bits import SYSTEM

laplace = mech.Laplace(sensitivity=1, scale=2**56)
gaussian = mech.Gaussian(sensitivity=1, sigma=2**56)
naive = np.random.default_rng()
zeros = np.zeros(300, dtype=int)  # more words than are read from the system one by one

SOURCES = {
    "word": lambda: SYSTEM.integer(64),
    "words": lambda: int(SYSTEM.words(300)[-1]),
    "number": lambda: laplace.perturb(0),
    "array": lambda: int(laplace.perturb(zeros)[-1]),
    "gaussian number": lambda: gaussian.perturb(0),
    "gaussian array": lambda: int(gaussian.perturb(zeros)[-1]),
    "naive": lambda: int(naive.integers(2**62)),
}

def children(count):
    pipes = []
    for _ in range(count):
        read, write = os.pipe()
        if os.fork() == 0:
            signal.alarm(60)
            os.write(write, json.dumps({name: draw() for name, draw in SOURCES.items()}).encode())
            os._exit(0)
        os.close(write)
        pipes.append(read)
    for read in pipes:
        with os.fdopen(read) as pipe:
            yield json.loads(pipe.read())
    for _ in pipes:
        os.wait()

for draw in SOURCES.values():  # whatever state there is exists before the fork
    draw()
found = [drawn for _ in range(int(sys.argv[1]) // 50) for drawn in children(50)]

held = threading.Event()

def hold():
    with precision(64):
        held.set()
        time.sleep(1)

threading.Thread(target=hold, daemon=True).start()
held.wait()
found += children(1)  # forked while another thread computes: must not wait for it
print(json.dumps(found))
"""


@pytest.mark.parametrize("forks", [300, pytest.param(1000, marks=pytest.mark.slow)])
def test_attack_E1_children_draw_different_noise(forks: int) -> None:
    """No two of the children agree, by number or by array; by chance two of a thousand would with
    probability below 6 · 10^6/2 · 2^-57 < 3e-11. The generator that they inherit, which is what the
    attack is about, gives all of them the same.
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(forks)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    drawn: list[dict[str, int]] = json.loads(done.stdout)
    assert len(drawn) == forks + 1
    different = {source: len({child[source] for child in drawn}) for source in drawn[0]}
    assert different.pop("naive") == 1
    assert set(different.values()) == {forks + 1}
    assert len(different) == 6
