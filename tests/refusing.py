"""What a refusal has to have: its code, a place, a reason and a rewrite, each of a length that is
read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sfumato.errors import Refused


@contextmanager
def refusing(code: str) -> Iterator[pytest.ExceptionInfo[Refused]]:
    """What is done here is refused with this code."""
    with pytest.raises(Refused) as caught:
        yield caught
    refused = caught.value
    assert refused.code == code, refused
    assert refused.place
    assert refused.reason
    assert refused.rewrite
    assert max(map(len, (refused.place, refused.reason, refused.rewrite))) < 400


def refusal(call: Callable[[], Any], code: str) -> Refused:
    """The refusal with this code that a call ends in."""
    with refusing(code) as caught:
        call()
    return caught.value
