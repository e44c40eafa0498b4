"""pytest plugin: every kernel of every test runs in the simulator. Turn it on with `pytest -p trnsim`.

A failing test that launched kernels shows their summary. The fixture `trnsim_profile` gives the test's own profiles.
"""

import pytest

from trnsim import _native, imports, session

_before = pytest.StashKey[int]()


def pytest_addoption(parser):
    """--trnsim-chip, --trnsim-nki and --trnsim-timing-only, as for `trnsim run`."""
    group = parser.getgroup("trnsim", "trnsim: NKI kernels on a simulated NeuronCore")
    group.addoption("--trnsim-chip", default="trn2", metavar="CHIP", help="a name (trn1, trn2, ...) or a .toml file")
    group.addoption("--trnsim-nki", default="auto", metavar="RELEASE", help="the NKI release to offer")
    group.addoption("--trnsim-timing-only", action="store_true", help="leave the arithmetic out: no values")


def _install(config):
    imports.install(nki=config.getoption("--trnsim-nki"), chip=config.getoption("--trnsim-chip"),
                    timing_only=config.getoption("--trnsim-timing-only"))


def pytest_configure(config):
    """Install before test files are imported: they import nki at their top."""
    try:
        _install(config)
    except _native.Error as error:
        raise pytest.UsageError(f"trnsim: {error}") from None


def pytest_runtest_setup(item):
    """Each test starts with the options of the command line, whatever the one before installed."""
    _install(item.config)
    item.stash[_before] = len(session.profiles())


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Add the kernels' summary to the report of a test that failed."""
    outcome = yield
    report = outcome.get_result()
    if report.when != "call" or not report.failed:
        return
    profiles = _of_test(item)
    if profiles:
        report.sections.append(("trnsim kernel summary", _native.summary([p.native for p in profiles])))


def _of_test(item):
    return session.profiles()[item.stash.get(_before, 0):]


class TestProfiles:
    """The profiles of one test: called, the latest; `all`, every one, oldest first."""

    __test__ = False

    def __init__(self, item):
        self._item = item

    @property
    def all(self):
        return _of_test(self._item)

    def __call__(self):
        """The latest. Raises ProgramError when the test has launched no kernel yet."""
        if not self.all:
            raise _native.ProgramError("this test has launched no kernel yet; call one first, then ask for its profile")
        return self.all[-1]


@pytest.fixture
def trnsim_profile(request):
    """trnsim_profile() is the profile of the kernel that this test launched last, trnsim_profile.all all of them."""
    return TestProfiles(request.node)
