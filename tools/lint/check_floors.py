#!/usr/bin/env python3
"""Checks that every file under src/ includes only files of strictly lower floors and of its own folder, and that only
src/api and src/plugin include the public headers Nv*.h. docs/architecture.md has the floors in words."""
import re

import sources

# From the ground up; a folder not named here must not exist. Longer paths win: backend/cpu/tactics before backend/cpu.
FLOORS = {
    "base": 0,
    "sym": 1,
    "tensor": 2,
    "ops": 3,
    "device": 3,
    "ir": 4,
    "steps": 4,
    "plan": 5,
    "onnx": 6,
    "passes": 6,
    "tactics": 6,
    "runtime": 6,
    "backend/cpu": 7,
    "backend/cuda": 7,
    "builder": 7,
    "api/base": 7,
    "plugin": 8,
    "api/run": 9,
    "api/build": 10,
    "api/onnx": 10,
    "api/entry": 11,
    "api/libs": 11,
}
# The parts of a backend that only building needs, and which parts those of its own backend do not see.
BACKEND_BUILD_PARTS = ("compile", "tactics")
BACKEND_PARTS_HIDDEN_FROM = {
    "device": BACKEND_BUILD_PARTS,
    "kernels": BACKEND_BUILD_PARTS,
    "exec": BACKEND_BUILD_PARTS,
    "compile": ("exec", "tactics"),
}
# All that these parts may use beside their own backend.
BACKEND_RUN_FLOORS = {"base", "sym", "tensor", "ops", "device", "steps", "plan"}
PUBLIC_HEADER_USERS = ("api/", "plugin/")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def folder_of(path):
    """The floor's folder of a path relative to src/, or None: 'backend/cpu/exec/team.h' is in 'backend/cpu'."""
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        if "/".join(parts[:length]) in FLOORS:
            return "/".join(parts[:length])
    return None


def backend_part(path):
    """'exec' of 'backend/cpu/exec/team.h'; None outside backends."""
    parts = path.split("/")
    return parts[2] if parts[0] == "backend" and len(parts) > 3 else None


def is_public_header(name):
    return re.fullmatch(r"Nv\w+\.h", name.split("/")[-1]) is not None


def is_of_tests(file):
    return file.endswith("_test.cc") or "/testing/" in file


def why_relative(path, name):
    """An include found beside the file, not from src/, would slip past the rules below (kernels' are from kernels/)."""
    if not is_public_header(name) and path.suffix != ".cuh" and (path.parent / name).exists():
        return "an include is a path from src/, not from the file's own folder"
    return None


def why_forbidden(file, name):
    """The rule that `#include name` in `file` breaks, or None. Both paths are relative to src/."""
    if is_public_header(name):
        return None if file.startswith(PUBLIC_HEADER_USERS) else "only api/ and plugin/ include the public headers"
    mine, theirs = folder_of(file), folder_of(name)
    if theirs is None:
        return None  # of the system or a library
    if theirs == mine:
        return why_backend_part_forbidden(file, name)
    if FLOORS[theirs] >= FLOORS[mine]:
        relation = "a peer" if FLOORS[theirs] == FLOORS[mine] else "above"
        return f"{theirs}/ (floor {FLOORS[theirs]}) is {relation}; {mine}/ is on floor {FLOORS[mine]}"
    if backend_part(file) in BACKEND_PARTS_HIDDEN_FROM and theirs not in BACKEND_RUN_FLOORS:
        return f"a backend's {backend_part(file)}/ uses only {', '.join(sorted(BACKEND_RUN_FLOORS))}"
    if mine == "api/run" and backend_part(name) in BACKEND_BUILD_PARTS and not is_of_tests(file):
        return f"{mine}/ runs plans: it does not see a backend's {backend_part(name)}/"
    return None


def why_backend_part_forbidden(file, name):
    """Within a backend: what runs a plan does not see what makes one, but for tests of it."""
    mine, theirs = backend_part(file), backend_part(name)
    if theirs not in BACKEND_PARTS_HIDDEN_FROM.get(mine, ()) or is_of_tests(file):
        return None
    return f"a backend's {mine}/ does not see its {theirs}/"


def check_file(root, path):
    file = path.relative_to(root / "src").as_posix()
    if folder_of(file) is None:
        return [f"src/{file}: its folder is on no floor of tools/lint/check_floors.py"]
    problems = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted = match[1] == '"'
        reason = why_relative(path, match[2]) if quoted else None
        reason = reason or why_forbidden(file, match[2])
        if reason:
            problems.append(f"src/{file}:{number}: {line.strip()}: {reason}")
    return problems


def check(root):
    paths = sources.files(root, ["src"], {".h", ".cc", ".cu", ".cuh", ".def"})
    paths = [path for path in paths if path.parent != root / "src"]
    return [problem for path in paths for problem in check_file(root, path)], len(paths)


if __name__ == "__main__":
    sources.main("check_floors", check)
