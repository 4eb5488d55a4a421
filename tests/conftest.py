"""How the tests are run."""

import os

from hypothesis import settings

# The first call of a compiled function compiles it, which no deadline for an example survives.
# Continuous integration draws the same examples every time; on a desk they are new each time.
settings.register_profile("jalapeno", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("jalapeno")
