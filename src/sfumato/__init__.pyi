from . import answers as answers
from . import attacks as attacks
from . import auditing as auditing
from . import local as local
from . import mechanisms as mechanisms
from . import samples as samples
from . import sensitivity as sensitivity
from .accounting import parallel as parallel
from .accounting.calibrate_schedule import calibrate as calibrate
from .accounting.choose_epsilon import choose_epsilon as choose_epsilon
from .accounting.compose import compose as compose
from .accounting.loss.privacy_loss import Loss as Loss
from .attacks.report.risk import risk_report as risk_report
from .auditing.audit import audit as audit
from .client import connect as connect
from .errors import Failed as Failed
from .errors import Refused as Refused
from .functions import fits as fits
from .functions import inverse_sensitivity as inverse_sensitivity
from .functions import propose_test_release as propose_test_release
from .functions import smooth_sensitivity as smooth_sensitivity
from .functions.bernstein import Bernstein as Bernstein
from .functions.curve import Curve as Curve
from .functions.privatize import privatize as privatize
from .guarantees import GDP as GDP
from .guarantees import ZCDP as ZCDP
from .guarantees import Approx as Approx
from .guarantees import Guarantee as Guarantee
from .guarantees import Pure as Pure
from .guarantees import RandomDP as RandomDP
from .guarantees import Renyi as Renyi
from .ledger import BudgetExceeded as BudgetExceeded
from .ledger import Ledger as Ledger
from .local.shuffle import shuffle as shuffle
from .sensitivity.sampled import sample_sensitivity as sample_sensitivity
from .session import protect as protect
from .tables.expr.expressions import col as col
from .tables.expr.expressions import when as when
from .tables.query.aggregates import count as count
from .tables.query.aggregates import count_distinct as count_distinct
from .tables.query.aggregates import count_if as count_if
from .tables.query.aggregates import count_units as count_units
from .tables.query.aggregates import histogram as histogram
from .tables.query.aggregates import max as max  # noqa: A004
from .tables.query.aggregates import mean as mean
from .tables.query.aggregates import median as median
from .tables.query.aggregates import min as min  # noqa: A004
from .tables.query.aggregates import quantile as quantile
from .tables.query.aggregates import quantiles as quantiles
from .tables.query.aggregates import ratio as ratio
from .tables.query.aggregates import std as std
from .tables.query.aggregates import sum as sum  # noqa: A004
from .tables.query.aggregates import var as var
from .tables.query.calendars import calendar as calendar

__version__: str
