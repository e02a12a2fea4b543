"""Classes of the protocol's messages, made when the package is imported: there is no generated code, and no compiler.

The classes are in a pool of their own, so a client library in the same process may register the same names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from ._fields import CONFIG, SERVICE

PACKAGE = "inference"
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "double": _Field.TYPE_DOUBLE,
    "float": _Field.TYPE_FLOAT,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "uint32": _Field.TYPE_UINT32,
    "uint64": _Field.TYPE_UINT64,
    "bool": _Field.TYPE_BOOL,
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
}


def _lines(text: str) -> Iterator[str]:
    """Joins lines that go on, which begin with blanks."""
    yield from re.sub(r"\n +", " ", text.strip()).split("\n")


class _File:
    """A file of messages in the making."""

    def __init__(self, name: str, text: str, imports: tuple[str, ...] = (), enums: set[str] | None = None):
        self.proto = descriptor_pb2.FileDescriptorProto(name=name, package=PACKAGE, syntax="proto3")
        self.proto.dependency.extend(imports)
        self.enums: set[str] = enums if enums is not None else set()
        self._messages: dict[str, Any] = {}
        lines = [line.partition(":")[::2] for line in _lines(text)]
        for head, rest in lines:  # first, since messages may use enums of later lines
            if head.startswith("enum "):
                self._add_enum(head.removeprefix("enum "), rest)
        for head, rest in lines:
            if not head.startswith("enum "):
                self._add_message(head, rest)

    def _message(self, name: str) -> Any:
        """The message of that name, which may be nested in others; it is made where it is new."""
        if name not in self._messages:
            outer, _, inner = name.rpartition(".")
            into = self._message(outer).nested_type if outer else self.proto.message_type
            self._messages[name] = into.add(name=inner)
        return self._messages[name]

    def _add_enum(self, name: str, values: str) -> None:
        self.enums.add(name)
        outer, _, inner = name.rpartition(".")
        enum = (self._message(outer) if outer else self.proto).enum_type.add(name=inner)
        for value in values.split(","):
            key, number = value.split()
            enum.value.add(name=key, number=int(number))

    def _add_message(self, name: str, fields: str) -> None:
        message = self._message(name)
        for text in re.split(r",\s*(?![^{]*})", fields.strip()) if fields.strip() else ():
            label, kind, number = text.split()
            self._add_field(name, message, label, kind, int(number))

    def _add_field(self, owner: str, message: Any, label: str, kind: str, number: int) -> None:
        label, _, group = label.partition("|")
        field = message.field.add(name=label, number=number, label=_Field.LABEL_OPTIONAL)
        if kind[0] in "*{":
            field.label = _Field.LABEL_REPEATED
        if kind[0] == "{":
            entry = "".join(part.capitalize() for part in label.split("_")) + "Entry"
            held = message.nested_type.add(name=entry)
            held.options.map_entry = True
            for i, (part, of) in enumerate(zip(("key", "value"), kind[1:-1].split(",")), 1):
                self._set_type(held.field.add(name=part, number=i, label=_Field.LABEL_OPTIONAL), of)
            kind = f"{owner}.{entry}"
        self._set_type(field, kind.lstrip("*"))
        if group:
            names = [oneof.name for oneof in message.oneof_decl]
            if group not in names:
                message.oneof_decl.add(name=group)
                names.append(group)
            field.oneof_index = names.index(group)

    def _set_type(self, field: Any, kind: str) -> None:
        if kind in _SCALARS:
            field.type = _SCALARS[kind]
        else:
            field.type = _Field.TYPE_ENUM if kind in self.enums else _Field.TYPE_MESSAGE
            field.type_name = f".{PACKAGE}.{kind}"


def _make() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    config = _File("kiln_model_config.proto", CONFIG)
    service = _File("kiln_inference.proto", SERVICE, ("kiln_model_config.proto",), config.enums)
    classes = {}
    for file in (config, service):
        pool.Add(file.proto)
        for message in file.proto.message_type:
            found = pool.FindMessageTypeByName(f"{PACKAGE}.{message.name}")
            classes[message.name] = message_factory.GetMessageClass(found)
    return classes


MESSAGES = _make()
"""Message classes by their names; those of nested messages are attributes of the outer ones."""
ModelConfig = MESSAGES["ModelConfig"]
