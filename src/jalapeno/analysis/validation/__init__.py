"""How good predictions are: measured and simulated side by side."""
