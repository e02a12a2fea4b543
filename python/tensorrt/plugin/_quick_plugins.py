"""Quick plugins as the library sees them: the interfaces around a definition's functions."""

from ._autotune import AutoTuneCombination
from ._expressions import KernelLaunchParams, ShapeExpr, ShapeExprs, SymExprs, SymInt32, building
from ._parent import trt
from ._tensors import Shape, Tensor, TensorDesc

_VERSION = "1"
# What an aot_impl function returns, with the types that it may have.
_AOT_RESULTS = (
    ("the kernel's name", (str, bytes), "str or bytes"),
    ("the kernel's code", (str, bytes), "str or bytes"),
    ("how it is launched", KernelLaunchParams, "KernelLaunchParams"),
    ("its arguments", SymExprs, "SymExprs"),
)


class _QuickPlugin(trt.IPluginV3, trt.IPluginV3QuickCore):
    """What both forms of a quick plugin have: its name, types and shapes, formats and tactics."""

    def __init__(self, definition, attributes):
        super().__init__()
        self.plugin_name = definition.name
        self.plugin_namespace = definition.namespace
        self.plugin_version = _VERSION
        self._definition = definition
        self._attributes = attributes
        self._input_types = None
        self._aliases = {}
        self._inputs = self._outputs = ()
        self._tactics = {}
        self._configured = None
        self._tactic = 0

    def get_capability_interface(self, type):
        """Returns this object, which is all its parts."""
        return self

    def clone(self):
        """Returns a plugin of the same definition and attributes, in the same state."""
        copy = type(self)(self._definition, self._attributes)
        copy.__dict__.update(self.__dict__)
        return copy

    def get_num_outputs(self):
        """Returns how many TensorDesc the register function returns."""
        return self._definition.num_outputs

    def _values(self, names):
        return [self._attributes[name] for name in names]

    def get_output_data_types(self, input_types, ranks):
        """Asks the register function, with fake extents."""
        self._input_types = input_types
        inputs = [
            TensorDesc(ShapeExprs.fake(rank), dtype)._freeze() for dtype, rank in zip(input_types, ranks)
        ]
        outputs = self._definition.describe(inputs, self._attributes)
        position = {id(desc): i for i, desc in enumerate(inputs)}
        self._aliases = {}
        for i, desc in enumerate(outputs):
            if desc.is_aliased:
                if id(desc.get_aliased()) not in position:
                    raise ValueError(f"output {i} is the memory of a tensor that is no input of the plugin")
                self._aliases[i] = position[id(desc.get_aliased())]
        return [desc.dtype for desc in outputs]

    def _describe(self, inputs):
        """Asks the register function with the extents of `inputs`, DimsExprs; keeps all descriptions."""
        types = self._input_types or [None] * len(inputs)
        self._inputs = [
            TensorDesc(ShapeExprs.from_tuple(ShapeExpr(extent) for extent in dims), dtype)._freeze()
            for dims, dtype in zip(inputs, types)
        ]
        self._outputs = self._definition.describe(self._inputs, self._attributes)
        for i, desc in enumerate(self._outputs):
            if desc.is_size_tensor:
                desc._set_index(i)

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        """Asks the register function."""
        if shape_inputs:
            raise ValueError("a quick plugin has no shape inputs")
        with building(expr_builder):
            self._describe(inputs)
            shapes = []
            for i, desc in enumerate(self._outputs):
                extents = [None if extent is None else extent._expr for extent in desc.shape_expr]
                if any(extent is None for extent in extents):
                    raise ValueError(f"output {i} has an extent that was not set, or is fake")
                shapes.append(trt.DimsExprs(extents))
            return shapes

    def get_aliased_input(self, output_index):
        """Returns the input that the register function aliased, or -1."""
        return self._aliases.get(output_index, -1)

    def _tell_shapes(self, in_out):
        """Gives the descriptions what is known of the tensors now."""
        for desc, known in zip((*self._inputs, *self._outputs), in_out):
            was_frozen = desc._is_frozen
            desc._thaw()
            desc.shape, desc.format, desc.scale = Shape(known), known.desc.format, known.desc.scale
            if was_frozen:
                desc._freeze()

    def _choices(self, in_out, num_inputs):
        """Yields types, formats and tactics that are possible."""
        definition = self._definition
        if definition.autotune is None:
            types = [tensor.desc.type for tensor in in_out[:num_inputs]]
            if self._input_types is not None:
                types = list(self._input_types)
            types += [desc.dtype for desc in self._outputs]
            yield tuple(types), (trt.TensorFormat.LINEAR,) * len(in_out), []
            return
        self._tell_shapes(in_out)
        found = definition.autotune(
            *self._inputs, *self._values(definition.autotune_attributes), tuple(self._outputs)
        )
        for combination in [found] if not isinstance(found, (list, tuple)) else found:
            if not isinstance(combination, AutoTuneCombination):
                raise TypeError(
                    f"autotune function of '{definition.plugin_id}': it returned {found!r}; a list of AutoTuneCombination is needed"
                )
            yield from combination._combinations(len(in_out))

    def get_supported_format_combinations(self, in_out, num_inputs):
        """Asks the autotune function; without one, the tensors have the types of the network, and are LINEAR."""
        self._tactics = {}
        tensors = []
        for types, formats, tactics in self._choices(in_out, num_inputs):
            known = self._tactics.get((types, formats))
            if known is not None:
                known.extend(one for one in tactics if one not in known)
                continue
            self._tactics[types, formats] = list(tactics)
            for dtype, tensor_format in zip(types, formats):
                desc = trt.PluginTensorDesc()
                desc.type, desc.format = dtype, tensor_format
                tensors.append(desc)
        return tensors

    def configure_plugin(self, input_desc, output_desc):
        """Keeps which combination is tried next."""
        tensors = (*input_desc, *output_desc)
        self._configured = (
            tuple(tensor.desc.type for tensor in tensors),
            tuple(tensor.desc.format for tensor in tensors),
        )

    def get_valid_tactics(self):
        """Returns the tactics of the combination."""
        return list(self._tactics.get(self._configured, ()))

    def set_tactic(self, tactic):
        """Keeps the tactic."""
        self._tactic = tactic


class JitPlugin(_QuickPlugin, trt.IPluginV3QuickBuild, trt.IPluginV3QuickRuntime):
    """A quick plugin whose impl function Python runs."""

    def get_fields_to_serialize(self):
        """Returns the attributes that the impl function takes."""
        definition = self._definition
        return trt.PluginFieldCollection(
            [definition.attributes[name].to_field(self._attributes[name]) for name in definition.impl_attributes]
        )

    @staticmethod
    def _tensor(desc, address, strides, stream):
        tensor = Tensor()
        tensor.data_ptr, tensor.dtype, tensor.shape = address, desc.type, Shape(desc)
        tensor.format, tensor.scale, tensor.strides = desc.format, desc.scale, tuple(strides)
        tensor._stream = stream
        return tensor

    def enqueue(self, input_desc, output_desc, inputs, outputs, in_strides, out_strides, stream):
        """Calls the impl function."""
        definition = self._definition
        given = [self._tensor(*one, stream) for one in zip(input_desc, inputs, in_strides)]
        made = [self._tensor(*one, stream) for one in zip(output_desc, outputs, out_strides)]
        source_at = {tensor.data_ptr: tensor for tensor in given}
        for tensor in made:  # in a loaded engine, the address alone tells what is aliased
            source = source_at.get(tensor.data_ptr)
            if source is not None and tensor.data_ptr != 0:
                tensor._aliased_to, source._aliased_to = source, tensor
        for tensor in (*given, *made):
            tensor._freeze()
        options = {"tactic": self._tactic} if definition.expects_tactic else {}
        values = self._values(definition.impl_attributes)
        definition.impl(*given, *values, tuple(made), stream=stream, **options)


class AotPlugin(_QuickPlugin, trt.IPluginV3QuickAOTBuild):
    """A quick plugin whose aot_impl function gives a kernel, which runs without Python."""

    def __init__(self, definition, attributes):
        super().__init__(definition, attributes)
        self._kernels = {}

    def clone(self):
        """Returns a plugin of the same definition and attributes, in the same state."""
        copy = super().clone()
        copy._kernels = dict(self._kernels)
        return copy

    def get_timing_cache_id(self):
        """Returns "": name, attributes and types are a key for times."""
        return ""

    def _key(self, descs):
        return tuple(desc.type for desc in descs), tuple(desc.format for desc in descs), self._tactic

    def get_launch_params(self, inputs, in_out, num_inputs, launch_params, extra_args, expr_builder):
        """Calls the aot_impl function; keeps the kernel for get_kernel."""
        definition = self._definition
        with building(expr_builder):
            self._describe(inputs)
            self._tell_shapes(in_out)
            for desc, known in zip((*self._inputs, *self._outputs), in_out):
                desc._thaw().dtype = known.desc.type
                desc._freeze()
            name, code, launch, arguments = self._checked(definition.aot_impl(
                *self._inputs, *self._values(definition.aot_attributes), tuple(self._outputs), self._tactic
            ))  # fmt: skip
            for parameter in KernelLaunchParams._NAMES:
                setattr(launch_params, parameter, getattr(launch, parameter)())
            extra_args.nbSymExprs = len(arguments)
            for i, argument in enumerate(arguments):
                if not isinstance(argument, SymInt32):
                    raise TypeError(
                        f"aot_impl function of '{definition.plugin_id}': argument {i} of the kernel is a "
                        f"{type(argument).__name__}; a SymInt32 is needed"
                    )
                extra_args[i] = argument()
        self._kernels[self._key([tensor.desc for tensor in in_out])] = (name, code)

    def _checked(self, found):
        where = f"aot_impl function of '{self._definition.plugin_id}'"
        if not isinstance(found, (tuple, list)) or len(found) != len(_AOT_RESULTS):
            count = f" of {len(found)}" if isinstance(found, (tuple, list)) else ""
            raise TypeError(
                f"{where}: it returned {'None' if found is None else f'a {type(found).__name__}{count}'}; a tuple of the "
                "kernel's name, its code (each str or bytes), KernelLaunchParams and SymExprs is needed"
            )
        for value, (what, kinds, needed) in zip(found, _AOT_RESULTS):
            if not isinstance(value, kinds):
                raise TypeError(f"{where}: it returned a {type(value).__name__} as {what}; {needed} is needed")
        return found

    def get_kernel(self, input_desc, output_desc):
        """Returns name and code that the aot_impl function gave for these types, formats and this tactic."""
        key = self._key([*input_desc, *output_desc])
        if key not in self._kernels:
            raise RuntimeError("get_kernel is called for types, formats or a tactic that get_launch_params was not")
        name, code = self._kernels[key]
        return name, code.encode() if isinstance(code, str) else code


class QuickCreator(trt.IPluginCreatorV3Quick):
    """Creates the plugins of a definition."""

    def __init__(self, definition, field_names):
        super().__init__()
        self.name = definition.name
        self.plugin_namespace = definition.namespace
        self.plugin_version = _VERSION
        self.field_names = field_names
        self._definition = definition

    def create_plugin(self, name, namespace, field_collection, phase, quickPluginType=None):
        """Returns a JitPlugin or an AotPlugin, as the request says; ValueError where there is no such one."""
        definition = self._definition
        attributes = {}
        for field in field_collection:
            if field.name not in definition.attributes:
                raise ValueError(
                    f"'{definition.plugin_id}' has no attribute '{field.name}'; it has {list(definition.attributes)}"
                )
            attributes[field.name] = definition.attributes[field.name].from_field(field)
        kind = AotPlugin if self._is_aot(quickPluginType) else JitPlugin
        return kind(definition, attributes)

    def _is_aot(self, request):
        definition, requests = self._definition, trt.QuickPluginCreationRequest
        has_aot, has_jit = definition.aot_impl is not None, definition.impl is not None
        if request == requests.STRICT_AOT and not has_aot:
            raise ValueError(f"'{definition.plugin_id}' has no aot_impl function, and is to run ahead of time")
        if request == requests.STRICT_JIT and not has_jit:
            raise ValueError(f"'{definition.plugin_id}' has no impl function, and is to run in Python")
        if request in (requests.STRICT_AOT, requests.STRICT_JIT):
            return request == requests.STRICT_AOT
        if not has_aot and not has_jit:
            raise ValueError(f"'{definition.plugin_id}' has neither an impl nor an aot_impl function")
        if not (has_aot and has_jit):
            return has_aot
        if request in (requests.PREFER_AOT, requests.PREFER_JIT):
            return request == requests.PREFER_AOT
        raise ValueError(
            f"'{definition.plugin_id}' has an impl and an aot_impl function: add_plugin(..., aot=) or "
            "NetworkDefinitionCreationFlag.PREFER_AOT_PYTHON_PLUGINS or PREFER_JIT_PYTHON_PLUGINS says which is meant"
        )
