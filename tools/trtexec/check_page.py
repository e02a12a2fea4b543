#!/usr/bin/env python3
"""Checks that docs/trtexec.md has each flag of trtexec's table and of its older releases once, with the value that the
table gives it, and calls refused what the table calls lacking.

usage: check_page.py
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(*path):
    with open(os.path.join(ROOT, *path)) as file:
        return file.read()


def flags_of_table():
    """The value of each flag, and whether the table has it as lacking."""
    table = read("tools", "trtexec", "flag_table.h")
    table = table[table.index("kFlags[]") :]
    rows = re.findall(r'(\{|lacking\()\s*"(--?\w+)",\s*"([^"]*)"', table)
    return {name: (value, opening == "lacking(") for opening, name, value in rows}


def old_flags():
    source = read("tools", "trtexec", "old_flags.cc")
    return set(re.findall(r'^\s*\{"(--\w+)", Fate::', source, re.M))


def flags_of_page():
    """(flag, value, text of its row) of each flag in the first column of a table."""
    found = []
    for line in read("docs", "trtexec.md").splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) < 4 or not cells[1].strip().startswith("`-"):
            continue
        for flag in re.findall(r"`(--?[^`]+)`", cells[1]):
            name, _, value = flag.replace("\\|", "|").partition("=")
            found.append((name, value, cells[2]))
    return found


def problems():
    table, old, page = flags_of_table(), old_flags(), flags_of_page()
    names = [name for name, _, _ in page]
    for name in sorted(set(table) | old):
        if names.count(name) != 1:
            yield f"docs/trtexec.md has {name} {names.count(name)} times"
    for name, value, text in page:
        if name not in table:
            if name not in old:
                yield f"docs/trtexec.md has {name}, which trtexec has not"
            continue
        wanted, lacks = table[name]
        if value != wanted:
            yield f"docs/trtexec.md gives {name} the value '{value}', and the table '{wanted}'"
        if lacks != text.strip().startswith("refused"):
            yield f"docs/trtexec.md says '{text.strip()[:20]}...' of {name}, which the table calls " + ("lacking" if lacks else "working")


def main():
    found = list(problems())
    for problem in found:
        print(problem)
    if len(flags_of_table()) != 126:
        found.append("count")
        print(f"the table has {len(flags_of_table())} flags; TensorRT 10.16's trtexec has 126")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
