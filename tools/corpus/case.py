"""What a recipe is made of.

A recipe is a module of corpus.recipes that says how to call what is in one repository, and holds none of its code:

    REPOSITORIES = ("some-kernels",)    names of the checkouts that it knows
    NKI = "0.3"                         the release that `import nki` means there (Beta 1 shows in the import itself)
    def cases(checkout): ...            yields a Case for each thing to run; looks at files, runs nothing
    FINDINGS = {"title": Finding(...)}  what was found out about what does not run or differs

and the functions that its cases name. These are called as function(checkout / file, *arguments) in a process of their
own, with the simulator installed, the file's folder in sys.path, an empty working folder, and numpy's seed 0. They
call the kernel and compare with `runners.compare`, or raise AssertionError; a text that they return is a remark.
"""

from dataclasses import dataclass, field

INTENDED = "intended"  # the kernel is there to be refused
ILLEGAL = "illegal"  # no chip takes it: refusing is the right verdict
KERNEL = "kernel"  # the kernel's or its test's own fault
SIMULATOR = "simulator"  # ours: missing or wrong
SURROUNDINGS = "surroundings"  # wants what is not here: weights, a private package, a device


@dataclass(frozen=True)
class Case:
    """One thing to run in a process of its own.

    run: "script" (python FILE ARGUMENTS), "tests" (pytest FILE ARGUMENTS), or a function of the recipe.
    name: tells apart the cases of one file. says: a script must print this, and must not print `denies`.
    options: of trnsim.install. dialect: when the file's imports do not tell it. seconds: the time limit.
    paths: more folders of the checkout for sys.path. commit: run on the files as of this commit of the checkout.
    environment: variables that the case sets.
    note: a remark for the page, such as what was scaled down.
    """

    file: str
    run: str
    arguments: tuple = ()
    name: str = ""
    says: str = ""
    denies: str = ""
    options: dict = field(default_factory=dict)
    dialect: str = ""
    seconds: float = 900
    paths: tuple = ()
    commit: str = ""
    environment: dict = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A case whose function measures something and returns it as markdown for the page; not counted."""

    title: str
    case: Case

    @property
    def file(self):
        return self.case.file


@dataclass(frozen=True)
class Finding:
    """Why something does not run or differs: `pattern` is searched in "FILE NAME TEST: PROBLEM"."""

    pattern: str
    fault: str  # INTENDED, ILLEGAL, KERNEL, SIMULATOR or SURROUNDINGS
    text: str  # for the page
