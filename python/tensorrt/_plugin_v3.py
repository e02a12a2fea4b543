"""Plugins of version 3: the interfaces that a program implements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._interface import IVersionedInterface, int_value, native_of, only_called_by_the_library, str_value, value

if TYPE_CHECKING:
    from ._plugin_fields import PluginFieldCollection, PluginFieldCollection_
    from .tensorrt import (
        DataType,
        DimsExprs,
        DynamicPluginTensorDesc,
        IExprBuilder,
        IPluginResourceContext,
        PluginCapabilityType,
        PluginTensorDesc,
    )

__all__ = [
    "IPluginCapability",
    "IPluginV3",
    "IPluginV3OneCore",
    "IPluginV3OneBuild",
    "IPluginV3OneBuildV2",
    "IPluginV3OneRuntime",
]


class IPluginCapability(IVersionedInterface):
    """Base of the parts of a plugin of version 3. Which part an object is, its class says."""


class IPluginV3(IVersionedInterface):
    """A layer that the program implements. Its parts are objects of their own, or the same object.

    A class that is all of it derives from IPluginV3, IPluginV3OneCore, IPluginV3OneBuild (or IPluginV3OneBuildV2) and
    IPluginV3OneRuntime, and returns itself from get_capability_interface. An exception in a method makes the call of
    the builder, the engine or the context fail; the log has its text.
    """

    KIND = ("PLUGIN", 1, 0)

    def get_capability_interface(self, type: PluginCapabilityType) -> IPluginCapability | None:
        """Returns the part for a PluginCapabilityType, an object of the class of that part; None: there is none."""
        return native_of(self, "get_capability_interface").get_capability_interface(type)

    def clone(self) -> IPluginV3:
        """Returns a new plugin that works as this one does. It may share what neither changes."""
        return native_of(self, "clone").clone()

    def destroy(self) -> None:
        """Is called when the library is done with an object that it got from clone, a creator or attach_to_context."""


class IPluginV3OneCore(IPluginCapability):
    """The part of a plugin that says what it is called; the three properties are set by the program."""

    KIND = ("PLUGIN_V3ONE_CORE", 1, 0)

    plugin_name = value("plugin_name", str_value, "str: name by which its creator is found.")
    plugin_version = value("plugin_version", str_value, "str: version by which its creator is found.")
    plugin_namespace = value("plugin_namespace", str_value, "str: namespace of its creator, often ''.")


class IPluginV3OneBuild(IPluginCapability):
    """The part of a plugin that a build asks: types, shapes, formats, memory, tactics."""

    KIND = ("PLUGIN_V3ONE_BUILD", 1, 0)
    DEFAULT_FORMAT_COMBINATION_LIMIT = 100

    num_outputs = value("num_outputs", int_value, "int: number of outputs, at least 1; set by the program.")
    format_combination_limit = value(
        "format_combination_limit",
        int_value,
        "int: most combinations of types and formats that the builder is to try; 100 unless set.",
        DEFAULT_FORMAT_COMBINATION_LIMIT,
    )
    metadata_string = value(
        "metadata_string", str_value, "str: text about the plugin that the engine inspector shows, or None.", None
    )
    timing_cache_id = value(
        "timing_cache_id",
        str_value,
        "str: key under which times of this plugin may be kept in the timing cache; None: they are not kept.",
        None,
    )

    def get_output_data_types(self, input_types: list[DataType]) -> list[DataType]:
        """Returns a list of the outputs' DataTypes, given the inputs'."""
        only_called_by_the_library(self, "get_output_data_types")

    def get_output_shapes(
        self, inputs: list[DimsExprs], shape_inputs: list[DimsExprs], expr_builder: IExprBuilder
    ) -> list[DimsExprs]:
        """Returns a list of the outputs' DimsExprs.

        inputs: DimsExprs of each input; shape_inputs: DimsExprs of the elements of each shape input. expr_builder, an
        IExprBuilder, makes constants, operations and size tensors. All of these expressions end with this call.
        """
        only_called_by_the_library(self, "get_output_shapes")

    def get_workspace_size(self, in_: list[DynamicPluginTensorDesc], out: list[DynamicPluginTensorDesc]) -> int:
        """Returns the bytes of scratch memory that enqueue needs for tensors of these DynamicPluginTensorDescs; 0."""
        return 0

    def configure_plugin(self, in_: list[DynamicPluginTensorDesc], out: list[DynamicPluginTensorDesc]) -> None:
        """Tells the DynamicPluginTensorDesc of each input and output, with the type and format that are tried next."""
        only_called_by_the_library(self, "configure_plugin")

    def supports_format_combination(self, pos: int, in_out: list[DynamicPluginTensorDesc], num_inputs: int) -> bool:
        """Returns whether type and format of in_out[pos] are possible beside those of the tensors before it.

        in_out: DynamicPluginTensorDescs of the inputs, then the outputs.
        """
        only_called_by_the_library(self, "supports_format_combination")

    def get_valid_tactics(self) -> list[int]:
        """Returns a list of the tactics, above 0, that the configured plugin has; by default there are none."""
        return []


class IPluginV3OneBuildV2(IPluginV3OneBuild):
    """IPluginV3OneBuild of a plugin whose outputs may be its inputs' memory."""

    KIND = ("PLUGIN_V3ONE_BUILD", 2, 0)

    def get_aliased_input(self, output_index: int) -> int:
        """Returns the input whose memory the output is, or -1. Needs PreviewFeature.ALIASED_PLUGIN_IO_10_03."""
        return -1


class IPluginV3OneRuntime(IPluginCapability):
    """The part of a plugin that runs it."""

    KIND = ("PLUGIN_V3ONE_RUNTIME", 1, 0)

    def on_shape_change(self, in_: list[PluginTensorDesc], out: list[PluginTensorDesc]) -> None:
        """Tells the PluginTensorDesc of each input and output before a run of other shapes than the run before."""
        only_called_by_the_library(self, "on_shape_change")

    def set_tactic(self, tactic: int) -> None:
        """Tells the tactic of the runs to come; 0 where get_valid_tactics gave none."""
        only_called_by_the_library(self, "set_tactic")

    def get_fields_to_serialize(self) -> PluginFieldCollection | PluginFieldCollection_:
        """Returns a PluginFieldCollection that the plan keeps, for the creator to make the plugin of again."""
        only_called_by_the_library(self, "get_fields_to_serialize")

    def enqueue(
        self,
        input_desc: list[PluginTensorDesc],
        output_desc: list[PluginTensorDesc],
        inputs: list[int],
        outputs: list[int],
        workspace: int,
        stream: int,
    ) -> None:
        """Computes the outputs, or queues that on the stream.

        input_desc, output_desc: lists of PluginTensorDesc; inputs, outputs: lists of addresses of device memory (host
        memory where the CPU runs the network); workspace: address of get_workspace_size bytes; stream: handle of the
        CUDA stream. What it returns is not looked at.
        """
        only_called_by_the_library(self, "enqueue")

    def attach_to_context(self, resource_context: IPluginResourceContext) -> IPluginV3:
        """Returns a clone for an execution context, whose IPluginResourceContext is given."""
        only_called_by_the_library(self, "attach_to_context")
