"""Benchmarks: how fast the twin is, as ratios on one machine in one run.

``make bench`` runs them all; ``python -m benchmarks --help`` says how to run one.
"""
