"""What a rule of `trnsim lint` is: what the compiler refuses, in which releases, why, and what to write instead."""

from typing import NamedTuple

from trnsim.releases.table import RELEASES, Span

LEVELS = ("note", "warning", "error")

# Where the rules are stated. The front end is that of NKI 0.2, published as open source.
GUIDE = "NKI language guide"
FRONT_END = "leanprover/KLR 7ccd18c, front end of NKI 0.2"
TO_0_2, TO_0_3, TO_0_4, TO_0_5, TO_0_6 = (
    f"NKI migration guide, {step}" for step in ("0.1 to 0.2", "0.2 to 0.3", "0.3 to 0.4", "0.4 to 0.5", "0.5 to 0.6")
)
BLOCKS = "NKI migration guide, block dimensions"
LOOPS = "NKI dynamic loops"
ISSUES = "NKI release notes, known issues"
ISA = "nki.isa reference"
NAMES = "docs/names.md"


class Rule(NamedTuple):
    """One rule. It holds from release `first` to `last` (to the newest where that is empty), both included."""

    id: str
    level: str
    first: str
    last: str
    what: str
    fix: str
    source: str

    def holds(self, release: str) -> bool:
        """Whether the rule is one of `release`."""
        return Span(self.first, self.last).holds(release)

    @property
    def releases(self) -> str:
        """The releases in which it holds, in words."""
        if self.first == self.last:
            return self.first
        newest = RELEASES[-1]
        return f"{self.first} on" if self.last in ("", newest) else f"{self.first} to {self.last}"

    @property
    def always(self) -> bool:
        """Whether it holds in every release of `nki`, the older dialect aside."""
        return self.first in ("beta1", "0.2") and self.last in ("", RELEASES[-1])


class Finding(NamedTuple):
    """A rule broken at one place of a file."""

    file: str
    line: int
    column: int
    level: str
    rule: str
    message: str
    fix: str

    def text(self) -> str:
        """The line that a user reads."""
        return f"{self.file}:{self.line}:{self.column}: {self.level}: {self.message}; {self.fix} [{self.rule}]"
