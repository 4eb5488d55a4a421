"""Floor 2, physics: what one operator costs on one chip.

Roofline with tiles and achieved efficiencies (:mod:`.operator`), collectives on a fabric
(:mod:`.formulas`), energy, and the algebra of costs (:mod:`.cost`).  Nothing here knows a model,
a plan or a clock.
"""

from jalapeno.cost.cost import PARTS, RESOURCES, Cost
from jalapeno.cost.operator import COLUMNS, Operator, price

__all__ = ["COLUMNS", "PARTS", "RESOURCES", "Cost", "Operator", "price"]
