"""Checks that libcudart exports the functions of symbols.txt with NVIDIA's version node, and nothing else."""
import pathlib
import subprocess
import sys

VERSION = "libcudart.so.13"


def main():
    library = sys.argv[1]
    wanted = set(pathlib.Path(__file__).with_name("symbols.txt").read_text().split())
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in listing.splitlines()]
    found = {row[2] for row in rows if row[1] in "TW"}
    expected = {f"{name}@@{VERSION}" for name in wanted}
    dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    problems = [f"missing: {name}" for name in sorted(expected - found)]
    problems += [f"not the API's: {name}" for name in sorted(found - expected)]
    if f"soname: [{VERSION}]" not in dynamic:
        problems.append(f"the SONAME is not {VERSION}")
    if "libnvinfer" in dynamic.split("RUNPATH")[0]:
        problems.append("libnvinfer is linked; it is to be found at run time")
    print("\n".join(problems) or f"{len(found)} functions")
    return 1 if problems or len(wanted) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
