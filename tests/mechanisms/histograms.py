"""Small histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato import mechanisms as mech
from sfumato.mechanisms.shared.histogram_result import PrivateHistogram


def histogram(**arguments: Any) -> mech.Histogram:
    defaults: dict[str, Any] = {"edges": [0, 1, 2, 3], "epsilon": 1, "relation": "replace"}
    return mech.Histogram(**(defaults | arguments))


def released(counts: Any, **arguments: Any) -> PrivateHistogram:
    """With these counts, as if the noise had given them."""
    return PrivateHistogram(histogram(**arguments), np.array(counts))
