"""What the gateway and the replicas of a model say to each other."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from kiln.serve import Reason


@dataclasses.dataclass(eq=False)
class Request:
    """Inputs by name. Arrays come without a copy where Ray keeps them in shared memory; nobody writes to them."""

    inputs: dict[str, np.ndarray]
    outputs: tuple[str, ...] = ()
    """The outputs that are wanted; none: all of them."""


@dataclasses.dataclass
class Reply:
    """Outputs by name, in the order in which they are wanted."""

    outputs: dict[str, np.ndarray]
    version: str
    replica: dict[str, Any]
    """Which process answered: 'replica', 'pid' and 'rows', the rows of the run that this request was part of."""


@dataclasses.dataclass
class Refusal:
    """Why there is no answer. Exceptions would come back as Ray's, with a trace of the replica's calls."""

    reason: Reason
    text: str
