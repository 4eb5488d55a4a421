"""Jalapeño as an inverse problem: what its published numbers leave open of its constants.

Unknowns have priors from facts, the published numbers are the evidence, and every number that the
twin says of Jalapeño then has an interval.
"""
