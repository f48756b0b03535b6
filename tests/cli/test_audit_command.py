"""`sfumato audit`, as a shell sees it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import typer

from sfumato.auditing import survey as surveying
from sfumato.cli.audit_command import REFUTED, run_audit
from sfumato.guarantees import Guarantee, Pure
from sfumato.mechanisms import Laplace
from sfumato.mechanisms.stated.audit_example import AuditExample, fixed

from .command_line import run_inside, run_process

shell = partial(run_inside, "audit", width=120)


def test_it_prints_a_table_and_writes_it(tmp_path: Path) -> None:
    done = run_process(
        "audit",
        "RandomizedResponse",
        "NoisyMax",
        "--samples",
        "100",
        "--epsilon",
        "1",
        "--out",
        str(tmp_path / "audit"),
    )
    assert done.returncode == 0
    assert "NoisyMax" in done.stdout
    assert "arithmetic" in done.stdout
    assert "3 claims, 15 pairs of neighbours: 0 refuted." in done.stdout
    assert (tmp_path / "audit" / "audit.md").read_text(encoding="utf-8").startswith("| mechanism")
    assert (tmp_path / "audit" / "audit.png").is_file()
    assert "Traceback" not in done.stderr


def test_an_unknown_mechanism_is_refused() -> None:
    done = shell("Laplac")
    assert done.returncode == 1
    assert done.stderr.startswith("refused [audit.mechanism]")


@pytest.mark.parametrize("arguments", [("--samples", "3"), ("--epsilon", "x")])
def test_wrong_usage_is_2(arguments: tuple[str, ...]) -> None:
    assert shell(*arguments).returncode == 2


@pytest.mark.parametrize("level", ["7", "nan", "-1"])
def test_a_level_at_which_nothing_is_audited_is_refused(level: str) -> None:
    done = shell("Laplace", f"--epsilon={level}")
    assert done.returncode == 1
    assert done.stderr.startswith("refused [audit.epsilon]")


class ThirdPromised(Laplace):
    __slots__ = ()

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return tuple(
            Pure(promise.parameters["epsilon"] / 3)
            for promise in super().promises
            if isinstance(promise, Pure)
        )


def test_a_refuted_claim_ends_with_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = AuditExample(
        "Laplace", lambda e: ThirdPromised(sensitivity=1, epsilon=e), fixed((0, 1))
    )
    monkeypatch.setattr(surveying, "CATALOGUE", (broken,))
    with pytest.raises(typer.Exit) as ended:
        run_audit((), samples=2000, epsilons=(1.0,), draws=True, out=None)
    assert ended.value.exit_code == REFUTED == 3
    assert "1 refuted" in capsys.readouterr().out
