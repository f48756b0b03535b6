"""Each way of ending, as a shell sees it: 0 done, 1 refused, 2 wrong usage, 3 failed; never a
traceback.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from sfumato.cli import commands, main
from sfumato.errors import Failed, Refused

from .command_line import run_inside, run_process


def end(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    """How `main` ends when a command raises."""

    def broken() -> None:
        raise error

    monkeypatch.setattr(commands, "app", broken)
    with pytest.raises(SystemExit) as caught:
        main()
    assert isinstance(caught.value.code, int)
    return caught.value.code


@pytest.mark.parametrize("words", ["version", "--version"])
def test_version(words: str) -> None:
    done = run_inside(words)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sfumato {version('sfumato')}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("-h",), ("demo", "--help"), ("demo", "-h"), ("local", "ask", "-h")],
)
def test_help_is_not_an_error(arguments: tuple[str, ...]) -> None:
    done = run_inside(*arguments)
    assert done.returncode == 0
    assert "Usage: sfumato" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [("unknown",), ("demo", "--unknown"), ("demo", "surplus"), ("version", "--epsilon", "1"), ()],
)
def test_wrong_usage_is_2(arguments: tuple[str, ...]) -> None:
    done = run_inside(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def query(folder: Path, epsilon: str) -> list[str]:
    """Write a file, and the arguments of a question about it."""
    (folder / "t.csv").write_text("x\n1\n")
    text = "SELECT COUNT(*) AS n FROM t"
    ledger = str(folder / "t.ledger")
    return ["query", str(folder / "t.csv"), text, f"--epsilon={epsilon}", "--ledger", ledger]


def check_refusal(output: str, errors: str, folder: Path) -> None:
    assert output == ""
    first, *rest = errors.splitlines()
    assert first.startswith("refused [number.")
    assert [line[:6] for line in rest] == ["why   ", "try   "]
    assert not (folder / "t.ledger").exists()


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "1e-320", "much", "", "true"])
def test_a_refused_parameter_is_1_and_explains_itself(
    epsilon: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["sfumato", *query(tmp_path, epsilon)])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    check_refusal(*capsys.readouterr(), tmp_path)


def test_a_shell_sees_the_same_refusal(tmp_path: Path) -> None:
    done = run_process(*query(tmp_path, "0"))
    assert done.returncode == 1
    check_refusal(done.stdout, done.stderr, tmp_path)


def test_a_shell_completes_commands() -> None:
    words = {"_SFUMATO_COMPLETE": "complete_bash", "COMP_WORDS": "sfumato ser", "COMP_CWORD": "1"}
    assert run_process(**words).stdout.split() == ["serve"]


def test_refused_is_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    refusal = Refused("some.code", "the place", "the reason", "the rewrite")
    assert end(monkeypatch, refusal) == 1
    assert capsys.readouterr().err == f"{refusal}\n"


@pytest.mark.parametrize(
    "error",
    [Failed(), ValueError("Angie"), KeyError("Angie"), MemoryError("Angie"), OSError("Angie")],
)
def test_failed_is_3_and_says_the_same_whatever_happened(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SFUMATO_DEBUG", raising=False)
    assert end(monkeypatch, error) == 3
    assert capsys.readouterr() == ("", f"{Failed.TEXT}\n")


def test_debug_shows_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SFUMATO_DEBUG", "1")
    assert end(monkeypatch, ValueError("Angie")) == 3
    assert "ValueError: Angie" in capsys.readouterr().err
