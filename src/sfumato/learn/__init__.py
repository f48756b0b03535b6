"""Models that keep a promise, with scikit-learn's interface: each is learned from a protected table
by one charge.
"""

from .additive_models import AdditiveClassifier, FeatureShape
from .additive_regressors import AdditiveRegressor, QuantileRegressor
from .gradient_account import GradientAccount, account
from .k_means import KMeans
from .linear_models import Coefficient, Ridge
from .linear_models import LeastSquares as LinearRegression
from .logistic_regression import LogisticClassifier as LogisticRegression
from .naive_bayes import NaiveBayes
from .principal_components import PCA

__all__ = [
    "PCA",
    "AdditiveClassifier",
    "AdditiveRegressor",
    "Coefficient",
    "FeatureShape",
    "GradientAccount",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "QuantileRegressor",
    "Ridge",
    "account",
]
