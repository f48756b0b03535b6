"""What commands share at a terminal: nothing of it is on standard output but the lines
themselves.
"""

from __future__ import annotations

import sys

import pytest
import typer

from sfumato.cli.terminal import output_format, print_line, progress_bar, show_status


@pytest.mark.parametrize(
    ("as_json", "as_csv", "form"),
    [(False, False, "text"), (True, False, "json"), (False, True, "csv")],
)
def test_forms(as_json: bool, as_csv: bool, form: str) -> None:
    assert output_format(as_json=as_json, as_csv=as_csv) == form


def test_an_answer_has_one_form() -> None:
    with pytest.raises(typer.BadParameter):
        output_format(as_json=True, as_csv=True)


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    print_line("one [bold]")
    assert capsys.readouterr() == ("one [bold]\n", "")


def test_no_sign_of_life_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with show_status("asking"):
        pass
    assert capsys.readouterr() == ("", "")


def test_a_sign_of_life_at_a_terminal_is_on_the_error_stream(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show_status("asking"):
        pass
    out, shown = capsys.readouterr()
    assert out == ""
    assert "asking" in shown


def test_a_bar_counts_what_has_begun(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar(3) as begin:
        for name in ("Laplace", "Gaussian", "Staircase"):
            begin(name)
    out, shown = capsys.readouterr()
    assert out == ""
    assert "Staircase" in shown
    assert "2/3" in shown  # two are done, the third has begun
