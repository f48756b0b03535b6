"""Genomes: people as rows of zeros and ones, one for each position with two variants. Generated, or
read from the owner's table.

*Generated*  Each position has a frequency between 0.05 and 0.95, all equally likely; people have
             the variant with that chance, independently. Nobody exists.
*Own*        A table whose columns are 0 and 1, true and false; or a matrix. The frequencies among
             all are then taken from people set aside for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import attack_refusals as refusals
from ..lib.attack_result import check_count
from ..lib.owner_table import read_columns

Bits = NDArray[np.int8]
Real = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Genomes:
    """Rows of zeros and ones, and the frequencies of ones in the population, where known."""

    bits: Bits
    frequencies: Real | None = None

    @property
    def people(self) -> int:
        return int(self.bits.shape[0])

    @property
    def positions(self) -> int:
        return int(self.bits.shape[1])


def genomes(people: int = 2000, positions: int = 10_000, *, seed: int = 0) -> Genomes:
    """Generate people with so many positions each."""
    people, positions = check_count(people, "people", 4), check_count(positions, "positions")
    generator = np.random.default_rng(seed)
    frequencies = generator.uniform(0.05, 0.95, positions)
    bits = np.empty((people, positions), dtype=np.int8)
    limits = frequencies.astype(np.float32)
    for person in range(people):  # row by row: the uniforms of all would take four times the room
        bits[person] = generator.random(positions, dtype=np.float32) < limits
    return Genomes(bits, limits.astype(np.float64))


def read_genomes(people: object) -> Genomes:
    """Read generated people, or the rows of a matrix or table of zeros and ones."""
    if isinstance(people, Genomes):
        return people
    if isinstance(people, np.ndarray):
        values = people
    else:
        rows = read_columns(people)
        values = np.column_stack([rows.numbers(name) for name in rows])
    if (
        values.ndim != 2
        or values.shape[0] < 4
        or values.shape[1] < 1
        or not np.isin(values, (0, 1)).all()
    ):
        raise refusals.GENOMES_NOT_BITS()
    return Genomes(values.astype(np.int8))
