"""What the decorated functions of a quick plugin must look like, and what of them is kept."""

import inspect
import types
import typing

from ._attributes import Attribute, without_aliases
from ._autotune import AutoTuneCombination
from ._expressions import KernelLaunchParams, SymExprs
from ._tensors import Tensor, TensorDesc

_RESERVED_NAMESPACES = ("", "trt", "tensorrt", "std")
_RESERVED_ATTRIBUTES = ("outputs", "stream", "tactic")
_NONE = inspect.Parameter.empty


def parse_id(plugin_id):
    """Returns namespace and name of "namespace::name"; TypeError or ValueError where it is not that."""
    if not isinstance(plugin_id, str):
        raise TypeError(f"a plugin's id is a str, 'namespace::name', not {plugin_id!r}")
    parts = plugin_id.split("::")
    if len(parts) != 2 or not parts[1]:
        raise ValueError(f"'{plugin_id}' is no plugin's id; that is 'namespace::name'")
    for part in parts:
        if "." in part:
            raise ValueError(f"'{plugin_id}': neither namespace nor name has a '.'")
    if parts[0] in _RESERVED_NAMESPACES:
        raise ValueError(f"'{plugin_id}': the namespace '{parts[0]}' is reserved")
    return parts


def _signature(function):
    try:
        return inspect.signature(function, eval_str=True)
    except NameError:  # an annotation in quotes that is known in another place only
        return inspect.signature(function)


def _is_class(annotation, base):
    return inspect.isclass(annotation) and issubclass(annotation, base)


def _all_are(annotation, base):
    """Whether it is tuple[base, ...] or tuple[base, base] of any length."""
    if typing.get_origin(annotation) is not tuple:
        return annotation is tuple
    return all(one is Ellipsis or _is_class(one, base) for one in typing.get_args(annotation))


class Definition:
    """A quick plugin: the function that describes it, and those that implement it."""

    def __init__(self, plugin_id, function, is_lazy):
        self.plugin_id = plugin_id
        self.namespace, self.name = parse_id(plugin_id)
        self.register = function
        self.tensors = []
        self.attributes = {}
        self._read_parameters(function, is_lazy)
        self.num_outputs = self._read_outputs(function)
        self.impl = None
        self.impl_attributes = ()
        self.expects_tactic = False
        self.aot_impl = None
        self.aot_attributes = ()
        self.autotune = None
        self.autotune_attributes = ()

    def _read_parameters(self, function, is_lazy):
        where = f"register function of '{self.plugin_id}'"
        for name, parameter in _signature(function).parameters.items():
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise ValueError(f"{where}: '{name}' can neither be given by position nor by name")
            if parameter.annotation is _NONE:
                raise ValueError(f"{where}: '{name}' has no annotation: TensorDesc, or the type of an attribute")
            if parameter.default is not _NONE:
                raise ValueError(f"{where}: '{name}' has a default value, which is not possible yet")
            if _is_class(parameter.annotation, TensorDesc):
                if self.attributes:
                    raise ValueError(f"{where}: tensor '{name}' stands behind an attribute; tensors come first")
                self.tensors.append(name)
                continue
            if not self.tensors:
                raise ValueError(f"{where}: '{name}' is no TensorDesc; tensors come first, and one is the least")
            if name in _RESERVED_ATTRIBUTES:
                raise ValueError(f"{where}: an attribute cannot be called '{name}'")
            attribute = Attribute(name, parameter.annotation)
            if not attribute.has_known_type and not is_lazy:
                raise ValueError(
                    f"{where}: '{name}' is an array of any type, which only a plugin with lazy_register can have; "
                    "numpy.typing.NDArray[dtype] names one"
                )
            self.attributes[name] = attribute

    def _read_outputs(self, function):
        returned = _signature(function).return_annotation
        if _is_class(returned, TensorDesc):
            return 1
        arguments = typing.get_args(returned)
        if not arguments or not _all_are(returned, TensorDesc) or Ellipsis in arguments:
            raise ValueError(
                f"register function of '{self.plugin_id}': its return annotation is {returned}; "
                "that is TensorDesc, or a tuple of one for each output"
            )
        return len(arguments)

    def _check_parameter(self, where, parameter, tensor):
        """Annotations may be left out; the others must be those of the register function."""
        name, annotation = parameter.name, parameter.annotation
        if name in self.attributes:
            expected = self.attributes[name].annotation
            if without_aliases(annotation) != expected:
                raise ValueError(f"{where}: attribute '{name}' is {annotation}, and {expected} when it was registered")
        elif name == "outputs":
            if not _all_are(annotation, tensor):
                raise ValueError(f"{where}: 'outputs' is {annotation}, not a tuple of {tensor.__name__}")
        elif name in ("stream", "tactic"):
            if annotation is not int:
                raise ValueError(f"{where}: '{name}' is {annotation}, not int")
        elif not _is_class(annotation, tensor):
            raise ValueError(f"{where}: '{name}' is {annotation}, not {tensor.__name__}")

    def _read(self, kind, function, tensor, last, optional=()):
        """Checks an implementing function's parameters: the tensors, some attributes, `outputs`, and `last`.

        Returns the attributes that it takes, and whether it has the optional parameter.
        """
        where = f"{kind} function of '{self.plugin_id}'"
        parameters = _signature(function).parameters
        taken = tuple(name for name in self.attributes if name in parameters)
        given = tuple(name for name in optional if name in parameters)
        expected = (*self.tensors, *taken, "outputs", *last, *given)
        if tuple(parameters) != expected:
            raise ValueError(
                f"{where}: its parameters are ({', '.join(parameters)}); ({', '.join(expected)}) is expected, "
                f"with any of the attributes {list(self.attributes)}"
            )
        for parameter in parameters.values():
            if parameter.annotation is not _NONE:
                self._check_parameter(where, parameter, tensor)
        return taken, bool(given)

    def set_impl(self, function):
        """Takes what runs the plugin in Python."""
        taken, has_tactic = self._read("impl", function, Tensor, ("stream",), ("tactic",))
        if _signature(function).return_annotation not in (_NONE, None, type(None)):
            raise ValueError(f"impl function of '{self.plugin_id}': it returns nothing; its annotation may be None")
        self.impl, self.impl_attributes, self.expects_tactic = function, taken, has_tactic

    def set_autotune(self, function):
        """Takes what names types, formats and tactics."""
        taken, _ = self._read("autotune", function, TensorDesc, ())
        returned = _signature(function).return_annotation
        elements = typing.get_args(returned) if typing.get_origin(returned) is list else (returned,)
        if returned is not _NONE and not all(_is_class(one, AutoTuneCombination) for one in elements):
            raise ValueError(
                f"autotune function of '{self.plugin_id}': it returns {returned}, not a list of AutoTuneCombination"
            )
        self.autotune, self.autotune_attributes = function, taken

    def set_aot_impl(self, function):
        """Takes what gives the kernel that runs the plugin without Python."""
        taken, _ = self._read("aot_impl", function, TensorDesc, ("tactic",))
        where = f"aot_impl function of '{self.plugin_id}'"
        returned = _signature(function).return_annotation
        parts = typing.get_args(returned)
        if typing.get_origin(returned) is not tuple or len(parts) != 4:
            raise ValueError(
                f"{where}: its return annotation is {returned}; "
                "that is a tuple of the kernel's name, its code (each str or bytes), KernelLaunchParams and SymExprs"
            )
        for part in parts[:2]:
            is_union = typing.get_origin(part) in (typing.Union, types.UnionType)
            if not all(one in (str, bytes) for one in (typing.get_args(part) if is_union else (part,))):
                raise ValueError(f"{where}: name and code of the kernel are str or bytes, not {part}")
        if not _is_class(parts[2], KernelLaunchParams):
            raise ValueError(f"{where}: the third thing that it returns is KernelLaunchParams, not {parts[2]}")
        if not _is_class(parts[3], SymExprs):
            raise ValueError(f"{where}: the fourth thing that it returns is SymExprs, not {parts[3]}")
        self.aot_impl, self.aot_attributes = function, taken

    def describe(self, inputs, attributes):
        """Returns the TensorDescs of the outputs, given those of the inputs."""
        found = self.register(*inputs, **attributes)
        outputs = found if isinstance(found, tuple) else (found,)
        if len(outputs) != self.num_outputs or not all(isinstance(one, TensorDesc) for one in outputs):
            raise ValueError(
                f"register function of '{self.plugin_id}': it returned {found!r}; its annotation says that "
                f"{self.num_outputs} TensorDesc are returned"
            )
        return outputs
