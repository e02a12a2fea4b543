# Copyright the Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""All classes of plugins that are Python's; the extension module finds them here."""

from . import _plugin_creators, _plugin_fields, _plugin_quick, _plugin_v2, _plugin_v3
from ._plugin_creators import *  # noqa: F403
from ._plugin_fields import *  # noqa: F403
from ._plugin_quick import *  # noqa: F403
from ._plugin_v2 import *  # noqa: F403
from ._plugin_v3 import *  # noqa: F403

# One by one: type checkers understand this.
__all__: list[str] = []
__all__ += _plugin_creators.__all__
__all__ += _plugin_fields.__all__
__all__ += _plugin_quick.__all__
__all__ += _plugin_v2.__all__
__all__ += _plugin_v3.__all__
