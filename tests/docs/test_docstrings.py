"""What users call first has a docstring with an example that runs as printed.

`...` stands for what is different each time. Noise is new at every run: where an example shows a
noisy answer, the test's false-alarm rate is at most 10⁻⁶ for it.
"""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import sfumato as sf
from sfumato import local, session
from sfumato import mechanisms as mech

CALLED_FIRST: dict[str, Callable[..., Any]] = {
    "protect": sf.protect,
    "sql": session.Table.sql,
    "plan": session.Table.plan,
    "release": session.Table.release,
    "group_by": session.Table.group_by,
    "aggregate": session.Table.aggregate,
    "privatize": sf.privatize,
    "audit": sf.audit,
    "compose": sf.compose,
    "Laplace.perturb": mech.Laplace.perturb,
    "Exponential.perturb": mech.Exponential.perturb,
    "Mean.perturb": mech.Mean.perturb,
    "Quantile.perturb": mech.Quantile.perturb,
    "local.perturb": local.Oracle.perturb,
    "local.best": local.best,
}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def failures(text: str, **names: object) -> int:
    """Run the examples of a docstring; return how many there are that do not print as shown."""
    parsed = doctest.DocTestParser().get_doctest(text, {"sf": sf, "mech": mech, **names}, "", "", 0)
    assert parsed.examples, "no example"
    return doctest.DocTestRunner(optionflags=OPTIONS).run(parsed, out=lambda _: None).failed


@pytest.fixture(scope="module")
def visits() -> session.Table:
    return sf.protect(
        sf.samples.visits(), name="visits", unit="user_id", max_rows=4, budget=sf.Approx(50, 1e-6)
    )


@pytest.mark.parametrize("name", CALLED_FIRST)
def test_the_example_runs(name: str, visits: session.Table) -> None:
    text = CALLED_FIRST[name].__doc__ or ""
    if name == "local.perturb":
        text = local.Direct.perturb.__doc__ or ""
    assert failures(text, visits=visits) == 0


@pytest.mark.parametrize("name", ["protect", "sql", "plan", "release"])
def test_every_parameter_is_explained(name: str) -> None:
    call = CALLED_FIRST[name]
    lines = [line.split()[0] for line in (call.__doc__ or "").splitlines() if line.strip()]
    skipped = {"self", "query", "text"}
    assert set(inspect.signature(call).parameters) - skipped - set(lines) == set()


def test_a_wrong_example_is_seen() -> None:
    assert failures(">>> 1 + 1\n3\n") == 1
    with pytest.raises(AssertionError, match="no example"):
        failures("nothing")
