"""Checks that libraries call their own exported functions directly: no relocation names a symbol that its library defines.
Otherwise a library loaded before them that exports the same names gets their calls."""
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def open_calls(library):
    """The symbols that `library` defines and yet lets the dynamic linker look up."""
    defined = {line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", library).splitlines()}
    looked_up = set()
    for line in output("readelf", "-rW", library).splitlines():
        fields = line.split()
        if len(fields) >= 5 and fields[2].startswith("R_"):
            looked_up.add(fields[4].split("@")[0])
    return sorted(defined & looked_up)


def main():
    problems = [f"{library}: {name} can be taken over" for library in sys.argv[1:] for name in open_calls(library)]
    print("\n".join(problems) or f"{len(sys.argv) - 1} libraries call themselves directly")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
