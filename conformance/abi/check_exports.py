#!/usr/bin/env python3
"""Checks what the built libraries export and need: exactly the functions that the manifest marks as exported, in their
libraries, under no version; of libnvinfer also BEYOND, and the private entry under KILN_PRIVATE; the right SONAMEs; nothing needed
beyond the C and C++ runtime libraries and our own.

  check_exports.py MANIFEST LIBRARY_DIRECTORY"""
import json
import pathlib
import subprocess
import sys

PRIVATE = {"nvinfer": {"kiln_private_entry@@KILN_PRIVATE"}}
BEYOND = {"nvinfer": {"getSafePluginRegistry"}}  # functions of guides that the manifest's headers lack
RUNTIME = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}
LOADER = "ld-linux"  # a part of libc, needed for thread-local variables
LOADED = {"nvinfer_vc_plugin": {"getCreators", "setLoggerFinder"}}  # by registries, which look for these names
OURS = {name: {"libnvinfer.so.10"} for name in ("nvonnxparser", "nvinfer_plugin", "nvinfer_vc_plugin")}


def wanted(manifest):
    """The exported symbols of each library. createONNXConfig has no library in the manifest; it is the parser's."""
    libraries = {"nvinfer": set(), "nvonnxparser": set(), "nvinfer_plugin": set(), **LOADED}
    for function in manifest["functions"]:
        if "exported" in function.get("flags", ()):
            libraries[function.get("library", "nvonnxparser")].add(function["symbol"])
    return libraries


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def dynamic(path, tag):
    """Values of a tag of the dynamic section: NEEDED, SONAME."""
    return {line.split("[")[1].split("]")[0] for line in lines("readelf", "-d", "-W", path) if f"({tag})" in line}


def problems_of(name, symbols, path):
    found = {line.split()[-1] for line in lines("nm", "-D", "--defined-only", path)}
    found -= {symbol for symbol in found if symbol.startswith("KILN_PRIVATE")}  # the node itself, as GNU ld lists it
    expected = symbols | PRIVATE.get(name, set()) | BEYOND.get(name, set())
    yield from (f"{path.name}: {symbol} is missing" for symbol in sorted(expected - found))
    yield from (f"{path.name}: {symbol} is exported and should not be" for symbol in sorted(found - expected))
    soname = dynamic(path, "SONAME")
    if soname != {f"lib{name}.so.10"}:
        yield f"{path.name}: SONAME is {soname}, not lib{name}.so.10"
    for needed in sorted(dynamic(path, "NEEDED") - RUNTIME - OURS.get(name, set())):
        if not needed.startswith(LOADER):
            yield f"{path.name}: needs {needed}"


def main():
    manifest = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(sys.argv[2])
    libraries = wanted(manifest)
    problems = [p for name, symbols in libraries.items() for p in problems_of(name, symbols, folder / f"lib{name}.so")]
    print(*problems, f"{sum(map(len, libraries.values()))} exported functions checked", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
