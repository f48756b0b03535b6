"""The window of the transform, against its sum."""

from __future__ import annotations

import numpy as np

from sfumato.accounting.loss.compose_window import Mesh, window

H = 0.05


def test_the_window_is_the_transform_of_r() -> None:
    mesh = Mesh(h=H, size=256, tilt=3.0)
    nodes = np.arange(129)
    transform, mean = window(mesh, nodes)
    d = np.arange(1, 20_000)
    r = -np.expm1(-H * d) * np.exp(-3.0 * H * d)
    exact = np.array([(r * np.exp(2j * np.pi * n * d / 256)).sum() for n in nodes])
    assert np.allclose(transform, exact, rtol=1e-10)
    assert mean >= (2 * np.abs(exact).sum() - abs(exact[0]) - abs(exact[-1])) / 256
