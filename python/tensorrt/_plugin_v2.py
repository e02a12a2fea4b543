"""Plugins of version 2, all deprecated: what C++ libraries have, and IPluginV2DynamicExt for programs in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import tensorrt as _library
from ._interface import IVersionedInterface, int_value, native_of, only_called_by_the_library, str_value, value, value_of_both

if TYPE_CHECKING:
    from .tensorrt import (
        DataType,
        Dims,
        DimsExprs,
        DynamicPluginTensorDesc,
        IExprBuilder,
        IGpuAllocator,
        PluginTensorDesc,
        TensorFormat,
    )

__all__ = ["IPluginV2", "IPluginV2Ext", "IPluginV2DynamicExtBase", "IPluginV2DynamicExt"]


class IPluginV2(IVersionedInterface):
    """A plugin of version 2, from a creator in C++. Deprecated: IPluginV3 has taken its place.

    It belongs to the program, and ends with this object, or with destroy. Networks take copies of it.
    """

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__} has no constructor: creators of plugins in C++ make its objects")

    num_outputs = value("num_outputs", int_value, "int: number of outputs; set by a plugin in Python.")
    plugin_type = value("plugin_type", str_value, "str: name by which its creator is found; set by a plugin in Python.")
    plugin_version = value(
        "plugin_version", str_value, "str: version by which its creator is found; set by a plugin in Python."
    )

    plugin_namespace = value_of_both("plugin_namespace", str_value, "str: namespace of its creator.")

    @property
    def tensorrt_version(self) -> int:
        """int: version of the API that the plugin was built with; its top byte tells the interface."""
        return native_of(self, "tensorrt_version").tensorrt_version

    @property
    def serialization_size(self) -> int:
        """int: bytes that serialize gives."""
        return native_of(self, "serialization_size").serialization_size

    def get_output_shape(self, index: int, input_shapes: list[Dims]) -> Dims:
        """Returns the Dims of an output, without the batch, given the inputs'."""
        return native_of(self, "get_output_shape").get_output_shape(index, input_shapes)

    def supports_format(self, dtype: DataType, format: TensorFormat) -> bool:
        """Returns whether the plugin takes tensors of this DataType and TensorFormat."""
        return native_of(self, "supports_format").supports_format(dtype, format)

    def configure_with_format(
        self,
        input_shapes: list[Dims],
        output_shapes: list[Dims],
        dtype: DataType,
        format: TensorFormat,
        max_batch_size: int,
    ) -> None:
        """Tells the plugin its shapes, without the batch, its type and its format."""
        native = native_of(self, "configure_with_format")
        native.configure_with_format(input_shapes, output_shapes, dtype, format, max_batch_size)

    def initialize(self) -> int:
        """Prepares runs; returns 0 if that worked."""
        return native_of(self, "initialize").initialize()

    def terminate(self) -> None:
        """Frees what initialize made."""
        native_of(self, "terminate").terminate()

    def get_workspace_size(self, max_batch_size: int) -> int:
        """Returns the bytes of scratch memory that a run needs."""
        return native_of(self, "get_workspace_size").get_workspace_size(max_batch_size)

    def execute_async(
        self, batch_size: int, inputs: list[int], outputs: list[int], workspace: int, stream_handle: int
    ) -> int:
        """Queues a run on a CUDA stream; inputs and outputs are lists of addresses. Returns 0 if that worked."""
        native = native_of(self, "execute_async")
        return native.execute_async(batch_size, inputs, outputs, workspace, stream_handle)

    def serialize(self) -> memoryview:
        """Returns the bytes that its creator can make the plugin of again, as a memoryview."""
        return memoryview(native_of(self, "serialize").serialize())

    def destroy(self) -> None:
        """Ends the plugin in C++; nothing else can be called of it after that."""
        native_of(self, "destroy").destroy()

    def clone(self) -> IPluginV2:
        """Returns a copy."""
        return native_of(self, "clone").clone()


class IPluginV2Ext(IPluginV2):
    """IPluginV2 with types for each output. Deprecated: IPluginV3 has taken its place."""

    def get_output_data_type(self, index: int, input_types: list[DataType]) -> DataType:
        """Returns the DataType of an output, given the inputs'."""
        return native_of(self, "get_output_data_type").get_output_data_type(index, input_types)

    def configure_plugin(
        self,
        input_shapes: list[Dims],
        output_shapes: list[Dims],
        input_types: list[DataType],
        output_types: list[DataType],
        input_is_broadcasted: list[bool],
        output_is_broacasted: list[bool],
        format: TensorFormat,
        max_batch_size: int,
    ) -> None:
        """Tells the plugin its shapes, without the batch, its types and its format."""
        native_of(self, "configure_plugin").configure_plugin(
            input_shapes,
            output_shapes,
            input_types,
            output_types,
            input_is_broadcasted,
            output_is_broacasted,
            format,
            max_batch_size,
        )

    def clone(self) -> IPluginV2Ext:
        """Returns a copy."""
        return super().clone()

    def attach_to_context(self, cudnn: int, cublas: int, allocator: IGpuAllocator | None) -> None:
        """Tells the plugin the handles (addresses) of a context's libraries."""
        native_of(self, "attach_to_context").attach_to_context(cudnn, cublas, allocator)

    def detach_from_context(self) -> None:
        """Tells the plugin that its context ends."""
        native_of(self, "detach_from_context").detach_from_context()


class IPluginV2DynamicExtBase(IPluginV2):
    """A plugin of version 2 in C++ whose shapes may be dynamic."""


class IPluginV2DynamicExt(IPluginV2DynamicExtBase):
    """A plugin of version 2 for dynamic shapes, that a program implements. Deprecated: use IPluginV3.

    The program sets num_outputs, plugin_type, plugin_version and plugin_namespace. An exception in a method makes the
    call of the builder, the engine or the context fail; the log has its text.
    """

    FORMAT_COMBINATION_LIMIT = 100

    def __init__(self, other=None) -> None:
        """Prepares a new object; nothing is copied from `other`."""

    @property
    def tensorrt_version(self) -> int:
        """int: version of the API, and in its top byte that Python implements the plugin."""
        return _library._python_plugin_version

    @property
    def serialization_size(self) -> int:
        """int: bytes that serialize gives."""
        return self.get_serialization_size()

    def initialize(self) -> int | None:
        """Prepares runs; raises where that fails. By default there is nothing to do."""

    def terminate(self) -> None:
        """Frees what initialize made. By default there is nothing to do."""

    def serialize(self) -> bytes:
        """Returns bytes that IPluginCreator.deserialize_plugin can make the plugin of again."""
        only_called_by_the_library(self, "serialize")

    def get_serialization_size(self) -> int:
        """Returns the number of bytes that serialize returns; by default serialize is called to see."""
        return len(self.serialize())

    def get_output_datatype(self, index: int, input_types: list[DataType]) -> DataType:
        """Returns the DataType of an output, given the inputs'."""
        only_called_by_the_library(self, "get_output_datatype")

    def get_output_dimensions(
        self, output_index: int, inputs: list[DimsExprs], expr_builder: IExprBuilder
    ) -> DimsExprs:
        """Returns the DimsExprs of an output, given the inputs' and an IExprBuilder, all of which end with the call."""
        only_called_by_the_library(self, "get_output_dimensions")

    def get_workspace_size(self, in_: list[PluginTensorDesc], out: list[PluginTensorDesc]) -> int:
        """Returns the bytes of scratch memory that a run of these PluginTensorDescs needs; 0."""
        return 0

    def configure_plugin(self, in_: list[DynamicPluginTensorDesc], out: list[DynamicPluginTensorDesc]) -> None:
        """Tells the DynamicPluginTensorDesc of each input and output: in builds, and before runs of other shapes."""
        only_called_by_the_library(self, "configure_plugin")

    def supports_format_combination(self, pos: int, in_out: list[PluginTensorDesc], num_inputs: int) -> bool:
        """Returns whether type and format of in_out[pos], a PluginTensorDesc, are possible beside those before it."""
        only_called_by_the_library(self, "supports_format_combination")

    def enqueue(
        self,
        input_desc: list[PluginTensorDesc],
        output_desc: list[PluginTensorDesc],
        inputs: list[int],
        outputs: list[int],
        workspace: int,
        stream: int,
    ) -> None:
        """Computes the outputs, or queues that on the stream; see IPluginV3OneRuntime.enqueue."""
        only_called_by_the_library(self, "enqueue")

    def clone(self) -> IPluginV2DynamicExt:
        """Returns a new plugin that works as this one does."""
        only_called_by_the_library(self, "clone")

    def destroy(self) -> None:
        """Is called when the library is done with an object that it got from clone or a creator."""
