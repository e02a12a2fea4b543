"""Checks of arguments, before anything is built. Their messages name the argument and say what it may be."""

from __future__ import annotations

from typing import Any


def check_number(argument: str, value: Any, least: int, most: int | None = None) -> None:
    """Raises for what is no int of a range."""
    limits = f"from {least} on" if most is None else f"from {least} to {most}"
    if not hasattr(value, "__index__") or isinstance(value, bool):
        raise TypeError(f"{argument} is {value!r}; it may be an int {limits}")
    if value < least or (most is not None and value > most):
        raise ValueError(f"{argument} is {value}; it may be {limits}")


def check_flag(argument: str, value: Any) -> None:
    """Raises for what is no bool: of a text such as "no" the truth value would count."""
    if not isinstance(value, bool):
        raise TypeError(f"{argument} is {value!r}; it may be True or False")


def check_configure(value: Any) -> None:
    """Raises for what is no function."""
    if not callable(value):
        raise TypeError(f"configure is {value!r}; it may be a function(network, config)")
