"""Figures belong to whoever asked for them, and are refused where they cannot be drawn."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sfumato import errors
from sfumato.plots import plot_style


def test_pyplot_is_never_imported() -> None:
    code = (
        "import sys, numpy as np; from sfumato import plots;"
        "plots.laws([plots.LawPanel(title='', remark='', integers=np.arange(2), laws={'a': "
        "np.ones(2) / 2})], title='', across='');"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_refusal_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.layout_engine", None)
    with pytest.raises(errors.Refused) as caught:
        plot_style.figure(1, 1)
    assert caught.value.code == "plots.missing"
    assert "sfumato[plots]" in caught.value.rewrite
