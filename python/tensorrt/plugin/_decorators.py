"""The decorators that make a quick plugin of functions, and `op`, which has the plugins."""

from __future__ import annotations

import types
from collections.abc import Callable

from ._definitions import Definition, parse_id
from ._parent import trt
from ._quick_plugins import QuickCreator

_definitions = {}


class _Namespace(types.ModuleType):
    """Plugins of a namespace, by name; `op` has the namespaces."""

    def __getattr__(self, name):
        raise AttributeError(f"{self.__name__} has no '{name}'; tensorrt.plugin.register defines plugins")


class _Ops(_Namespace):
    """Quick plugins: op.namespace.name(tensors..., attributes...) is what INetworkDefinition.add_plugin takes."""

    def _define(self, definition, operation):
        if definition.namespace not in vars(self):
            setattr(self, definition.namespace, _Namespace(f"{self.__name__}.{definition.namespace}"))
        setattr(getattr(self, definition.namespace), definition.name, operation)

    def _has(self, namespace, name):
        return namespace in vars(self) and name in vars(getattr(self, namespace))


op = _Ops("tensorrt.plugin.op")


class _Operation:
    """A registered plugin: calling it with tensors and attributes gives what add_plugin takes."""

    def __init__(self, definition):
        self._definition = definition
        self._creator = None
        self.__name__ = definition.name
        self.__doc__ = definition.register.__doc__

    def register_creator(self, attributes):
        """Makes the creator known to the process's registry, unless that is done."""
        if self._creator is not None:
            return
        definition = self._definition
        names = [
            one.name_field() if one.has_known_type else trt.PluginField(one.name, b"", one.field_type(attributes[one.name]))
            for one in definition.attributes.values()
        ]
        creator = QuickCreator(definition, names)
        if not trt.get_plugin_registry().register_creator(creator, definition.namespace):
            raise RuntimeError(f"the plugin registry has another creator of '{definition.plugin_id}'")
        self._creator = creator

    def __call__(self, *tensors, **attributes):
        definition = self._definition
        for tensor in tensors:
            if not isinstance(tensor, trt.ITensor):
                raise ValueError(f"inputs of '{definition.plugin_id}' are ITensor, not {type(tensor).__name__}")
        if len(tensors) != len(definition.tensors):
            raise ValueError(
                f"'{definition.plugin_id}' has {len(definition.tensors)} inputs {definition.tensors}, and was given {len(tensors)}"
            )
        if set(attributes) != set(definition.attributes):
            raise ValueError(
                f"'{definition.plugin_id}' has the attributes {list(definition.attributes)}, and was given {list(attributes)}"
            )
        for name, value in attributes.items():
            definition.attributes[name].check(value)
        self.register_creator(attributes)
        fields = trt.PluginFieldCollection(
            [one.to_field(attributes[name]) for name, one in definition.attributes.items()]
        )

        def create(quick_plugin_creation_request=trt.QuickPluginCreationRequest.UNKNOWN):
            plugin = self._creator.create_plugin(
                definition.name, definition.namespace, fields, trt.TensorRTPhase.BUILD, quick_plugin_creation_request
            )
            return list(tensors), [], plugin

        return create

    def __repr__(self):
        return f"<quick plugin '{self._definition.plugin_id}'>"


def _definition_of(plugin_id):
    parse_id(plugin_id)
    if plugin_id not in _definitions:
        raise ValueError(f"'{plugin_id}' is not registered; tensorrt.plugin.register has to come first")
    return _definitions[plugin_id]


def register(plugin_id: str, lazy_register: bool = False) -> Callable:
    """Decorates the function that describes a plugin's outputs; the plugin is then `op.namespace.name`.

    plugin_id: "namespace::name". lazy_register: whether the plugin registry learns of it when it is first used, and
    not at once.

    The function takes a TensorDesc for each input, then attributes (int, float, bool, str, bytes, or one-dimensional
    arrays annotated with numpy.typing.NDArray[dtype]), and returns a TensorDesc, or a tuple of them. All of that has
    annotations. impl or aot_impl, or both, say how the plugin runs.
    """

    def decorate(function):
        namespace, name = parse_id(plugin_id)
        if op._has(namespace, name):
            raise ValueError(f"'{plugin_id}' is registered already")
        definition = Definition(plugin_id, function, lazy_register)
        operation = _Operation(definition)
        if not lazy_register:
            operation.register_creator({})
        _definitions[plugin_id] = definition
        op._define(definition, operation)
        return function

    return decorate


def impl(plugin_id: str) -> Callable:
    """Decorates the function that runs a registered plugin in Python.

    It takes a Tensor for each input, those of the attributes that it needs, which plans keep, `outputs`, a tuple of
    Tensor, `stream`, an int, and, if the plugin has tactics, `tactic`, an int.
    """

    def decorate(function):
        _definition_of(plugin_id).set_impl(function)
        return function

    return decorate


def aot_impl(plugin_id: str) -> Callable:
    """Decorates the function that gives a registered plugin's kernel, which plans keep and run without Python.

    It takes a TensorDesc for each input, those of the attributes that it needs, `outputs`, a tuple of TensorDesc, and
    `tactic`, an int. It returns the kernel's name, its code (PTX or CUBIN), KernelLaunchParams, and SymIntExprs: the
    kernel's scalars, which stand between the addresses of its inputs and those of its outputs. Its return annotation is
    tuple[str | bytes, str | bytes, KernelLaunchParams, SymIntExprs].
    """

    def decorate(function):
        _definition_of(plugin_id).set_aot_impl(function)
        return function

    return decorate


def autotune(plugin_id: str) -> Callable:
    """Decorates the function that names types, formats and tactics of a registered plugin.

    It takes a TensorDesc for each input, those of the attributes that it needs, and `outputs`, a tuple of TensorDesc,
    all with shapes. It returns a list of AutoTuneCombination; a build times them and keeps the fastest. Without such a
    function, tensors have the types of the network, and are linear.
    """

    def decorate(function):
        _definition_of(plugin_id).set_autotune(function)
        return function

    return decorate
