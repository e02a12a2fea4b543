"""Files that the checkers look at, and their way to report: shared by check_floors, check_sizes and check_text."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_OURS = {"build", ".git", ".venv", ".cache", "__pycache__"}


def files(root, folders, suffixes):
    """Files of `folders` ("." is the whole tree) with one of `suffixes`, sorted; build outputs are left out."""
    found = []
    for folder in folders:
        for place, inner, names in os.walk(root / folder):
            inner[:] = [name for name in inner if name not in NOT_OURS]  # not entered: a build tree is large
            names = [name for name in names if name not in NOT_OURS and pathlib.Path(name).suffix in suffixes]
            found += [pathlib.Path(place, name) for name in names]
    return sorted(found)


def finish(name, problems, num_files):
    """Prints the problems and returns the exit status."""
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problems in {num_files} files")
    return 1 if problems else 0


def root_from(arguments):
    """The tree to check: the first argument, or this one."""
    return pathlib.Path(arguments[0]).resolve() if arguments else ROOT


def main(name, check):
    """Runs `check(root)`, which returns (problems, number of files), on the tree that the command line names."""
    problems, num_files = check(root_from(sys.argv[1:]))
    sys.exit(finish(name, problems, num_files))
