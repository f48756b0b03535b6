"""Naive Bayes, principal components, k-means and quantiles: what one unit moves, by enumeration of
neighbours; and what they find where there is much budget.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.learn.additive_steps import ONE, quantile_residuals
from sfumato.learn.estimator import PrivateModel
from sfumato.learn.k_means import ClusterTrainer, spread_points
from sfumato.learn.logistic_steps import LogisticTrainer
from sfumato.learn.model_plan import ModelPlan
from sfumato.learn.naive_bayes import ClassCountTrainer

from .small_tables import CITIES, Row, base_rows, table_of, tally_of, units_of_interest

COST = {"epsilon": 1, "delta": 1e-6}


def bayes_plan(rows: list[Row], relation: str = "add-remove") -> ModelPlan:
    model = sf.learn.NaiveBayes(**COST)
    return model.plan(table_of(rows, relation=relation), target="vip", features=["x", "city"])


def cluster_plan(rows: list[Row], relation: str = "add-remove") -> ModelPlan:
    model = sf.learn.KMeans(n_clusters=3, bounds={"vip": (0, 1)}, **COST)
    return model.plan(table_of(rows, relation=relation), features=["x", "vip"])


def counts_of(plan: ModelPlan) -> np.ndarray:
    assert isinstance(plan.trainer, ClassCountTrainer)
    return plan.trainer._count(tally_of(plan))[0]


def sums_of(plan: ModelPlan) -> np.ndarray:
    assert isinstance(plan.trainer, ClusterTrainer)
    centres = np.rint(spread_points(3, 2) * 1024)
    return plan.trainer._add_by_cluster(centres, tally_of(plan))[0]


def logistic_plan(rows: list[Row], relation: str = "add-remove") -> ModelPlan:
    model = sf.learn.LogisticRegression(steps=2, **COST)
    return model.plan(table_of(rows, relation=relation), target="vip", features=["x", "city"])


def terms_of(plan: ModelPlan) -> np.ndarray:
    """Return the gradient where every row has a chance near 1."""
    assert isinstance(plan.trainer, LogisticTrainer)
    terms = sum(design.shape[1] for design in plan.trainer.designs)
    return plan.trainer._add_terms(np.zeros(terms), 15.0, tally_of(plan))[0]


def test_no_unit_moves_a_logistic_gradient_further_than_the_noise_covers() -> None:
    base = base_rows(4)
    before = terms_of(logistic_plan(base))
    worst: list[Row] = [(1000, 10.0, "Bari", False)] * 2
    after = logistic_plan([*base, *worst])
    assert isinstance(after.trainer, LogisticTrainer)
    (_, _), (most, _), *_ = after.trainer.moves
    assert 0.98 * most < squared(terms_of(after) - before) <= most
    for unit in list(units_of_interest())[::5]:
        assert squared(terms_of(logistic_plan([*base, *unit])) - before) <= most
    replaced = logistic_plan([*base, *worst], "replace")
    other_way = logistic_plan([*base, (1000, 0.0, "Roma", False)], "replace")
    assert isinstance(replaced.trainer, LogisticTrainer)
    assert squared(terms_of(replaced) - terms_of(other_way)) <= replaced.trainer.moves[1][0]


def test_logistic_regression_finds_its_coefficients() -> None:
    random = np.random.default_rng(9)
    x, city = random.uniform(0, 10, 20_000), random.choice(["Bari", "Roma"], 20_000)
    chance = 1 / (1 + np.exp(-(0.6 * x - 4 + 1.5 * (city == "Roma"))))
    y = random.uniform(0, 1, 20_000) < chance
    frame = pa.table({"x": x, "city": city.tolist()})
    model = sf.learn.LogisticRegression(epsilon=20, bounds={"x": (0, 10)}, keys={"city": CITIES})
    model.fit(frame, y)
    assert model.terms_ == ("x", "city=Bari", "city=Roma", "city=any other")
    slope, bari, roma, _ = model.coef_[0]
    assert slope == pytest.approx(0.6, abs=0.06)
    assert roma - bari == pytest.approx(1.5, abs=0.15)
    assert np.abs(model.predict_proba(frame)[:, 1] - chance).mean() < 0.03
    at_zero = model.decision_function({"x": [0.0], "city": ["Bari"]})[0]
    assert at_zero == pytest.approx(model.intercept_ + bari, abs=0.02)
    assert "city=Roma" in repr(model)
    terms = model.coefficients()
    assert list(terms) == ["intercept", *model.terms_]
    assert list(terms.values()) == [model.intercept_, *model.coef_[0]]
    assert not hasattr(model, "shape")  # it has one number for each term, and no bins


def squared(move: np.ndarray) -> int:
    return sum(int(value) ** 2 for value in move)


@pytest.mark.parametrize(
    ("plan", "integers"), [(bayes_plan, counts_of), (cluster_plan, sums_of)], ids=["bayes", "means"]
)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_no_unit_moves_further_than_the_noise_covers(plan, integers, relation: str) -> None:
    base = base_rows(4)
    units = list(units_of_interest())[1::4]
    plans = [plan([*base, *unit], relation) for unit in units]
    most = plans[0].trainer.move
    exact = [integers(each) for each in plans]
    without = [integers(plan(base, relation))] if relation == "add-remove" else exact
    moved = max(squared(a - b) for a in exact for b in without)
    assert moved <= most
    if relation == "add-remove":
        assert moved == most  # reached


def arrays() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    kind = random.integers(0, 3, 6000)
    middles = np.array([[2.0, 2.0], [8.0, 3.0], [5.0, 8.0]])
    return np.clip(middles[kind] + random.normal(0, 0.7, (6000, 2)), 0, 10), kind


def test_naive_bayes_tells_three_classes_apart() -> None:
    X, kind = arrays()
    bounds = {0: (0, 10), 1: (0, 10)}
    model = sf.learn.NaiveBayes(epsilon=5, bounds=bounds, classes=[0, 1, 2]).fit(X, kind)
    assert model.score(X, kind) > 0.95
    assert model.predict_proba(X[:5]).sum(axis=1) == pytest.approx(np.ones(5))
    assert model.class_counts_ == pytest.approx(np.bincount(kind), rel=0.1)
    assert model.classes_.tolist() == [0, 1, 2]
    assert "rows, about" in repr(model)
    with pytest.raises(Refused, match=r"learn\.classes"):
        sf.learn.NaiveBayes(epsilon=5, bounds=bounds).fit(X, kind)


def test_k_means_finds_the_middles() -> None:
    X, kind = arrays()
    bounds = {0: (0, 10), 1: (0, 10)}
    model = sf.learn.KMeans(n_clusters=3, epsilon=5, bounds=bounds).fit(X)
    middles = model.cluster_centers_[np.lexsort(model.cluster_centers_.T)]
    assert middles == pytest.approx(np.array([[2.0, 2.0], [8.0, 3.0], [5.0, 8.0]]), abs=0.3)
    assert model.cluster_counts_.sum() == pytest.approx(6000, rel=0.05)
    clusters = model.predict(X)
    assert all(len(np.unique(clusters[(kind == k) & inner(X)])) == 1 for k in range(3))
    assert "rows, about" in repr(model)


def inner(X: np.ndarray) -> np.ndarray:
    """Rows that are near one of the middles."""
    middles = np.array([[2.0, 2.0], [8.0, 3.0], [5.0, 8.0]])
    return np.linalg.norm(X[:, None] - middles, axis=2).min(axis=1) < 1


def test_principal_components_are_those_of_the_covariance() -> None:
    random = np.random.default_rng(5)
    long = random.normal(0, 2, 8000)
    X = np.clip(np.column_stack([long, long + random.normal(0, 0.5, 8000)]), -9, 9)
    bounds = {0: (-9, 9), 1: (-9, 9)}
    model = sf.learn.PCA(n_components=1, epsilon=5, bounds=bounds).fit(X)
    values, vectors = np.linalg.eigh(np.cov(X.T))
    assert abs(model.components_[0] @ vectors[:, -1]) > 0.999
    assert model.explained_variance_[0] == pytest.approx(values[-1], rel=0.03)
    assert model.explained_variance_ratio_[0] == pytest.approx(values[-1] / values.sum(), abs=0.02)
    assert model.mean_ == pytest.approx(X.mean(axis=0), abs=0.1)
    assert model.transform(X).shape == (8000, 1)
    assert "principal components" in repr(model)
    with pytest.raises(Refused, match=r"learn\.option"):
        sf.learn.PCA(n_components=3, epsilon=5, bounds=bounds).fit(X)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_quantiles_have_the_share_below(q: float) -> None:
    random = np.random.default_rng(6)
    x = random.uniform(0, 1, 20_000)
    y = np.clip(random.normal(5 + 3 * x, 1), 0, 10)
    bounds = {"x": (0, 1), None: (0, 10)}
    model = sf.learn.QuantileRegressor(quantile=q, epsilon=5, bounds=bounds).fit({"x": x}, y)
    below = y < model.predict({"x": x})
    assert below.mean() == pytest.approx(q, abs=0.05)
    assert below[x < 0.3].mean() == pytest.approx(q, abs=0.08)
    assert below[x > 0.7].mean() == pytest.approx(q, abs=0.08)
    assert model.score({"x": x}, y) > 0.05


def test_slopes_of_quantiles_are_bounded() -> None:
    for q in (0.1, 0.5, 0.97):
        slopes = quantile_residuals(q, 128)
        assert slopes[0] == -round(ONE * q)
        assert slopes[-1] == ONE - round(ONE * q)
        assert (np.diff(slopes) >= 0).all()
        model = sf.learn.QuantileRegressor(quantile=q, bounds={"x": (0, 10)}, **COST)
        plan = model.plan(table_of(base_rows()), target="x", features=["city"])
        assert plan.trainer.largest == max(round(ONE * q), ONE - round(ONE * q))
        assert str(sf.learn.QuantileRegressor(quantile=q).quantile) in repr(model)


def test_models_that_differ_have_different_questions() -> None:
    """Two quantiles have the same columns, cells and noise: a stored one is not the other."""
    table = table_of(base_rows())

    def ask(model: PrivateModel) -> str:
        return model.plan(table, target="x", features=["city"]).question_key

    models = [
        sf.learn.QuantileRegressor(quantile=0.1, **COST),
        sf.learn.QuantileRegressor(quantile=0.9, **COST),
        sf.learn.QuantileRegressor(quantile=0.9, steps=5, **COST),
        sf.learn.AdditiveRegressor(**COST),
        sf.learn.AdditiveRegressor(epsilon=2, delta=1e-6),
    ]
    assert len({ask(model) for model in models}) == len(models)
    near = [
        sf.learn.AdditiveRegressor(bounds={"x": (0, end)}, **COST)
        for end in (10_000_000.1, 10_000_000.2)
    ]
    assert len({ask(model) for model in near}) == 2
    again = sf.learn.Ridge(alpha=3, bounds={"vip": (0, 1)}, **COST)
    alike = sf.learn.Ridge(alpha=9, bounds={"vip": (0, 1)}, **COST)
    plans = [model.plan(table, target="x", features=["vip"]) for model in (again, alike)]
    assert plans[0].question_key == plans[1].question_key  # the same moments: free of charge


def test_refusals_of_options() -> None:
    frame = pa.table({"x": [0.5, 0.25]})
    for model in (
        sf.learn.KMeans(n_clusters=0, epsilon=1, bounds={"x": (0, 1)}),
        sf.learn.KMeans(n_clusters=2, steps=0, epsilon=1, bounds={"x": (0, 1)}),
    ):
        with pytest.raises(Refused, match=r"learn\.option"):
            model.fit(frame)
    with pytest.raises(Refused):
        sf.learn.QuantileRegressor(quantile=1, epsilon=1, bounds={"x": (0, 1)}).fit(
            frame, [0.1, 0.2]
        )
