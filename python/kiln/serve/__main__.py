"""The command: python -m kiln.serve, which `kiln serve` runs."""

import sys

from ._signals import Signals


def main(words: list[str] | None = None) -> int:
    """Runs the command, and returns its exit status."""
    signals = Signals()
    try:
        with signals.heard():
            return _run(words, signals)
    finally:
        signals.close()


def _run(words: list[str] | None, signals: Signals) -> int:
    try:
        from ._command import run  # while signals are heard: its packages take long to load
    except ModuleNotFoundError as failure:
        print(f"kiln serve: {failure} ({sys.executable})", file=sys.stderr)
        return 1
    return run(words, signals)


if __name__ == "__main__":
    sys.exit(main())
