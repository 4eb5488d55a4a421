"""How the tests are run."""

from hypothesis import settings

# The first call of a compiled function compiles it, which no deadline for an example survives.
settings.register_profile("jalapeno", deadline=None)
settings.load_profile("jalapeno")
