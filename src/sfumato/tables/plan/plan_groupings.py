"""Plan several groupings of the same rows together: which tables are measured, with how much noise,
and the law of every reconciled cell.

*Rows*      One table by all keys is computed, with the same weight of a row in all groupings: the
            rows of a unit weigh at most k together. The exact tables by fewer keys are its sums.
            So the sensitivity of each measured table is that of a table by itself
            (`bounding`, `limits_total`), and all tables are about the same numbers.
*Share*     `choose_shares` splits the promise over the measured tables. Within a table the blocks
            of cells get the shares that they have in one table (`split_promise`). The counts that
            say how much was clipped are measured once.
*Grid*      Counts are multiplied by a power of two before noise is added, so that rounding the
            noise to integers does not matter. Estimates are rounded to a finer grid still.
*Law*       Laplace for ε alone; Gaussian for ρ, μ; for (ε, δ) the better of the two.
*Reading*   Cells are reconciled one by one; columns are read from them as from one table.
*Proof*     docs/proofs/marginals.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ...guarantees import GDP, Guarantee
from ...guarantees.largest_epsilon import largest_epsilon
from ...mechanisms import Combined, Gaussian, Laplace
from ...mechanisms.shared.additive import Additive
from ...mechanisms.shared.better_law import Norm, norms_for
from ...mechanisms.shared.mechanism import Mechanism
from ..aggregates.component import Component
from ..marginals.choose_shares import Shares, choose_shares
from ..marginals.parts import Domain, Keys, Reconciliation
from ..marginals.reconciled_noise import MeasuredDraws, ReconciledNoise
from ..query.stages import Query
from . import plan_refusals as refusals
from .bounding import Bounding
from .cells import Block, Reading
from .choose_noise import CARE, Calibration, additive_noise, keeps_promise, largest_mu_of
from .components import ColumnPlan
from .split_promise import PromiseSplit, choose_split, sum_relative_variances

ADDS_UP = ("one", "value", "centred", "square", "product", "side", "bin")
"""The forms whose sums over groups are those of all rows."""

_FINE = 10  # bits of the least deviation of a measured table, in its steps
_FINER = 12  # bits of the least deviation of a reconciled table, in the most that rounding moves it
_PRECISION = 24  # bits of the weights of least squares


@dataclass(frozen=True, slots=True, eq=False)
class PlannedGroupings:
    """Several groupings of the same rows, planned together. `shares` are those of the measured
    tables; `noise` is that of each of their blocks, None for a block that is measured once, over
    all groups. `fine` is the power of two by which the estimates of a block are finer.
    """

    domain: Domain
    requested: tuple[Keys, ...]
    shares: Shares
    blocks: tuple[Block, ...]
    noise: Mapping[Keys, tuple[Additive | None, ...]]
    pooled: tuple[Additive | None, ...]
    fine: tuple[int, ...]
    tables: Mapping[Keys, Calibration]
    mechanism: Combined

    def reconciliation(self, block: int) -> Reconciliation:
        """Return the least squares for the cells of a block."""
        return _reconciliation(
            self.domain, {keys: each[block] for keys, each in self.noise.items()}
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Draft:
    bounding: Bounding
    split: PromiseSplit
    shares: Shares
    stated: tuple[Fraction, Fraction] | None
    blocks: tuple[Block, ...]
    noise: dict[Keys, tuple[Additive | None, ...]]
    pooled: tuple[Additive | None, ...]
    variances: dict[Keys, tuple[float, ...]]  # of a reconciled cell of each block, in its steps

    def objective(self, columns: Sequence[ColumnPlan], domain: Domain) -> float:
        """Return the sum of the relative variances of all requested cells."""
        measurement = self.split.measurement
        return sum(
            domain.cells(keys)
            * sum_relative_variances(
                columns, measurement.components, self.split.readings, self.bounding, variances
            )
            for keys, variances in self.variances.items()
        )


def plan_workload(
    query: Query,
    components: tuple[Component, ...],
    columns: Sequence[ColumnPlan],
    promise: Guarantee,
) -> PlannedGroupings:
    """Choose the measured tables and their noise for all groupings of a question."""
    check_groupings(query, components)
    if Bounding.of(query, "L1").truncation:
        raise refusals.GROUPINGS_OF_DRAWN_ROWS()
    domain = Domain(tuple(len(keys) for keys in query.domains))
    if promise.noise_target is None:
        raise refusals.GROUPINGS_WITHOUT_NOISE(promise=promise)
    fitted = promise.divisible
    drafts = [
        _draft(query, components, columns, fitted, domain, norm)
        for norm in norms_for(fitted.noise_target)
    ]
    draft = min(drafts, key=lambda draft: draft.objective(columns, domain))
    return _finish(draft, query, promise, domain)


def check_groupings(query: Query, components: Sequence[Component]) -> None:
    """Refuse what does not add up over groups, before anything is planned."""
    if not query.public:
        private = next(
            name for name, keys in zip(query.keys, query.domains, strict=True) if not keys
        )
        raise refusals.GROUPINGS_NEED_PUBLIC_KEYS(column=private)
    for component in components:
        if component.form not in ADDS_UP or component.strategies is not None:
            raise refusals.GROUPINGS_DO_NOT_ADD_UP(component=component.name)


def _draft(
    query: Query,
    components: tuple[Component, ...],
    columns: Sequence[ColumnPlan],
    promise: Guarantee,
    domain: Domain,
    norm: Norm,
) -> _Draft:
    bounding = replace(Bounding.of(query, norm), limits_total=True)
    split = choose_split(components, tuple(columns), bounding, care=CARE)[0]
    measurement = split.measurement
    shares = choose_shares(domain, query.sets, power=2 if norm == "L1" else 1, fair=query.fair)
    stated, fitted = None, promise.without_delta()
    if norm == "L2" and "L1" in norms_for(promise.noise_target):
        delta = promise.parameters["delta"]
        assert isinstance(delta, Fraction)
        stated = largest_epsilon(fitted), delta
        fitted = GDP.from_square(largest_mu_of(*stated) ** 2)

    def fit(
        blocks: Sequence[Block], share: Fraction, keys: Keys, *, pooled: bool
    ) -> tuple[Additive | None, ...]:
        grouped = replace(bounding, grouped=bool(keys))
        return tuple(
            additive_noise(measurement, block, grouped, fitted.scaled(share * part).noise_target)
            if measurement.components[block.places[0]].pooled == pooled
            else None
            for block, part in zip(blocks, split.shares, strict=True)
        )

    def fit_all(blocks: Sequence[Block]) -> dict[Keys, tuple[Additive | None, ...]]:
        return {
            keys: fit(blocks, share, keys, pooled=False) for keys, share in shares.measured.items()
        }

    coarse = fit_all(measurement.blocks)
    blocks = tuple(
        replace(block, scale=1 << _missing_bits(_least_deviation(coarse, place), _FINE))
        for place, block in enumerate(measurement.blocks)
    )
    noise = fit_all(blocks)
    pooled = fit(blocks, Fraction(1), (), pooled=True)
    variances = {
        keys: tuple(
            _variance_of_cell(domain, {of: each[place] for of, each in noise.items()}, keys)
            / block.scale**2
            for place, block in enumerate(blocks)
        )
        for keys in query.sets
    }
    return _Draft(bounding, split, shares, stated, blocks, noise, pooled, variances)


def _finish(
    draft: _Draft,
    query: Query,
    promise: Guarantee,
    domain: Domain,
) -> PlannedGroupings:
    """Make the ledger's entry and the law of every table."""
    parts: list[Mechanism] = [each for each in draft.pooled if each is not None]
    parts += [each for several in draft.noise.values() for each in several if each is not None]
    epsilon, delta = draft.stated or (None, None)
    mechanism = Combined(parts, epsilon=epsilon, delta=delta)
    if not keeps_promise(mechanism, promise):
        raise AssertionError("the noise does not keep the promise it was fitted to")
    fine = tuple(
        _missing_bits(
            min(math.sqrt(draft.variances[keys][place]) * block.scale for keys in query.sets),
            _FINER + max(len(keys) for keys in query.sets),
        )
        for place, block in enumerate(draft.blocks)
    )
    tables = {keys: _calibration(draft, keys, fine, domain, mechanism) for keys in query.sets}
    return PlannedGroupings(
        domain,
        query.sets,
        draft.shares,
        draft.blocks,
        draft.noise,
        draft.pooled,
        fine,
        tables,
        mechanism,
    )


def _calibration(
    draft: _Draft, keys: Keys, fine: Sequence[int], domain: Domain, mechanism: Combined
) -> Calibration:
    """Return the noise of a reconciled table, as if it had been measured with it."""
    noise: list[tuple[Mechanism, ...]] = []
    for place, pooled in enumerate(draft.pooled):
        if pooled is not None:
            noise.append((pooled,))
            continue
        of_block = {of: each[place] for of, each in draft.noise.items()}
        draws: dict[Keys, list[tuple[Fraction, int]]] = {}
        by = _reconciliation(domain, of_block)
        for each in by.noise_of(keys):
            draws.setdefault(each.measured, []).append(
                (each.weight * (1 << fine[place]), each.count)
            )
        measured = []
        for of, weights in draws.items():
            additive = of_block[of]
            assert additive is not None
            measured.append(MeasuredDraws(additive, tuple(weights), of, by.precisions[of]))
        noise.append((ReconciledNoise(tuple(measured), Fraction(1 << max(len(keys), 1))),))
    readings = tuple(
        _finer(reading, draft.blocks, fine, draft.pooled) for reading in draft.split.readings
    )
    return Calibration(
        draft.split.measurement.components,
        replace(draft.bounding, grouped=bool(keys)),
        draft.blocks,
        readings,
        tuple(noise),
        None,
        mechanism,
        tuple(math.sqrt(ratio) for ratio in draft.split.ratios),
    )


def _finer(
    reading: Reading,
    blocks: Sequence[Block],
    fine: Sequence[int],
    pooled: Sequence[Additive | None],
) -> Reading:
    """Read a component from estimates that are on a finer grid than its exact sums."""
    finest = max(_bits(blocks, fine, pooled, block) for block, _ in reading.parts)
    parts = tuple(
        (block, tuple(weight << finest - _bits(blocks, fine, pooled, block) for weight in weights))
        for block, weights in reading.parts
    )
    return Reading(parts, reading.step / (1 << finest))


def _bits(
    blocks: Sequence[Block], fine: Sequence[int], pooled: Sequence[Additive | None], block: int
) -> int:
    return 0 if pooled[block] is not None else fine[block] + blocks[block].scale.bit_length() - 1


def _reconciliation(domain: Domain, noise: Mapping[Keys, Additive | None]) -> Reconciliation:
    """Weigh tables by their inverse variances, relative to the most precise one."""
    variances = {keys: each.law.variance for keys, each in noise.items() if each is not None}
    least = min(variances.values())
    return Reconciliation(
        domain,
        {
            keys: Fraction(max(1, round((1 << _PRECISION) * least / variance)), 1 << _PRECISION)
            for keys, variance in variances.items()
        },
    )


def _variance_of_cell(domain: Domain, noise: Mapping[Keys, Additive | None], keys: Keys) -> float:
    """Return the variance of a reconciled cell; 0 for a block that is measured once."""
    if not any(noise.values()):
        return 0.0
    by = _reconciliation(domain, noise)
    return sum(
        float(each.weight) ** 2 * each.count * additive.law.variance
        for each in by.noise_of(keys)
        if (additive := noise[each.measured]) is not None
    )


def _least_deviation(noise: Mapping[Keys, tuple[Additive | None, ...]], place: int) -> float:
    return min(
        (
            _continuous_deviation(additive)
            for each in noise.values()
            if (additive := each[place]) is not None
        ),
        default=math.inf,
    )


def _continuous_deviation(noise: Additive) -> float:
    """Return the deviation of the noise before it is rounded to integers. That of the integers may
    be 0 to the nearest double, and would not say how fine the grid has to be.
    """
    if isinstance(noise, Laplace):
        return math.sqrt(2) * float(noise.scale)
    assert isinstance(noise, Gaussian)
    return float(noise.sigma)


def _missing_bits(deviation: float, bits: int) -> int:
    """Return by how many bits a grid has to be finer, for a deviation of 2^bits of its steps."""
    if not math.isfinite(deviation) or not deviation:
        return 0
    return max(0, math.ceil(bits - math.log2(deviation)))
