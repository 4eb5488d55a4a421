"""``jalapeno calibrate``: the command, its tables and its JSON."""
