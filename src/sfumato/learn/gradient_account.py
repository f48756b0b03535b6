"""Account for models that are trained elsewhere with noisy gradients of sampled batches, such as by
Opacus or JAX-Privacy: the certified total, and a charge before training.

*Step*      Every row enters a batch with probability q; each row's gradient is clipped to a norm C;
            the sum gets Gaussian noise of σ·C. Steps may depend on earlier ones; q, σ and their
            number are fixed beforehand.
*Total*     of all steps, about add-remove of a row, by the law of the sampled loss in both
            directions (docs/proofs/subsampled.md, docs/proofs/certified-composition.md).
*Not here*  Whether the trainer samples anew each time, clips every row and draws its noise from a
            secure source is its own affair: the account takes its word.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..accounting.compose import compose
from ..accounting.loss.privacy_loss import Loss
from ..exact.numbers import Number, is_whole, positive, probability
from ..guarantees import Approx
from ..ledger import Ledger, Receipt
from ..mechanisms import Gaussian
from ..templates.summary import Summarized, Summary
from . import learn_refusals as refusals

MOST_STEPS = 10_000_000
_DELTAS = ("1e-5", "1e-6", "1e-7")


@dataclass(frozen=True, repr=False)
class GradientAccount(Summarized):
    """The cost of steps of noisy gradients of sampled batches."""

    sampling_rate: Fraction
    noise_multiplier: Fraction
    steps: int
    unit: str

    @cached_property
    def loss(self) -> Loss:
        """The law of the loss of all steps."""
        step = Gaussian(
            sensitivity=1, sigma=self.noise_multiplier, relation="add-remove", unit=self.unit
        )
        if self.sampling_rate == 1:
            return compose([(step, self.steps)])
        return compose([(step.subsample(self.sampling_rate), self.steps)])

    def epsilon(self, delta: Number) -> float:
        """Return ε at this δ, rounded up."""
        return self.loss.epsilon(probability(delta, "delta", zero=False))

    def promise(self, delta: Number) -> Approx:
        """Return what all steps promise together, at this δ."""
        return Approx(
            self.epsilon(delta),
            probability(delta, "delta", zero=False),
            relation="add-remove",
            unit=self.unit,
        )

    def charge(
        self,
        ledger: Ledger,
        *,
        delta: Number = "1e-6",
        memo: str = "",
        share: str | None = None,
    ) -> Receipt:
        """Charge a ledger for all steps, before the first: from then on nothing is refunded, also
        if training ends early.
        """
        return ledger.charge(self.promise(delta), memo=memo or self._text, share=share)

    @property
    def _text(self) -> str:
        return (
            f"{self.steps:,} gradients with noise {float(self.noise_multiplier):g}, rows sampled "
            f"at {float(self.sampling_rate):g}"
        )

    def _summary(self) -> Summary:
        return Summary(
            title=self._text,
            heads=("δ", "ε"),
            rows=[(delta, f"{self.epsilon(delta):.4g}") for delta in _DELTAS],
            numbers=frozenset([1]),
            notes=[f"of each {self.unit}, add-remove; charge(ledger) before the first step"],
        )


def account(
    sampling_rate: Number, noise_multiplier: Number, steps: int, *, unit: str = "row"
) -> GradientAccount:
    """Account for training with noisy gradients: `sampling_rate` is the probability that a row
    enters a batch, `noise_multiplier` the deviation of the noise over the norm that rows are
    clipped to.

    >>> training = sf.learn.account(sampling_rate=0.01, noise_multiplier=1, steps=1000)
    >>> training.epsilon(1e-6)
    2.1...
    """
    rate = probability(sampling_rate, "sampling_rate", zero=False, one=True)
    if not is_whole(steps, 1, MOST_STEPS):
        raise refusals.OPTION_OUT_OF_RANGE(
            name="steps", value=steps, range=f"from 1 to {MOST_STEPS:,}", example=1000
        )
    return GradientAccount(rate, positive(noise_multiplier, "noise_multiplier"), steps, unit)
