#!/usr/bin/env python3
"""Runs a script that needs libclang's Python bindings: with_libclang.py SCRIPT ARGS...

Exits with 77, which ctest counts as skipped, where neither this Python nor the system's has them.
"""
import os
import runpy
import sys

SKIPPED = 77
SYSTEM = "/usr/bin/python3"


def has_libclang():
    import check_abi
    try:
        check_abi.load_cindex()
    except (SystemExit, Exception):  # the bindings raise types of their own, and check_abi exits
        return False
    return True


def main():
    script = os.path.abspath(sys.argv[1])
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    if has_libclang():
        sys.argv = sys.argv[1:]
        runpy.run_path(script, run_name="__main__")
    elif os.path.exists(SYSTEM) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM):
        os.execv(SYSTEM, [SYSTEM] + sys.argv)
    else:
        print("SKIPPED: no Python bindings of libclang (Debian: apt-get install python3-clang-14 or -19)")
        sys.exit(SKIPPED)


main()
