"""Synthetic tables: invented rows whose counts are near those of the data, with a certificate of
their error.
"""

from .error_certificate import Certificate, CertifiedError
from .make_table import plan_synthesis, synthesize
from .synthesis_plan import SynthesisPlan
from .synthetic_table import SyntheticTable

__all__ = [
    "Certificate",
    "CertifiedError",
    "SynthesisPlan",
    "SyntheticTable",
    "plan_synthesis",
    "synthesize",
]
