"""Enumerations of nki.isa as groups of native tokens: `reduce_cmd.reset`, iterable, with names."""

from trnsim import _native


class ChoiceGroup:
    def __init__(self, name: str, members: dict):
        self._name = name
        self._members = members

    def __getattr__(self, name):
        try:
            return self._members[name]
        except KeyError:
            raise AttributeError(
                f"{self._name} has no member '{name}'; it has {', '.join(self._members)}"
            ) from None

    def __iter__(self):
        return iter(self._members.values())

    def __repr__(self):
        return f"<{self._name}: {', '.join(self._members)}>"


def choice_group(name: str) -> ChoiceGroup:
    return ChoiceGroup(name, getattr(_native.choices, name))
