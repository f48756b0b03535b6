from . import mechanisms as mechanisms
from . import samples as samples
from .errors import Failed as Failed
from .errors import Refused as Refused
from .guarantees import GDP as GDP
from .guarantees import ZCDP as ZCDP
from .guarantees import Approx as Approx
from .guarantees import Guarantee as Guarantee
from .guarantees import Pure as Pure
from .guarantees import RandomDP as RandomDP
from .guarantees import Renyi as Renyi

__version__: str
