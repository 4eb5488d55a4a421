"""How well the twin predicts what was measured, tier by tier."""
