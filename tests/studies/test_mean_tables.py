"""What two sets of tables share; their numbers are in test_laplace_tables and
test_gaussian_tables.
"""

from __future__ import annotations

import pytest

from sfumato.studies import gaussian_tables, laplace_tables
from sfumato.studies.mean_tables import MeanTables

BOTH = [laplace_tables.PRINTED, gaussian_tables.PRINTED]


@pytest.mark.parametrize("printed", BOTH, ids=["laplace", "gaussian"])
def test_every_cell_is_there_and_has_a_name(printed: MeanTables) -> None:
    cells = {(shape.n, epsilon) for shape in printed.shapes for epsilon in printed.epsilons}
    assert set(printed.answers) == set(printed.errors) == cells
    assert set(printed.judgements()) == {shape.n for shape in printed.shapes}
    assert len(printed.names) == 2 * len(printed.epsilons)
