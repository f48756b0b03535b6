"""What a refusal has to have."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.errors import Refused


def refusal(call: Any, code: str) -> Refused:
    """The refusal that the call ends in, whole: with its code, a place, a reason and a rewrite, each of a length that is read."""
    with pytest.raises(Refused) as caught:
        call()
    refused = caught.value
    assert refused.code == code, refused
    assert refused.place
    assert refused.reason
    assert refused.rewrite
    assert max(map(len, (refused.place, refused.reason, refused.rewrite))) < 400
    return refused
