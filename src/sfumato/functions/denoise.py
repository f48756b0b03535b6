"""Denoise a Gaussian release of many numbers: post-processing, which costs nothing.

*Law*      y = θ + noise, with d independent noises of standard deviation σ, which is public.
*Shrink*   "james-stein": y·max(0, 1 − (d − 2)σ²/‖y‖²), for d ≥ 3. Its total squared error is below
           d·σ² on average, whatever θ is, and near 2σ² if θ is near 0 (James & Stein 1961; Balle &
           Wang 2018 for private releases).
*Cut*      "soft": each number moves towards 0 by σ·√(2·ln d), and not beyond. For θ with few
           numbers that are not 0 (Donoho & Johnstone 1994; Balle & Wang 2018).
*Towards*  0, or a public guess of the numbers.
*Bias*     Denoised numbers are biased towards the guess: intervals are those of the raw ones.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..exact.numbers import Number, positive
from . import function_refusals as refusals

Method = Literal["james-stein", "soft"]


def denoise(
    values: ArrayLike,
    sigma: Number,
    *,
    method: Method = "james-stein",
    towards: ArrayLike = 0.0,
) -> NDArray[np.float64]:
    """Denoise numbers that were released with Gaussian noise of standard deviation sigma.

    >>> sf.functions.denoise([3.0, 4.0, 0.0, 0.0, 0.0], sigma=1).round(2).tolist()
    [2.64, 3.52, 0.0, 0.0, 0.0]
    """
    if method not in get_args(Method):
        raise refusals.UNKNOWN_DENOISING(method=method, methods=", ".join(get_args(Method)))
    noisy, guess = np.asarray(values, dtype=np.float64), np.asarray(towards, dtype=np.float64)
    spread = float(positive(sigma, "sigma"))
    if noisy.size < 3 or guess.shape not in ((), noisy.shape):
        raise refusals.TOO_FEW_TO_DENOISE(size=noisy.size, guess=guess.shape)
    away: NDArray[np.float64] = noisy - guess
    if method == "soft":
        threshold = spread * math.sqrt(2 * math.log(noisy.size))
        moved: NDArray[np.float64] = np.sign(away) * np.maximum(np.abs(away) - threshold, 0.0)
        return guess + moved
    length = float((away**2).sum())
    factor = max(0.0, 1 - (noisy.size - 2) * spread**2 / length) if length else 0.0
    shrunk: NDArray[np.float64] = guess + factor * away
    return shrunk
