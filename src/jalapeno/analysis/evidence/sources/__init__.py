"""Sources: files that benchmarks write, read into the rows frame of validation.

:mod:`.files` tells them apart by what is in them; :mod:`.inferencex` and :mod:`.export` read
InferenceX's results and its dashboard's CSV, :mod:`.aiperf` AIPerf's profile; the cleaned table is
read by :mod:`jalapeno.analysis.validation.cleaned`.  :mod:`.names` has their words for ours,
:mod:`.points` makes one frame of all.
"""
