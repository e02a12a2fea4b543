"""`python -m kiln.show m.plan -o engine.html`: the program `kiln show`, with its flags."""

import os
import sys

from ._install import program
from ._show import show

if __name__ == "__main__":
    kiln = program("kiln")
    os.execv(kiln, [kiln, "show", *sys.argv[1:]])

# `import kiln.show` binds what stands here to the name `kiln.show`, which has to stay the function.
sys.modules[__name__] = show  # type: ignore[assignment]
