"""Scores that separate outputs of x from outputs of y: each is fitted on held-out draws, and is
larger where x is likelier.

*Symbols*   How often each whole output, or structure, was seen: the logarithm of the smoothed
            ratio.
*Value*     A number of the output itself, from above and from below.
*Cells*     The same by cells of its range, between which the ratio is counted.
*Grain*     The finest power of two that a number is a multiple of: what noise in floating point
            gives away of what it was added to (Mironov 2012; Haney et al. 2022).
*Together*  For several numbers: the sum of their cells' logarithms, Fisher's linear discriminant
            (1936), and which of them is largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .canonical_outputs import Outputs

Scores = NDArray[np.float64]
Column = Callable[[Outputs], NDArray[np.generic]]
_CELLS = 64
_A_CELL = 40  # draws that a cell should see
_ONE_BY_ONE = 24  # numbers looked at one by one; together all of them are
_WIDE = 1e300  # beyond it differences of doubles overflow
_MANY = 400  # symbols: below this many they are always worth counting


@dataclass(frozen=True, slots=True)
class Score:
    """A fitted score, and a description of what it measures."""

    of: str
    score: Callable[[Outputs], Scores]
    words: Callable[[float], str]

    def __call__(self, drawn: Outputs) -> Scores:
        return self.score(drawn)


def fit_scores(a: Outputs, b: Outputs) -> Iterator[Score]:
    """Fit all scores on outputs of x and outputs of y."""
    yield from _symbols("structure", lambda d: d.structure, a, b)
    yield from _symbols("output", lambda d: d.symbols, a, b)
    places = [place for place in a.numbers if place in b.numbers]
    cells: list[Score] = []
    for i, place in enumerate(places):
        if i < _ONE_BY_ONE:
            yield from _values(place)
            yield from _symbols(f"grain of {_place_name(place)}", _grains_at(place), a, b)
        score = _cells(place, a, b)
        if score is not None:
            cells.append(score)
            if i < _ONE_BY_ONE:
                yield score
    if len(places) > 1:
        yield Score(
            "all numbers",
            lambda d: sum((s(d) for s in cells), np.zeros(len(d))),
            lambda t: f"sum of the cells' log-ratios ≥ {t:.6g}",
        )
        yield _linear(places, a, b)
        yield from _symbols(
            "place of the largest number", lambda d: np.argmax(_matrix(d, places), axis=1), a, b
        )
        yield from _symbols(
            "place of the smallest number", lambda d: np.argmin(_matrix(d, places), axis=1), a, b
        )


def _symbols(name: str, column: Column, a: Outputs, b: Outputs) -> Iterator[Score]:
    """Fit a score by counting, if there are at least two symbols and they repeat."""
    symbols, codes = np.unique(np.concatenate([column(a), column(b)]), return_inverse=True)
    if len(symbols) < 2 or len(symbols) > max(_MANY, len(codes) // 3):
        return
    seen_a, seen_b = (
        np.bincount(part, minlength=len(symbols)) for part in (codes[: len(a)], codes[len(a) :])
    )
    ratio = np.log((seen_a + 0.5) / (len(a) + 1)) - np.log((seen_b + 0.5) / (len(b) + 1))
    floats, texts = a.floats and name == "output", {**b.texts, **a.texts}

    def score(drawn: Outputs) -> Scores:
        values = column(drawn)
        at = np.minimum(np.searchsorted(symbols, values), len(symbols) - 1)
        scores: Scores = np.where(symbols[at] == values, ratio[at], 0.0)
        return scores

    def words(least: float) -> str:
        inside = [k for k, r in zip(symbols.tolist(), ratio.tolist(), strict=True) if r >= least]
        shown = ", ".join(
            _symbol_text(np.int64(k).view(np.float64) if floats else texts.get(k, k))
            for k in inside[:6]
        )
        return (
            f"{name} in {{{shown}{', …' if len(inside) > 6 else ''}}}"
            if inside
            else f"{name} never seen before"
        )

    yield Score(name, score, words)


def _grains_at(place: str) -> Column:
    return lambda d: grain(_column(d, place))


def _values(place: str) -> Iterator[Score]:
    name = _place_name(place)
    yield Score(name, lambda d: _up(_column(d, place)), lambda t: f"{name} ≥ {t:.6g}")
    yield Score(name, lambda d: _up(-_column(d, place)), lambda t: f"{name} ≤ {-t:.6g}")


def _cells(place: str, a: Outputs, b: Outputs) -> Score | None:
    pooled = np.concatenate([_column(a, place), _column(b, place)])
    pooled = np.clip(pooled[np.isfinite(pooled)], -_WIDE, _WIDE)
    if not len(pooled):
        return None
    cells = min(_CELLS, max(4, len(pooled) // (2 * _A_CELL)))
    edges = np.unique(np.quantile(pooled, np.linspace(0, 1, cells + 1)[1:-1]))

    def cell(drawn: Outputs) -> NDArray[np.int64]:
        values = _column(drawn, place)
        return np.where(
            np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="right")
        )

    seen_a, seen_b = (np.bincount(cell(d), minlength=len(edges) + 2) for d in (a, b))
    ratio = np.log((seen_a + 0.5) / (len(a) + 1)) - np.log((seen_b + 0.5) / (len(b) + 1))
    return Score(
        f"cells of {_place_name(place)}",
        lambda d: ratio[cell(d)],
        lambda t: f"cell of {_place_name(place)} with log-ratio ≥ {t:.6g}",
    )


def _linear(places: list[str], a: Outputs, b: Outputs) -> Score:
    """Fit Fisher's discriminant on centred numbers, clipped at a few deviations so that an outlier
    does not decide alone.
    """
    first, second = _matrix(a, places), _matrix(b, places)
    both = np.concatenate([first, second])
    low, centre, high = np.quantile(both, [0.02, 0.5, 0.98], axis=0)
    width = np.where(high > low, high - low, 1.0)

    def standard(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        inside: NDArray[np.float64] = np.clip((rows - centre) / width, -3, 3)
        return inside

    standard_a, standard_b = standard(first), standard(second)
    within = (np.cov(standard_a.T) + np.cov(standard_b.T)) / 2 + 1e-3 * np.eye(len(places))
    weights = np.linalg.solve(within, standard_a.mean(axis=0) - standard_b.mean(axis=0))
    return Score(
        "all numbers",
        lambda d: standard(_matrix(d, places)) @ weights,
        lambda t: f"weighted sum of the numbers ≥ {t:.6g}",
    )


def _column(drawn: Outputs, place: str) -> NDArray[np.float64]:
    values = drawn.numbers.get(place)
    return np.full(len(drawn), np.nan) if values is None else values


def _matrix(drawn: Outputs, places: list[str]) -> NDArray[np.float64]:
    return np.clip(
        np.nan_to_num(np.stack([_column(drawn, place) for place in places], axis=1), nan=0.0),
        -_WIDE,
        _WIDE,
    )


def _up(values: NDArray[np.float64]) -> Scores:
    return np.where(np.isnan(values), -np.inf, values)


def grain(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Compute the exponent of the lowest set bit; above a thousand for zero and for what is no
    number.
    """
    finite = np.isfinite(values) & (values != 0)
    mantissa, exponent = np.frexp(np.where(finite, values, 1.0))
    integers = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    zeros = np.log2((integers & -integers).astype(np.float64)).astype(np.int64)
    return np.where(finite, exponent - 53 + zeros, np.where(values == 0, 2000, 3000))


def _place_name(place: str) -> str:
    return f"output{place}" if place else "output"


def _symbol_text(symbol: object) -> str:
    text = symbol.hex() if isinstance(symbol, bytes) else " ".join(str(symbol).split())
    text = f"error {text[1:-1]}" if text.startswith("!") and text.endswith(";") else text
    return text if len(text) <= 40 else f"{text[:37]}…"
