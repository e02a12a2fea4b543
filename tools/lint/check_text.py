#!/usr/bin/env python3
"""Checks that no file speaks of the place it was written in, or leaves a bare mark of unfinished work: what is missing
answers with a clear error and stands in the documentation, or has an issue that the mark names, as in TODO(#12)."""
import re

import sources

SUFFIXES = {".h", ".cc", ".cu", ".cuh", ".def", ".py", ".sh", ".cmake", ".txt", ".md", ".json", ".js", ".html", ".css", ".yml", ".in", ""}
BINARY = re.compile(rb"\0")
# Spelled in parts, so that this file passes its own check.
RULES = [
    (re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b(?!\(#\d+\))"), "a bare mark of unfinished work"),
    (re.compile(r"/wo" r"rk/|/fa" r"rm/|/ho" r"me/\w+|/ro" r"ot/|\.lib" r"rary/"), "a path of one machine"),
    (re.compile(r"\bsub-?" r"agents?\b|\bDEVEL" r"OPERS\.md\b|\bbefore-" r"stop\b|\bthis " r"session\b", re.I), "a word about the workplace"),
    (re.compile(r"\bfiles\.python" r"hosted\.org\b|\bdeb\.deb" r"ian\.org\b", re.I), "a package host"),
    (re.compile(r"^(<{7}|>{7}) "), "a conflict that was not resolved"),
]


def check_line(line):
    """(the words, the rule they break) for each rule that the line breaks."""
    return [(match[0], rule) for pattern, rule in RULES if (match := pattern.search(line))]


def check_file(root, path):
    content = path.read_bytes()
    if BINARY.search(content):
        return []
    name = path.relative_to(root).as_posix()
    return [
        f"{name}:{number}: '{words}' is {rule}"
        for number, line in enumerate(content.decode(errors="replace").splitlines(), 1)
        for words, rule in check_line(line)
    ]


def check(root):
    paths = sources.files(root, ["."], SUFFIXES)
    return [problem for path in paths for problem in check_file(root, path)], len(paths)


if __name__ == "__main__":
    sources.main("check_text", check)
