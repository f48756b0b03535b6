"""Which way a curve is computed."""

from __future__ import annotations

import sfumato as sf
from sfumato.accounting import loss_curve


def test_closed_forms_need_no_sweep() -> None:
    assert loss_curve._swept(sf.compose([(sf.GDP("0.1"), 20)]).parts) is None
    assert loss_curve._swept(sf.compose([(sf.Pure("0.1"), 20)]).parts) is None
