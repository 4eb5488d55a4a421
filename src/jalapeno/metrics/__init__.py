"""Floor 5, numbers: what a journal says.

Pure functions from a journal to latency, throughput, power, use of the machine and the
attribution of every second.  They know no clock and no model, so a journal of a real server is
measured the same way.  Start with :mod:`.measure`; :mod:`.audit` says whether the numbers may be
believed.
"""

from jalapeno.metrics.attribution import CAUSES, PARTS_AND_WAITS, Attribution, attribute, band
from jalapeno.metrics.audit import Check, audit, require
from jalapeno.metrics.distribution import Distribution
from jalapeno.metrics.latency import Latency
from jalapeno.metrics.measure import measure
from jalapeno.metrics.power import Denominator, Power, SitePower
from jalapeno.metrics.report import Report
from jalapeno.metrics.saturation import Saturation, saturation
from jalapeno.metrics.throughput import Throughput
from jalapeno.metrics.utilisation import Utilisation

__all__ = [
    "CAUSES",
    "PARTS_AND_WAITS",
    "Attribution",
    "Check",
    "Denominator",
    "Distribution",
    "Latency",
    "Power",
    "Report",
    "Saturation",
    "SitePower",
    "Throughput",
    "Utilisation",
    "attribute",
    "audit",
    "band",
    "measure",
    "require",
    "saturation",
]
