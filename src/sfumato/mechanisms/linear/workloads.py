"""Workloads: which linear queries over public cells are asked, and how much each of them weighs.

A workload is a weighted union of terms. A term has a block of queries for each of one or two axes;
over two axes it asks every product of a query of the first and a query of the second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from ...exact.numbers import Number, positive, text
from ..shared import mechanism_refusals as refusals
from .query_blocks import (
    IdentityBlock,
    PrefixBlock,
    QueryBlock,
    RangeBlock,
    TotalBlock,
    cells_of,
    matrix_block,
)

MOST_TERMS = 16


@dataclass(frozen=True, slots=True)
class WorkloadTerm:
    """Queries that are asked with one weight: a block for each axis."""

    blocks: tuple[QueryBlock, ...]
    weight: Fraction = Fraction(1)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return math.prod(block.queries for block in self.blocks)

    def __repr__(self) -> str:
        queries = " @ ".join(map(repr, self.blocks))
        return queries if self.weight == 1 else f"{text(self.weight)} * {queries}"


@dataclass(frozen=True, slots=True, repr=False)
class Workload:
    """Linear queries over public cells. `a + b` asks both, `2 * a` lets the variances of a count
    twice, and `a @ b` asks the products over two axes.
    """

    terms: tuple[WorkloadTerm, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells of each axis."""
        return tuple(block.cells for block in self.terms[0].blocks)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return sum(term.queries for term in self.terms)

    @property
    def weighted_queries(self) -> Fraction:
        """The sum of the weights of all queries."""
        return sum((term.weight * term.queries for term in self.terms), Fraction(0))

    def __add__(self, workload: Workload) -> Workload:
        if not isinstance(workload, Workload):
            return NotImplemented
        if workload.shape != self.shape:
            raise refusals.WORKLOADS_OF_DIFFERENT_SHAPE(first=self.shape, second=workload.shape)
        if len(self.terms) + len(workload.terms) > MOST_TERMS:
            raise refusals.TOO_MANY_WORKLOADS(terms=MOST_TERMS)
        return Workload((*self.terms, *workload.terms))

    def __rmul__(self, weight: Number) -> Workload:
        factor = positive(weight, "weight")
        return Workload(tuple(replace(t, weight=t.weight * factor) for t in self.terms))

    def __matmul__(self, workload: Workload) -> Workload:
        if not isinstance(workload, Workload):
            return NotImplemented
        if len(self.shape) + len(workload.shape) > 2:
            raise refusals.MORE_THAN_TWO_AXES(axes=len(self.shape) + len(workload.shape))
        if len(self.terms) * len(workload.terms) > MOST_TERMS:
            raise refusals.TOO_MANY_WORKLOADS(terms=MOST_TERMS)
        return Workload(
            tuple(
                WorkloadTerm((*a.blocks, *b.blocks), a.weight * b.weight)
                for a in self.terms
                for b in workload.terms
            )
        )

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


def identity(cells: int) -> Workload:
    """Ask the count of each cell."""
    return Workload((WorkloadTerm((IdentityBlock(cells_of(cells)),)),))


def total(cells: int) -> Workload:
    """Ask the count of all cells together."""
    return Workload((WorkloadTerm((TotalBlock(cells_of(cells)),)),))


def prefixes(cells: int) -> Workload:
    """Ask the counts of the first 1, 2, …, n cells: a cumulative distribution."""
    return Workload((WorkloadTerm((PrefixBlock(cells_of(cells)),)),))


def all_ranges(cells: int) -> Workload:
    """Ask the counts of all runs of cells."""
    return Workload((WorkloadTerm((RangeBlock(cells_of(cells)),)),))


def rectangles(rows: int, columns: int) -> Workload:
    """Ask the counts of all rectangles of a grid of cells."""
    return all_ranges(rows) @ all_ranges(columns)


def matrix(rows: object) -> Workload:
    """Ask the queries of a matrix: a row for each query, a column for each cell, whole numbers or
    rational ones.
    """
    return Workload((WorkloadTerm((matrix_block(rows),)),))
