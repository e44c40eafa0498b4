"""nki.jit and what a decorated kernel is."""

import functools
import inspect

from trnsim import _native, logical_core, session
from trnsim.nki import compiler, launch_rules
from trnsim.refusal import refused


class Kernel:
    """A function that runs as a kernel when called; `kernel[grid]` sets its SPMD grid."""

    def __init__(self, function, grid=(), target=None, schedule=()):
        self.function = function
        self.grid = grid
        self.target = target  # the chip that the decorator names
        self.schedule = schedule  # pairs of names: an instruction and one that comes before it
        functools.update_wrapper(self, function)

    def __getitem__(self, grid):
        return Kernel(self.function, grid if isinstance(grid, tuple) else (grid,), self.target,
                      self.schedule)

    def __call__(self, *args, **kwargs):
        if session.inside_kernel():
            return self.function(*args, **kwargs)  # a kernel called by a kernel is a plain function of it
        try:
            inspect.signature(self.function).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.function.__name__}() {error}") from None
        launch_rules.check_call(self.function, args, kwargs)
        # As with the vendor's simulator, arrays whose HBM tensors the kernel wrote to are updated in place.
        with launch_rules.names_of_compiler():
            return session.launch_kernel(
                self.function,
                args,
                kwargs,
                self.grid,
                wrap=_same,
                unwrap=_tensor,
                write_back=True,
                **self._placement(),
            )

    def _placement(self):
        """kernel[2] is a launch on the two cores of a logical one; programs of other grids take turns on one."""
        degree = int(self.grid[0]) if len(self.grid) == 1 else 1
        chip = session.settings.chip_for(self.target)
        cores = logical_core.cores_of_launch(self.__name__, degree, session.load_chip(chip))
        core_of = (lambda program_id: program_id[0]) if cores > 1 else (lambda _: 0)
        return {"chip": chip, "cores": cores, "core_of": core_of, "schedule": self.schedule}

    def with_schedule(self, edges):
        """This kernel with orders for the scheduler: pairs (name, name or names of what comes before it).

        Of instructions that share a name, each waits for the nearest one before it. A call of the kernel raises
        ProgramError for a name that no instruction has, or none before it.
        """
        pairs = []
        for edge in edges:
            if not isinstance(edge, (tuple, list)) or len(edge) != 2:
                error = _native.ProgramError(
                    f"with_schedule takes pairs (instruction, instruction or list before it), got {edge!r}"
                )
                error.rule = "launch.schedule"
                raise error
            before = [edge[1]] if isinstance(edge[1], str) else edge[1]
            pairs += [(edge[0], name) for name in before]
        return Kernel(self.function, self.grid, self.target, tuple(pairs))


def _same(tensor):
    return tensor


def _tensor(value):
    if not isinstance(value, _native.Tensor):
        return None
    launch_rules.check_result(value)
    return value


def jit(function=None, grid=(), **options):
    """Decorate a kernel. platform_target ("trn1", "trn2", "trn3"), where the release has it, is the chip unless
    the user named one; `mode` and other options of the vendor's compiler change nothing."""
    target = launch_rules.target_of(options)
    compiler.check_options(options)
    if function is None:
        return lambda f: jit(f, grid, **options)
    if isinstance(function, Kernel):
        return function
    if not callable(function):
        raise TypeError(f"nki.jit decorates a function, got {type(function).__name__}")
    return Kernel(function, grid if isinstance(grid, tuple) else (grid,), target)


def simulate(kernel, *args, **kwargs):
    """nki.simulate(kernel)(*args), and the older nki.simulate(kernel, *args)."""
    kernel = jit(kernel)
    return kernel(*args, **kwargs) if args or kwargs else kernel


def _not_ported(name: str):
    return refused(
        f"nki.{name}",
        "it was not ported to nki 0.2 and later: call the kernel and ask trnsim.last_profile() for its times, or use "
        "neuronxcc.nki",
    )


baremetal = _not_ported("baremetal")
benchmark = _not_ported("benchmark")
profile = _not_ported("profile")
