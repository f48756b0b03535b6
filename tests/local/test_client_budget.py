"""The budget of a client: what it lets out keeps its ε for life by arithmetic, it charges before it
looks at a value, and it refuses like a ledger.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.exact.balls import ball, below
from sfumato.local import Direct, Panel, Rappor, client
from sfumato.local.client import Client, OverBudget

from .laws import largest_odds, law_of_call

LIMITS = {
    "epsilon_per_report": 1,
    "reports_per_day": 3,
    "epsilon_per_day": 2,
    "epsilon_for_life": 3,
}
ASKED = json.loads(json.dumps(Direct(epsilon=1, categories=["yes", "no"]).question))
SMALL = json.loads(json.dumps(Direct(epsilon="1/10", categories=["yes", "no"]).question))
PANEL = json.loads(
    json.dumps(Panel(Direct(epsilon="1/2", categories=["yes", "no"]), waves=3, reports=2).question)
)


def reports_of_days(account: Client, values: list[str], days: list[int]) -> bytes:
    """The transcript of a collector that asks for every value, and what is refused."""
    sent = b""
    for value, day in zip(values, days, strict=True):
        try:
            sent += account.perturb(ASKED, value, day=day)[4:]
        except OverBudget:
            sent += b"refused"
    return sent


def test_all_that_an_account_lets_out_keeps_its_epsilon_for_life() -> None:
    """Six questions on four days: the law of the whole transcript, enumerated, under histories that
    differ everywhere, keeps e³; a client without the account exceeds it.
    """

    def ask(value: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            account = Client(f"{folder}/account", **LIMITS)
            return reports_of_days(account, [value] * 6, [5, 5, 5, 6, 6, 7])

    together = largest_odds([law_of_call(lambda v=v: ask(v)) for v in ("yes", "no")])
    assert together is not None
    assert below(lambda: ball(together), lambda: ball(Fraction(3)).exp())
    assert below(lambda: ball(Fraction(29, 10)).exp(), lambda: ball(together))  # it is used up
    free = largest_odds(
        [
            law_of_call(lambda v=v: b"".join(client.perturb(ASKED, v) for _ in range(4)))
            for v in ("yes", "no")
        ]
    )
    assert free is not None
    assert below(lambda: ball(Fraction(3)).exp(), lambda: ball(free))


def test_each_limit_refuses_and_nothing_is_charged(tmp_path: Path) -> None:
    account = Client(tmp_path / "account", **LIMITS)
    large = Direct(epsilon=2, categories=["yes", "no"]).question
    with pytest.raises(OverBudget, match="epsilon_per_report is 1: with this report"):
        account.perturb(large, "yes", day=1)
    assert account.remaining(day=1)["epsilon_for_life"] == 3
    assert len(account.perturb(ASKED, "yes", day=1)) == 5
    assert len(account.perturb(ASKED, "yes", day=1)) == 5
    with pytest.raises(OverBudget, match="epsilon_per_day is 2"):
        account.perturb(SMALL, "yes", day=1)
    assert account.remaining(day=1) == {
        "reports_today": 1,
        "epsilon_today": 0,
        "epsilon_for_life": 1,
    }
    for _ in range(3):
        account.perturb(SMALL, "yes", day=2)
    with pytest.raises(OverBudget, match="reports_per_day is 3"):
        account.perturb(SMALL, "yes", day=2)
    with pytest.raises(OverBudget, match="epsilon_for_life is 3"):
        account.perturb(ASKED, "yes", day=3)
    assert account.remaining(day=3)["epsilon_for_life"] == Fraction(7, 10)


def test_tenths_add_up_exactly(tmp_path: Path) -> None:
    many = {**LIMITS, "reports_per_day": 100, "epsilon_per_day": 1}
    account = Client(tmp_path / "account", **many)
    for _ in range(10):
        account.perturb(SMALL, "yes", day=1)
    assert account.remaining(day=1)["epsilon_today"] == 0
    with pytest.raises(OverBudget):
        account.perturb(SMALL, "yes", day=1)


def test_a_clock_that_is_set_back_gives_nothing(tmp_path: Path) -> None:
    account = Client(tmp_path / "account", **LIMITS)
    for _ in range(2):
        account.perturb(ASKED, "yes", day=9)
    for day in (9, 8, 0, -5):
        with pytest.raises(OverBudget, match="epsilon_per_day"):
            account.perturb(ASKED, "yes", day=day)
    account.perturb(ASKED, "yes", day=10)


def test_the_charge_is_durable_before_the_value_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "account"
    account = Client(path, **LIMITS)
    left: list[Fraction] = []

    class Watched:
        def __eq__(self, value: object) -> bool:
            left.append(Client(path).remaining(day=1)["epsilon_for_life"])
            return False

        __hash__ = None  # type: ignore[assignment]  # not hashable

    account.perturb(ASKED, Watched(), day=1)
    assert left
    assert set(left) == {Fraction(2)}
    account.perturb(ASKED, Watched(), day=1)
    looked = len(left)
    with pytest.raises(OverBudget):
        account.perturb(ASKED, Watched(), day=1)
    with pytest.raises(ValueError, match="does not know such a question"):
        account.perturb({**ASKED, "version": 2}, Watched(), day=2)
    assert len(left) == looked  # a refusal looks at no value
    assert account.remaining(day=2)["epsilon_for_life"] == 1


def test_a_device_that_dies_has_paid(tmp_path: Path) -> None:
    program = """
import os, sys
sys.path.insert(0, sys.argv[1])
from client import Client
import json
class Dies:
    def __eq__(self, value):
        os._exit(9)
Client("account").perturb(json.loads(sys.argv[2]), Dies(), day=1)
"""
    Client(tmp_path / "account", **LIMITS)
    completed = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            program,
            str(Path(client.__file__).parent),
            json.dumps(ASKED),
        ],
        cwd=tmp_path,
        check=False,
    )
    assert completed.returncode == 9
    assert Client(tmp_path / "account").remaining(day=1)["epsilon_for_life"] == 2


def test_threads_share_an_account(tmp_path: Path) -> None:
    """Four clients of one file ask ten times each: exactly 12 reports fit."""
    path = tmp_path / "account"
    Client(path, **{**LIMITS, "reports_per_day": 12, "epsilon_per_day": 100})
    sent: list[bytes] = []

    def ask() -> None:
        mine = Client(path)
        for _ in range(10):
            try:
                sent.append(mine.perturb(SMALL, "yes", day=1))
            except OverBudget:
                return

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sent) == 12
    assert Client(path).remaining(day=1)["reports_today"] == 0


def test_a_panel_is_charged_once_and_remembered(tmp_path: Path) -> None:
    account = Client(tmp_path / "account", **LIMITS)
    sent = [account.perturb(PANEL, "yes", wave=wave, day=wave) for wave in range(3)]
    assert len([report for report in sent if report]) == 2
    again = [Client(tmp_path / "account").perturb(PANEL, "no", wave=w, day=9) for w in range(3)]
    assert again == sent
    assert account.remaining(day=10)["epsilon_for_life"] == 2
    with pytest.raises(ValueError, match="a wave from 0 to 2"):
        account.perturb(PANEL, "yes", wave=3, day=10)
    with pytest.raises(ValueError, match="no other question takes it"):
        account.perturb(ASKED, "yes", wave=0, day=10)
    assert account.remaining(day=10)["reports_today"] == 3


def test_values_that_change_have_no_bound_under_rappor(tmp_path: Path) -> None:
    account = Client(tmp_path / "account", **LIMITS)
    question = Rappor(f="1/2", p="1/2", q="3/4", categories=["yes", "no"]).question
    with pytest.raises(ValueError, match="no ε bounds a change"):
        account.perturb(question, "yes", day=1)
    assert account.remaining(day=1)["epsilon_for_life"] == 3


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"epsilon_per_day": 1},
        {**LIMITS, "epsilon_for_life": 0},
        {**LIMITS, "reports_per_day": "1/2"},
        {**LIMITS, "epsilon_for_ever": 3},
        {**LIMITS, "epsilon_per_day": "many"},
    ],
    ids=str,
)
def test_limits_are_stated_once(limits: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        Client(tmp_path / "account", **limits)
    assert not (tmp_path / "account").exists()


def test_limits_never_change(tmp_path: Path) -> None:
    path = tmp_path / "account"
    Client(path, **LIMITS)
    Client(path, **LIMITS)
    Client(path, epsilon_for_life="3.0")
    for changed in ({"epsilon_for_life": 4}, {**LIMITS, "reports_per_day": 9}):
        with pytest.raises(ValueError, match="never change"):
            Client(path, **changed)
    assert Client(path).remaining(day=0)["epsilon_for_life"] == 3


def test_a_file_that_is_no_account_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "account"
    path.write_text("not an account, and longer than the head of a database" * 4)
    for limits in ({}, LIMITS):
        with pytest.raises(ValueError, match="no account can be kept"):
            Client(path, **limits)
    assert path.read_text().startswith("not an account")


def test_the_budget_needs_one_file_of_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "client.py").write_bytes(Path(client.__file__).read_bytes())
    program = (
        "import sys; sys.path.insert(0, '.'); from client import Client; "
        f"account = Client('account', **{LIMITS}); print(len(account.perturb({ASKED}, 'yes')))"
    )
    completed = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert completed.stdout == "5\n"
