"""Floor 5, numbers: what a journal says.

Pure functions from a journal to latency, throughput, power, cache and the attribution of every
second.  They know no clock and no model, so a journal of a real server is measured the same way.
"""
