from . import mechanisms as mechanisms
from . import samples as samples
from .accounting import parallel as parallel
from .accounting.choosing import choose_epsilon as choose_epsilon
from .errors import Failed as Failed
from .errors import Refused as Refused
from .functions import inverse_sensitivity as inverse_sensitivity
from .functions import propose_test_release as propose_test_release
from .guarantees import GDP as GDP
from .guarantees import ZCDP as ZCDP
from .guarantees import Approx as Approx
from .guarantees import Guarantee as Guarantee
from .guarantees import Pure as Pure
from .guarantees import RandomDP as RandomDP
from .guarantees import Renyi as Renyi
from .ledger import BudgetExceeded as BudgetExceeded
from .ledger import Ledger as Ledger

__version__: str
