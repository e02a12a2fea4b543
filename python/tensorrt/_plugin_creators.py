"""Creators of plugins, and what plugins share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._interface import IVersionedInterface, native_of, only_called_by_the_library, str_value, value, value_of_both
from ._plugin_fields import PluginFieldCollection_

if TYPE_CHECKING:
    from ._plugin_v2 import IPluginV2, IPluginV2DynamicExt
    from ._plugin_v3 import IPluginV3
    from .tensorrt import QuickPluginCreationRequest, TensorRTPhase

__all__ = [
    "IPluginCreatorInterface",
    "IPluginCreator",
    "IPluginCreatorV3One",
    "IPluginCreatorV3Quick",
    "IPluginResource",
]


def _fields_value(fields) -> PluginFieldCollection_:
    return fields if isinstance(fields, PluginFieldCollection_) else PluginFieldCollection_(fields)


_NAME = "str: name of the plugins; set by a creator in Python."
_VERSION = "str: version of the plugins; set by a creator in Python."
_NAMESPACE = "str: namespace of the plugins, often ''; set by a creator in Python."
_FIELDS = "PluginFieldCollection: the attributes that create_plugin knows; set by a creator in Python."


class IPluginCreatorInterface(IVersionedInterface):
    """Base of the classes that create plugins."""


class IPluginCreator(IPluginCreatorInterface):
    """Creates plugins of version 2. Deprecated: use IPluginCreatorV3One."""

    KIND = ("PLUGIN CREATOR_V1", 1, 0)

    name = value("name", str_value, _NAME)
    plugin_version = value("plugin_version", str_value, _VERSION)
    field_names = value("field_names", _fields_value, _FIELDS)

    plugin_namespace = value_of_both("plugin_namespace", str_value, "str: namespace of the plugins, often ''. Registering the creator sets it.")

    def create_plugin(self, name: str, field_collection: PluginFieldCollection_) -> IPluginV2 | None:
        """Returns a plugin for a layer of this name, with these attributes; None if that is not possible."""
        return native_of(self, "create_plugin").create_plugin(name, field_collection)

    def deserialize_plugin(self, name: str, serialized_plugin: bytes) -> IPluginV2 | IPluginV2DynamicExt | None:
        """Returns the plugin that was serialized to these bytes, for a layer of this name."""
        return native_of(self, "deserialize_plugin").deserialize_plugin(name, serialized_plugin)


class IPluginCreatorV3One(IPluginCreatorInterface):
    """Creates plugins of version 3."""

    KIND = ("PLUGIN CREATOR_V3ONE", 1, 0)

    name = value("name", str_value, _NAME)
    plugin_version = value("plugin_version", str_value, _VERSION)
    field_names = value("field_names", _fields_value, _FIELDS)
    plugin_namespace = value("plugin_namespace", str_value, _NAMESPACE)

    def create_plugin(
        self, name: str, field_collection: PluginFieldCollection_, phase: TensorRTPhase
    ) -> IPluginV3 | None:
        """Returns an IPluginV3 for a layer of this name, with these attributes; None if that is not possible.

        phase: TensorRTPhase.BUILD while a network is made, with what the program or the ONNX node gives; RUNTIME while
        an engine is loaded, with what get_fields_to_serialize gave.
        """
        return native_of(self, "create_plugin").create_plugin(name, field_collection, phase)


class IPluginCreatorV3Quick(IPluginCreatorInterface):
    """Creates quick plugins."""

    KIND = ("PLUGIN CREATOR_V3QUICK", 1, 0)

    name = value("name", str_value, _NAME)
    plugin_version = value("plugin_version", str_value, _VERSION)
    field_names = value("field_names", _fields_value, _FIELDS)
    plugin_namespace = value("plugin_namespace", str_value, _NAMESPACE)

    def create_plugin(
        self,
        name: str,
        namespace: str,
        field_collection: PluginFieldCollection_,
        phase: TensorRTPhase,
        quickPluginType: QuickPluginCreationRequest,
    ) -> IPluginV3 | None:
        """Returns an IPluginV3 with the parts of a quick plugin; None if that is not possible.

        quickPluginType: QuickPluginCreationRequest, whether it is to run in Python or as a kernel of the plan.
        """
        native = native_of(self, "create_plugin")
        return native.create_plugin(name, namespace, field_collection, phase, quickPluginType)


class IPluginResource(IVersionedInterface):
    """Something that plugins share by a key of the registry, which keeps a clone and counts its users."""

    KIND = ("IPluginResource", 1, 0)

    def clone(self) -> IPluginResource:
        """Returns a copy, which the registry keeps."""
        only_called_by_the_library(self, "clone")

    def release(self) -> None:
        """Frees what the copy holds; is called when its last user has released it."""
        only_called_by_the_library(self, "release")
