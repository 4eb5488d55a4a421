"""Floor 6, judgement: what the numbers mean.

Measures are compared over plans and loads, reduced to frontiers, held against what was published or
measured elsewhere, and turned into claims with an interval.
"""
