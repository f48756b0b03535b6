"""`synthesize` and `plan_synthesis`: read the arguments, plan, release."""

from __future__ import annotations

import secrets
from dataclasses import replace
from fractions import Fraction
from typing import Unpack

from ..errors import Refused
from ..exact.balls import root_up
from ..guarantees import GDP, ZCDP, Approx, Guarantee
from ..guarantees.gdp import largest_mu
from ..mechanisms import Combined, Gaussian
from ..session.promises import promise_of
from ..session.protected_table import Table
from ..tables.plan.bounding import NARROW, Bounding
from ..tables.plan.row_codes import RowCodes
from ..tables.query.owned_rows import table_source
from ..tables.query.question_options import QuestionSettings
from ..tables.query.stages import Rows
from ..tables.query.synthesis_options import (
    SynthesisOptions,
    SynthesisRelease,
    SynthesisSettings,
    synthesizes,
)
from . import synth_refusals as refusals
from .column_cells import read_columns
from .possible_rows import read_possible
from .synthesis_plan import CERTIFICATE, COLUMNS, SCORES, TABLES, StepNoise, SynthesisPlan
from .synthetic_table import SyntheticTable

MOST_ROWS = 100_000_000


@synthesizes(SynthesisRelease)
def synthesize(table: Table | Rows, **options: Unpack[SynthesisRelease]) -> SyntheticTable:
    """Make a table of invented rows whose counts, by each column and by pairs of columns, are near
    those of the data. One cost pays for the rows and for a certificate of their error.

    >>> synthetic = sf.synthesize(visits, columns=["age", "city"], epsilon=1)
    >>> synthetic.to_pandas()
    """
    settings = SynthesisSettings(**options)
    return _plan(table, settings).release(
        share=settings.share, fresh=settings.fresh, timeout=settings.timeout
    )


@synthesizes(SynthesisOptions)
def plan_synthesis(table: Table | Rows, **options: Unpack[SynthesisOptions]) -> SynthesisPlan:
    """Return the cost of a synthetic table, and the cells that are counted. Reads no data, costs
    nothing.
    """
    return _plan(table, SynthesisSettings(**options))


def _plan(table: Table | Rows, settings: SynthesisSettings) -> SynthesisPlan:
    rows = table.rows if isinstance(table, Table) else table
    if not isinstance(rows, Rows) or not isinstance(owner := rows.curator, Table) or rows.public:
        raise refusals.NOT_A_PROTECTED_TABLE(kind=type(table).__name__)
    count = settings.rows
    if count is not None and not (type(count) is int and 1 <= count <= MOST_ROWS):
        raise refusals.ROWS_OUT_OF_RANGE(rows=count, most=MOST_ROWS)
    columns = read_columns(rows, settings.columns, settings.bins)
    possible = read_possible(rows, columns, settings.impossible)
    bounding = replace(Bounding.of(rows.count(), "L1"), limits_total=True)
    if bounding.bits + 1 + (bounding.table_rows - 1).bit_length() > NARROW:
        raise refusals.SUMS_TOO_LARGE(bits=(bounding.table_rows - 1).bit_length())
    promise = promise_of(
        owner.budget,
        QuestionSettings(epsilon=settings.epsilon, delta=settings.delta, promise=settings.promise),
    )
    codes = RowCodes(rows, columns, bounding)
    source = table_source(rows)
    noise, mechanism = _fit_noise(codes, promise, owner.budget)
    return SynthesisPlan(
        codes,
        source,
        owner.ledger,
        codes.statement(source.table, secrets.token_hex(16)),
        noise,
        promise,
        mechanism,
        count,
        possible,
    )


def _fit_noise(
    codes: RowCodes, promise: Guarantee, budget: Guarantee
) -> tuple[StepNoise, Combined]:
    """Return the noise of all steps, and what they cost together."""
    rho = _rho_of(promise)
    bounding, width = codes.bounding, len(codes.columns)
    twice = 2 if bounding.relation == "replace" else 1
    unit = bounding.called or ", ".join(bounding.unit) or "row"

    def noise(share: Fraction, square: int) -> Gaussian:
        """Return noise with this share, on integers that move by √square·K in the L2 norm."""
        return Gaussian(
            sensitivity=root_up(Fraction(square)) * bounding.weight,
            rho=rho * share,
            relation=bounding.relation,
            unit=unit,
        )

    # a table moves by K, for replace by √2·K in the L2 norm; a distance by K, for replace by 2·K
    pairs = width * (width - 1) // 2
    certificate = noise(CERTIFICATE, twice**2 * (width + pairs))
    steps = (
        StepNoise(
            noise(COLUMNS, twice * width),
            certificate,
            noise(SCORES, twice**2 * pairs),
            noise(TABLES, twice),
        )
        if pairs
        else StepNoise(noise(COLUMNS + SCORES + TABLES, twice * width), certificate)
    )
    stated = promise.parameters if isinstance(promise, Approx) else {}
    mechanism = Combined(steps.parts, epsilon=stated.get("epsilon"), delta=stated.get("delta"))
    try:
        mechanism.to(type(budget))
    except Refused:
        raise refusals.PROMISE_BEYOND_BUDGET(promise=promise, budget=budget) from None
    return steps, mechanism


def _rho_of(promise: Guarantee) -> Fraction:
    """Return the ρ that a promise leaves for Gaussian noise."""
    match promise:
        case Approx(parameters={"epsilon": epsilon, "delta": delta}) if delta:
            return largest_mu(epsilon, delta) ** 2 / 2
        case ZCDP(rho=rho):
            return rho
        case GDP():
            return promise.mu_squared / 2
    raise refusals.DELTA_MISSING(promise=promise)
