#!/usr/bin/env python3
"""Checks that no source file is longer than 700 lines and no function under src/ longer than 70. The public headers in
include/ are exempt: their length is TensorRT's."""
import re

import sources

LONGEST_FILE = 700
LONGEST_FUNCTION = 70
FOLDERS = ["src", "cudart", "plugins", "tools", "samples", "conformance", "bench", "fuzz", "python", "cmake"]
CXX = {".h", ".cc", ".cu", ".cuh"}
SUFFIXES = CXX | {".js", ".html", ".css", ".def", ".py", ".sh", ".cmake", ".txt"}
# Copied as they are from where they are maintained, or a list that a script writes.
EXEMPT = {"conformance/abi/check_abi.py", "conformance/cases/cuda_instances.txt"}

NOT_CODE = re.compile(
    r"""R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.S
)
# The text that may stand between a function's parameters and its body.
QUALIFIERS = r"(?:\s*(?:const|noexcept|override|final|mutable|TRT_NOEXCEPT|&&?|->\s*[\w:<>,&*\s\[\]]+))*"
# A closing parenthesis, qualifiers, and perhaps a constructor's initialisers: a body follows. `if (...)` ends alike, but
# only the outermost such brace counts as a function, so what stands inside one is not asked.
BEFORE_BODY = re.compile(r"\)" + QUALIFIERS + r"(?:\s*:\s*\w[^;{}]*(?:\{[^{}]*\}[^;{}]*)*)?\s*$")
NAME = re.compile(r"([~\w:]+)\s*(?:<[^<>]*>)?\s*\(")


def blank_out(text):
    """The text with comments and literals replaced by spaces; line breaks stay."""
    return NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def drop_preprocessor(text):
    """Without directives and their continued lines, so that the braces of macros don't count; line breaks stay."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda match: "\n" * match[0].count("\n"), text, flags=re.M)


def functions(text):
    """(name, first line, number of lines) of each function with a body: the outermost braces after a parameter list."""
    code = drop_preprocessor(blank_out(text))
    found, stack, last = [], [], 0  # stack: for each open brace, where it is if it opens a function, else None
    for match in re.finditer(r"[{};]", code):
        position = match.start()
        if match[0] == "{":
            head = code[last:position]
            inside = any(opened is not None for opened in stack)
            stack.append((last, position) if not inside and BEFORE_BODY.search(head) else None)
        elif match[0] == "}" and stack:
            opened = stack.pop()
            if opened is not None:
                found.append(describe(code, *opened, position))
        last = position + 1
    return found


def describe(code, head_start, body_start, end):
    head = code[head_start:body_start]
    start = head_start + len(head) - len(head.lstrip())
    names = NAME.findall(head)
    return names[0] if names else "?", code.count("\n", 0, start) + 1, code.count("\n", start, end) + 1


def check_file(root, path):
    name = path.relative_to(root).as_posix()
    text = path.read_text(errors="replace")
    lines = text.count("\n")
    problems = []
    if lines > LONGEST_FILE:
        problems.append(f"{name}: {lines} lines; at most {LONGEST_FILE}: find a name for its second half")
    if path.suffix in CXX and name.startswith("src/"):
        for function, line, length in functions(text):
            if length > LONGEST_FUNCTION:
                problems.append(f"{name}:{line}: {function} has {length} lines; at most {LONGEST_FUNCTION}")
    return problems


def check(root):
    paths = [p for p in sources.files(root, FOLDERS, SUFFIXES) if p.relative_to(root).as_posix() not in EXEMPT]
    paths = [p for p in paths if "include" not in p.relative_to(root).parts[:2]]
    return [problem for path in paths for problem in check_file(root, path)], len(paths)


if __name__ == "__main__":
    sources.main("check_sizes", check)
