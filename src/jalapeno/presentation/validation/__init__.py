"""``jalapeno validate``: verdicts, tables and pictures of how good predictions are."""
