"""Measured points played by the twin: the row's layout and formats, its client's request list.

A row (:mod:`jalapeno.analysis.validation.rows`) becomes a scenario (:mod:`.scenarios`), a scenario
an answer (:mod:`.answers`): mean TTFT, mean TPOT, and what the time between tokens went to.
"""
