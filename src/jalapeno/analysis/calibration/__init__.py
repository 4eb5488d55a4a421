"""Calibration: an engine's few constants, fitted to measured points and told with what certainty.

What is fitted and between which bounds stands in :mod:`.constants`; :mod:`.residuals` plays the
points, :mod:`.fit` solves, :mod:`.certainty` says what the data leave open, :mod:`.twin` is the
contender of validation that is fitted anew for every fold.
"""
