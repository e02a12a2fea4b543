"""What the scripts of this folder are called with: SCRIPT PROGRAM FOLDER [NAME...] [-- FLAG...]"""
import os
import sys
from typing import NamedTuple


class CommandLine(NamedTuple):
    program: str  # that runs the models
    folder: str  # that they are made in; it is there
    chosen: list  # parts of the names of networks; empty: all
    flags: list  # of the program

    def wants(self, name):
        return not self.chosen or any(part in name for part in self.chosen)


def read_command_line(usage):
    """Ends the script with its usage where arguments are missing."""
    arguments, flags = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, flags = arguments[:at], arguments[at + 1 :]
    if len(arguments) < 2:
        sys.exit(usage)
    program, folder, *chosen = arguments
    os.makedirs(folder, exist_ok=True)
    return CommandLine(program, folder, chosen, flags)
