"""Interfaces of quick plugins. `tensorrt.plugin` implements them for functions; few programs do that themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._interface import only_called_by_the_library, str_value, value
from ._plugin_v3 import IPluginCapability

if TYPE_CHECKING:
    from ._plugin_fields import PluginFieldCollection, PluginFieldCollection_
    from .tensorrt import (
        DataType,
        Dims,
        DimsExprs,
        DynamicPluginTensorDesc,
        IExprBuilder,
        ISymExprs,
        KernelLaunchParams,
        PluginTensorDesc,
    )

__all__ = ["IPluginV3QuickCore", "IPluginV3QuickBuild", "IPluginV3QuickAOTBuild", "IPluginV3QuickRuntime"]


class IPluginV3QuickCore(IPluginCapability):
    """The part of a quick plugin that says what it is called; the three properties are set by the program."""

    KIND = ("PLUGIN_V3QUICK_CORE", 1, 0)

    plugin_name = value("plugin_name", str_value, "str: name by which its creator is found.")
    plugin_version = value("plugin_version", str_value, "str: version by which its creator is found.")
    plugin_namespace = value("plugin_namespace", str_value, "str: namespace of its creator.")


class IPluginV3QuickBuild(IPluginCapability):
    """The part of a quick plugin that a build asks."""

    KIND = ("PLUGIN_V3QUICK_BUILD", 1, 0)

    def get_num_outputs(self) -> int:
        """Returns the number of outputs, at least 1."""
        only_called_by_the_library(self, "get_num_outputs")

    def get_output_data_types(self, input_types: list[DataType], ranks: list[int]) -> list[DataType]:
        """Returns a list of the outputs' DataTypes, given types and ranks of the inputs."""
        only_called_by_the_library(self, "get_output_data_types")

    def get_output_shapes(
        self, inputs: list[DimsExprs], shape_inputs: list[DimsExprs], expr_builder: IExprBuilder
    ) -> list[DimsExprs]:
        """Returns a list of the outputs' DimsExprs; see IPluginV3OneBuild.get_output_shapes."""
        only_called_by_the_library(self, "get_output_shapes")

    def configure_plugin(self, in_: list[DynamicPluginTensorDesc], out: list[DynamicPluginTensorDesc]) -> None:
        """Tells the DynamicPluginTensorDesc of each input and output, with the type and format that are tried next."""
        only_called_by_the_library(self, "configure_plugin")

    def get_supported_format_combinations(
        self, in_out: list[DynamicPluginTensorDesc], num_inputs: int
    ) -> list[PluginTensorDesc]:
        """Returns a list of PluginTensorDescs: the types and formats of all inputs and outputs, for each combination.

        in_out: DynamicPluginTensorDescs of the inputs, then the outputs.
        """
        only_called_by_the_library(self, "get_supported_format_combinations")

    def get_aliased_input(self, output_index: int) -> int:
        """Returns the input whose memory the output is, or -1. Needs PreviewFeature.ALIASED_PLUGIN_IO_10_03."""
        return -1

    def get_valid_tactics(self) -> list[int]:
        """Returns a list of the tactics, above 0, that the configured plugin has; by default there are none."""
        return []

    def get_timing_cache_id(self) -> str | None:
        """Returns the key under which times may be kept in the timing cache; None: they are not kept."""
        return None

    def get_metadata_string(self) -> str | None:
        """Returns text about the plugin that the engine inspector shows, or None."""
        return None


class IPluginV3QuickAOTBuild(IPluginV3QuickBuild):
    """The part of a quick plugin whose kernel a build puts into the plan: running it needs no Python."""

    KIND = ("PLUGIN_V3QUICKAOT_BUILD", 1, 0)

    def get_kernel(
        self, input_desc: list[PluginTensorDesc], output_desc: list[PluginTensorDesc]
    ) -> tuple[str, bytes]:
        """Returns the kernel's name, a str, and its code, bytes, for inputs and outputs of these PluginTensorDescs."""
        only_called_by_the_library(self, "get_kernel")

    def get_launch_params(
        self,
        inputs: list[DimsExprs],
        in_out: list[DynamicPluginTensorDesc],
        num_inputs: int,
        launch_params: KernelLaunchParams,
        extra_args: ISymExprs,
        expr_builder: IExprBuilder,
    ) -> None:
        """Fills in how the kernel is launched, by expressions of the inputs' extents.

        inputs: DimsExprs of each input; in_out: DynamicPluginTensorDescs of the inputs, then the outputs. launch_params,
        a KernelLaunchParams, gets grid, block and shared memory; extra_args, an ISymExprs, the kernel's scalars.
        """
        only_called_by_the_library(self, "get_launch_params")

    def set_tactic(self, tactic: int) -> None:
        """Tells the tactic that get_launch_params and get_kernel are asked for next."""
        only_called_by_the_library(self, "set_tactic")


class IPluginV3QuickRuntime(IPluginCapability):
    """The part of a quick plugin that Python runs."""

    KIND = ("PLUGIN_V3QUICK_RUNTIME", 1, 0)

    def set_tactic(self, tactic: int) -> None:
        """Tells the tactic of the runs to come; 0 where get_valid_tactics gave none."""
        only_called_by_the_library(self, "set_tactic")

    def enqueue(
        self,
        input_desc: list[PluginTensorDesc],
        output_desc: list[PluginTensorDesc],
        inputs: list[int],
        outputs: list[int],
        in_strides: list[Dims],
        out_strides: list[Dims],
        stream: int,
    ) -> None:
        """Computes the outputs, or queues that on the stream.

        As IPluginV3OneRuntime.enqueue, with the strides of inputs and outputs, in elements, and without a workspace.
        """
        only_called_by_the_library(self, "enqueue")

    def get_fields_to_serialize(self) -> PluginFieldCollection | PluginFieldCollection_:
        """Returns a PluginFieldCollection that the plan keeps, for the creator to make the plugin of again."""
        only_called_by_the_library(self, "get_fields_to_serialize")
