"""``typing.NamedTuple`` without typing, whose import costs a quarter of Python's own start."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:

    class _Record(type):
        """Turns a class with annotations into a named tuple with the same methods."""

        def __new__(meta, name, bases, namespace):
            if not bases:
                return super().__new__(meta, name, bases, namespace)
            fields = namespace.pop("__annotations__", {})
            defaults = [namespace.pop(field) for field in fields if field in namespace]
            return type(name, (namedtuple(name, fields, defaults=defaults),), {**namespace, "__slots__": ()})

    class NamedTuple(metaclass=_Record):
        """The base of records; a field with a default comes after those without."""


__all__ = ["NamedTuple"]
