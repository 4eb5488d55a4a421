"""The chip itself: the second tower, of which nothing exists yet.

It will hold the numerics of the chip, an emulator that defines its instructions, kernels and their
checker, and RTL equal to the emulator by test.  It meets the rest of the twin in files only: the
emulator writes a table of measured times, and ``cost`` reads it.
"""
