"""All classes of plugins that are Python's; the extension module finds them here."""

# No __all__: type checkers would want it as a list of names, a second time.
from ._plugin_creators import *  # noqa: F403
from ._plugin_fields import *  # noqa: F403
from ._plugin_quick import *  # noqa: F403
from ._plugin_v2 import *  # noqa: F403
from ._plugin_v3 import *  # noqa: F403
