"""SecureSum: several curators publish the noisy sum of their counts, and nobody sees an exact sum.

*Steps*      1. Each curator charges its ledger, adds a share of the noise to its counts, splits the
             result into secret shares, and sends one packet to every curator over an encrypted
             channel: `contribute`. 2. Each adds the packets that it got and publishes the sum once:
             `add`. 3. Anybody adds the published sums: `total`.
*Law*        The noise of `honest` curators adds up to exactly two-sided geometric noise of scale
             sensitivity/epsilon (`noise.polya_noise`). With more curators there is more noise.
*Promise*    ε-DP of everything that the public and a coalition see, about the units of each other
             curator: `sensitivity` bounds how far one unit moves the counts of its curator in L1.
             Of the curators taking part, `honest` must be outside the coalition: if `present` take
             part, no more than present − honest of them may collude, and none where present =
             honest. No promise against a larger coalition.
*Error*      variance(present) = present/honest·2q/(1 − q)², q = e^(−epsilon/sensitivity).
*Proof*      docs/proofs/secure-sums.md. Dwork et al. 2006, "Our Data, Ourselves".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..exact.numbers import Number, is_whole, positive
from ..guarantees import Pure
from ..mechanisms.laplace import Laplace
from ..noise.bits import SYSTEM, Bits
from ..noise.polya_noise import Polya
from . import curators_refusals as refusals
from .secret_shares import WIDTH, add, centre, pack, split, unpack

if TYPE_CHECKING:
    from ..ledger import Ledger

MOST_CURATORS = 1 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SecureSum:
    """A sum of whole numbers over several curators; a record of public numbers."""

    epsilon: Fraction
    curators: int
    honest: int
    sensitivity: int
    size: int
    relation: str | None
    unit: str | None

    def __init__(
        self,
        *,
        epsilon: Number,
        curators: int,
        honest: int,
        sensitivity: int = 1,
        size: int = 1,
        relation: str | None = None,
        unit: str | None = None,
    ) -> None:
        """`honest` is the number of curators that are expected to add their noise, and to keep
        their packets to themselves: of the others all may collude.
        """
        if not is_whole(curators, 2, MOST_CURATORS) or not is_whole(honest, 1, curators):
            raise refusals.TOO_FEW_CURATORS(curators=curators, honest=honest, most=MOST_CURATORS)
        if not is_whole(size, 1, 1 << 20) or not is_whole(sensitivity, 1, 1 << 40):
            raise refusals.NUMBERS_OUT_OF_RANGE(size=size, sensitivity=sensitivity)
        put = object.__setattr__
        put(self, "epsilon", positive(epsilon, "epsilon"))
        for name, value in (
            ("curators", curators),
            ("honest", honest),
            ("sensitivity", sensitivity),
            ("size", size),
            ("relation", relation),
            ("unit", unit),
        ):
            put(self, name, value)

    @property
    def mechanism(self) -> Laplace:
        """The mechanism whose noise `honest` curators add together, for a ledger."""
        return Laplace(
            sensitivity=self.sensitivity,
            epsilon=self.epsilon,
            relation=self.relation,
            unit=self.unit,
        )

    @property
    def promise(self) -> Pure:
        """What each curator's units are promised."""
        return Pure(self.epsilon, relation=self.mechanism.relation, unit=self.unit)

    @property
    def noise(self) -> Polya:
        """The law of the share of one curator."""
        return Polya(scale=Fraction(self.sensitivity) / self.epsilon, parts=self.honest)

    def variance(self, present: int | None = None) -> float:
        """Return the variance of each total when so many curators took part: all, unless told."""
        return self.noise.variance * (self.curators if present is None else present)

    def contribute(
        self, counts: Sequence[int], ledger: Ledger, *, memo: str = "", bits: Bits = SYSTEM
    ) -> list[bytes]:
        """Charge the ledger, add noise to the counts, and return a packet for each curator. A
        second call is a second release, with its own charge.
        """
        if len(counts) != self.size or not all(is_integer(count) for count in counts):
            raise refusals.WRONG_NUMBER_OF_COUNTS(count=len(counts), size=self.size)
        ledger.charge(self.mechanism, memo)
        noise = self.noise
        shares = [split(int(count) + noise.draw(bits), self.curators, bits) for count in counts]
        return [pack(column) for column in zip(*shares, strict=True)]

    def add(self, packets: Iterable[bytes]) -> bytes:
        """Add the packets that a curator got, one from each curator that takes part; the result may
        be published, once. Each curator that is missing is one fewer that may collude.
        """
        return pack(map(add, zip(*self._read(packets), strict=True)))

    def total(self, sums: Iterable[bytes], *, present: int | None = None) -> list[int]:
        """Return the noisy totals, from the sums of *all* curators. `present` is the number of
        curators whose packets are in them.
        """
        residues = self._read(sums)
        taking_part = self.curators if present is None else present
        if taking_part < self.honest or len(residues) != self.curators:
            raise refusals.TOO_FEW_PRESENT(present=taking_part, honest=self.honest)
        return [centre(add(column)) for column in zip(*residues, strict=True)]

    def _read(self, packets: Iterable[bytes]) -> list[list[int]]:
        listed = list(packets)
        for number, packet in enumerate(listed):
            if not isinstance(packet, bytes) or len(packet) != self.size * WIDTH:
                raise refusals.NOT_A_PACKET(number=number, length=self.size * WIDTH)
        if not self.honest <= len(listed) <= self.curators:
            raise refusals.TOO_FEW_PRESENT(present=len(listed), honest=self.honest)
        return [unpack(packet) for packet in listed]


def is_integer(count: object) -> bool:
    """Tell whether a count is a whole number of Python or NumPy: a matter of its type alone."""
    return hasattr(count, "__index__") and not isinstance(count, bool)
