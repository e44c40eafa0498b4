"""NKIObject: the data classes that kernels define, with or without @dataclass."""

import dataclasses
import inspect


class NKIObject:
    """Base of the classes that kernels define.

    Every attribute of the class that is no method is a field, annotated or not, and the class is like a data class even
    without @dataclass: `__init__` takes the fields in order or by name, what is not given is the class's value or
    None, and `__post_init__` follows. Source: NKI language guide, "Class Support".
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        annotations = cls.__dict__.get("__annotations__", {})
        # @dataclass, which runs after this, sees annotated attributes only.
        plain = {name: type(value) for name, value in cls.__dict__.items()
                 if name not in annotations and _is_field(name, value)}
        cls.__annotations__ = {**annotations, **plain}
        for name, annotation in annotations.items():
            if name not in cls.__dict__ and annotation is not dataclasses.KW_ONLY:
                setattr(cls, name, None)  # what is not given is None, with @dataclass too

    def __init__(self, *args, **kwargs):
        names = _fields(type(self))
        if len(args) > len(names):
            raise TypeError(f"{type(self).__name__}() takes at most {len(names)} values, got {len(args)}")
        given = dict(zip(names, args))
        for name in kwargs:
            if name in given:
                raise TypeError(f"{type(self).__name__}() got two values for '{name}'")
        given.update(kwargs)
        for name in names:
            if name not in given:
                object.__setattr__(self, name, _default(getattr(type(self), name, None)))
        for name, value in given.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    def __post_init__(self):
        """Called after `__init__`; does nothing unless a class defines it."""


def _is_field(name, value):
    if name.startswith("__") or value.__hash__ is None:  # a mutable default stays the class's own
        return False
    return not (callable(value) or inspect.isdatadescriptor(value) or isinstance(value, (classmethod, staticmethod)))


def _fields(cls):
    """Names of the fields, those of the bases first."""
    return list(dict.fromkeys(n for base in reversed(cls.__mro__) for n in base.__dict__.get("__annotations__", ())))


def _default(value):
    if isinstance(value, dataclasses.Field):
        if value.default_factory is not dataclasses.MISSING:
            return value.default_factory()
        return None if value.default is dataclasses.MISSING else value.default
    return value
