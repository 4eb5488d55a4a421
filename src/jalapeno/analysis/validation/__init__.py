"""How good predictions are: the same points, the same protocols, the same scores for everyone.

Rows of measured points (:mod:`.rows`) are cut into folds by a protocol (:mod:`.protocols`), a
contender is fitted on one side and asked about the other (:mod:`.contenders`, :mod:`.baselines`),
and what it says is scored (:mod:`.scores`, :mod:`.ranking`).  A :mod:`tier <.tiers>` is a question
with a target; :mod:`.drift` compares with what was recorded last.
"""
