"""Releases of other projects with known bugs, caught by the tools that look for ours.

Slow: each is installed into an environment of its own, by pip as it is configured here.

*diffprivlib 0.6.6*  adds noise in doubles. The probe of precision sees which of two answers it was
                     added to; that four uniform numbers make a draw is no help.
*pure-ldp 1.1.2*     sets the own bit of a unary code with p, and never clears it: p + (1 − p)·q
                     instead of p. The exact audit refutes its claim, so does the sampled one.
*pure-ldp 1.2.0*     repaired that; it raises no alarm.

False alarms: the sampled audits are wrong with a chance of 1e-8 each; the exact ones and the grids
never.
"""

from __future__ import annotations

import json
import math
import subprocess
import venv
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.auditing import many
from sfumato.auditing.probes import precision

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("peers")]

CONFIDENCE = 1 - 1e-8
OLDER = "scikit-learn<1.6"
"""Diffprivlib wants names that later ones have not."""
UNSAID = (OLDER, "statsmodels")
"""What pure-ldp needs and does not say."""

Run = Callable[[str], Any]
"""A script, run in the other environment; what it prints as JSON."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """Packages in an environment that is thrown away."""

    @cache
    def install(*packages: str) -> Run:
        where: Path = tmp_path_factory.mktemp("peer")
        venv.create(where, with_pip=True)
        python = where / "bin" / "python"
        done = subprocess.run(
            [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *packages],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

        def run(script: str) -> Any:
            ran = subprocess.run(
                [python, "-c", script], capture_output=True, text=True, check=False
            )
            assert ran.returncode == 0, ran.stderr
            return json.loads(ran.stdout)

        return run

    return install


LAPLACE = """
import json
from diffprivlib.mechanisms import {kind}
m = {kind}(epsilon=1, {more})
print(json.dumps([[m.randomise(x).hex() for _ in range(10_000)] for x in (0.0, 1.0)]))
"""
BOUNDS = {
    "Laplace": "sensitivity=1",
    "LaplaceTruncated": "sensitivity=1, lower=-100.0, upper=100.0",
    "GaussianAnalytic": "sensitivity=1, delta=1e-6",
}


@pytest.mark.parametrize("kind", BOUNDS)
def test_diffprivlib_noise_in_doubles_is_caught_by_its_precision(
    kind: str, installed: Callable[..., Run]
) -> None:
    run = installed("diffprivlib==0.6.6", OLDER)
    drawn = [
        [float.fromhex(y) for y in side]
        for side in run(LAPLACE.format(kind=kind, more=BOUNDS[kind]))
    ]
    result = precision(many(lambda x, n: drawn[x]), 0, 1, samples=10_000)
    assert result.tells
    assert (
        result.finer > 0.02
    )  # of all answers show which one they are: from 1 nothing finer than 2^-53 can come
    assert (
        sf.audit(
            many(lambda x, n: drawn[x]),
            0,
            1,
            claim=sf.Approx(1, "1e-6"),
            samples=10_000,
            confidence=CONFIDENCE,
        ).verdict
        == "violated"
    )


def test_our_noise_is_not() -> None:
    """The twin: the same probe, the same size. The record covers so many numbers that move by 1 in
    all; each of them is a release with the same noise.
    """

    def release(x: int, n: int) -> Any:
        return sf.mechanisms.Laplace(sensitivity=1, scale=1, grid=2**-20, size=n).perturb(
            np.full(n, float(x))
        )

    assert not precision(many(release), 0, 1, samples=10_000).tells


UNARY = """
import json, math
from pure_ldp.frequency_oracles.unary_encoding import UEClient
client = UEClient(epsilon={epsilon}, d={d}, use_oue={optimised}, index_mapper=lambda x: x)
reports = [[[int(b) for b in client.privatise(x)] for _ in range({n})] for x in (0, 1)]
print(json.dumps({{"p": client.p, "q": client.q, "reports": reports}}))
"""

N = 100_000
VERSIONS = {"1.1.2": "violated", "1.2.0": "holds"}


@pytest.mark.parametrize("optimised", [False, True], ids=["symmetric", "optimised"])
@pytest.mark.parametrize("version", VERSIONS)
def test_pure_ldp_unary_encoding(
    version: str, optimised: bool, installed: Callable[..., Run]
) -> None:
    run = installed(f"pure-ldp=={version}", *UNSAID)
    epsilon, d = 2, 3
    drawn = run(UNARY.format(epsilon=epsilon, d=d, optimised=optimised, n=N))
    reports = [[tuple(report) for report in side] for side in drawn["reports"]]
    sampled = sf.audit(
        many(lambda x, n: reports[x][:n]),
        0,
        1,
        claim=sf.Pure(epsilon),
        samples=N,
        confidence=CONFIDENCE,
    )
    assert sampled.verdict == VERSIONS[version], sampled


@pytest.mark.parametrize("optimised", [False, True], ids=["symmetric", "optimised"])
@pytest.mark.parametrize("version", VERSIONS)
def test_pure_ldp_by_arithmetic(
    version: str, optimised: bool, installed: Callable[..., Run]
) -> None:
    """The law of a report, from the code that makes it: all that it asks of chance is put in its
    hands, both ways.
    """
    laws = installed(f"pure-ldp=={version}", *UNSAID)(
        FOLLOWED.format(epsilon=2, optimised=optimised)
    )
    chances = [
        {tuple(map(int, report)): Fraction(float.fromhex(p)) for report, p in side.items()}
        for side in laws
    ]
    assert all(abs(sum(side.values()) - 1) < 1e-12 for side in chances)
    assert all(set(side) <= set(product((0, 1), repeat=3)) for side in chances)
    total = [{report: p / sum(side.values()) for report, p in side.items()} for side in chances]
    result = sf.audit(
        lambda x: total[x], 0, 1, claim=sf.Pure(Fraction(2) + Fraction(1, 10**12)), exact=True
    )
    assert result.verdict == VERSIONS[version], result
    if version == "1.2.0":
        assert math.isclose(result.epsilon_lower, 2, rel_tol=1e-9)


FOLLOWED = """
import json, random
import numpy as np
from pure_ldp.frequency_oracles.unary_encoding import UEClient

class Script:
    def __init__(self, taken): self.taken, self.at, self.chance, self.open = taken, 0, 1.0, []
    def choose(self, p):  # whether an event of probability p is
        if self.at == len(self.taken):
            self.open.append([*self.taken, False]); self.taken = [*self.taken, True]
        yes = self.taken[self.at]; self.at += 1
        self.chance *= p if yes else 1 - p
        return yes

class Coin:  # in the place of a uniform number: compared with p, it is below with probability p
    def __init__(self, script): self.script = script
    def __lt__(self, p): return self.script.choose(p)
    def __le__(self, p): return self.script.choose(p)
    def __gt__(self, p): return not self.script.choose(p)
    def __ge__(self, p): return not self.script.choose(p)

def choice(script):
    def draw(values, size=None, p=None):
        one = lambda: values[0] if script.choose(p[0]) else values[1]
        return one() if size is None else np.array([one() for _ in range(size)])
    return draw

def law(client, x):
    found, open_ = {{}}, [[]]
    while open_:
        script = Script(open_.pop())
        random.random, np.random.choice = (lambda: Coin(script)), choice(script)
        np.random.rand = lambda *shape: (
            np.array([Coin(script) for _ in range(shape[0])], dtype=object)
            if shape
            else Coin(script)
        )
        np.random.random = np.random.rand
        report = "".join(str(int(b)) for b in client.privatise(x))
        found[report] = found.get(report, 0.0) + script.chance
        open_ += script.open
    return {{report: p.hex() for report, p in found.items()}}

client = UEClient(epsilon={epsilon}, d=3, use_oue={optimised}, index_mapper=lambda x: x)
print(json.dumps([law(client, 0), law(client, 1)]))
"""
"""Follows every coin of the client, as numpy and random give them to it."""
