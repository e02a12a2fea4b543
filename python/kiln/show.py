"""`python -m kiln.show m.plan -o engine.html`: the program `kiln show`, with its flags."""

import os
import sys

from ._install import program

if __name__ == "__main__":
    kiln = program("kiln")
    os.execv(kiln, [kiln, "show", *sys.argv[1:]])
