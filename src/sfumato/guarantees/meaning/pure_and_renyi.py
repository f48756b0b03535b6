"""Pure ε and Rényi bounds side by side: Mironov 2017, table I, with the misprints of a later copy
corrected.

Q(S | x) is the chance of an outcome S under x, R the odds of x against a neighbour y, and ε either
the pure ε or the bound on D_α at one order α > 1.
"""

from __future__ import annotations

from typing import NamedTuple


class ComparisonRow(NamedTuple):
    """One row of the table; `printed` is the misprint of the later copy, empty if it is right."""

    about: str
    pure: str
    renyi: str
    printed: str = ""


COMPARISON: tuple[ComparisonRow, ...] = (
    ComparisonRow(
        "chance of an outcome",
        "e^−ε·Q(S | y) ≤ Q(S | x) ≤ e^ε·Q(S | y)",
        "e^−ε·Q(S | y)^(α/(α−1)) ≤ Q(S | x) ≤ (e^ε·Q(S | y))^((α−1)/α)",
        "the left side without its exponent, the right side with y twice",
    ),
    ComparisonRow(
        "Bayes factor",
        "R_post/R_prior ≤ e^ε, always",
        "E[(R_post/R_prior)^(α−1)] ≤ e^((α−1)·ε)",
        "e^(ε·[(α−1)·ε])",
    ),
    ComparisonRow(
        "logarithm of the Bayes factor",
        "ln R_post − ln R_prior ≤ ε, always",
        "E[ln R_post − ln R_prior] ≤ ε, in expectation only",
        "the text beside the table drops the expectation",
    ),
    ComparisonRow("post-processing", "g∘f has the ε of f", "g∘f has the (α, ε) of f"),
    ComparisonRow("two releases, the second chosen after the first", "2ε", "(α, 2ε)", "3ε"),
    ComparisonRow("a group of 2^c", "2^c·ε", "(α/2^c, 3^c·ε), for α ≥ 2^(c+1)"),
)
