"""The command `trnsim`: the C++ command line, with Python to run the scripts."""

import contextlib
import importlib
import os
import runpy
import sys
import traceback
from pathlib import Path

from trnsim import _native, debugging, imports, profile, progress, ranks, session


def main() -> int:
    """Entry point of the command `trnsim`. Returns the exit code."""
    try:
        if sys.argv[1:2] == ["sweep"]:  # processes and engines are Python's business
            return _in_python("fleet.sweep", sys.argv[2:])
        if sys.argv[1:2] in (["lint"], ["port"]):
            return _in_python(f"{sys.argv[1]}.command", sys.argv[2:])
        code = _native.command_line(sys.argv[1:], session.HARDWARE, _run_script)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _in_python(module: str, arguments: list[str]) -> int:
    """A command that is a module of the package, imported when it is asked for."""
    try:
        return importlib.import_module(f"trnsim.{module}").main(arguments)
    except _native.Error as error:
        print(f"trnsim: {error}", file=sys.stderr)
        return _native.exit_code(error)
    except KeyboardInterrupt:
        print("trnsim: interrupted; the same command goes on where it stopped", file=sys.stderr)
        return 130


def _run_script(options: dict) -> int:
    """Run the user's script under the simulator, then report on what it launched, however it ended."""
    world = _world(options)
    chip = world.topology.accelerator if world else options["chip"] or None
    imports.install(nki=options["nki"], chip=chip, timing_only=options["timing_only"],
                    seed=options["seed"], stochastic_rounding=options["stochastic_rounding"] or None,
                    stop_on_nan=options["stop_on_nan"], exact_integers=options["exact_integers"],
                    spill=options["spill"], precise=not options["fp32"], schedule=options["schedule"] or None)
    session.forget_profiles()
    if "PYTHONBREAKPOINT" not in os.environ:
        sys.breakpointhook = debugging.breakpoint_hook
    if options["break_at"]:
        session.break_at = debugging.BreakAt(options["break_at"])
    if options["lint"]:
        from trnsim.lint import command as linting

        linting.warn(Path(options["script"]), options["nki"])
    code = _execute(Path(options["script"]), options["arguments"], world)
    if session.break_at and not session.break_at.reached:
        print(f"trnsim: no launch reached --break-at {options['break_at']}", file=sys.stderr)
    _report(options, world)
    return code


def _world(options: dict):
    """The ranks that --ranks and --on ask for; None for a single one."""
    if not options["ranks"] and not options["on"]:
        return None
    if options["chip"]:
        raise _native.ConfigError("--chip goes without --ranks and --on, which name the chips")
    world = ranks.World(session.HARDWARE, options["on"] or ranks.DEFAULT, options["ranks"] or None)
    if options["break_at"] and world.size > 1:
        raise _native.ConfigError("--break-at goes with a single rank")
    return world


def _run(script: Path) -> None:
    """The script in globals of its own, for each rank its own."""
    code = compile(script.read_bytes(), str(script), "exec")
    exec(code, {"__name__": "__main__", "__file__": str(script), "__builtins__": __builtins__})


def _execute(script: Path, arguments: list[str], world=None) -> int:
    sys.argv = [str(script), *arguments]
    sys.path[0:0] = [str(script.resolve().parent)]
    try:
        with contextlib.nullcontext() if session.break_at else progress.shown():
            if world:
                world.run(lambda: _run(script))
            else:
                runpy.run_path(str(script), run_name="__main__")
        return 0
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else (0 if exit_.code is None else _say(exit_.code))
    except KeyboardInterrupt:
        print("trnsim: interrupted; reporting what was recorded so far", file=sys.stderr)
        return 130
    except _native.Error as error:
        _show_user_frames(error)
        print(f"trnsim: {_location(error)}{error}", file=sys.stderr)
        return _native.exit_code(error)
    except BaseException as error:
        _show_user_frames(error)
        print(f"trnsim: the script raised {type(error).__name__}: {error}", file=sys.stderr)
        return 1


def _say(message) -> int:
    print(message, file=sys.stderr)
    return 1


def _user_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of the script: the simulator's own and the interpreter's runner are of no use to its author."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f for f in frames if debugging.is_users(f.filename)]


def _show_user_frames(error: BaseException) -> None:
    frames = _user_frames(error)
    if frames:
        print("Traceback (most recent call last):", file=sys.stderr)
        print("".join(traceback.format_list(frames)), end="", file=sys.stderr)


def _location(error: BaseException) -> str:
    frames = _user_frames(error)
    return f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""


def _report(options: dict, world=None) -> None:
    launches = world.clock() if world else [launched.native for launched in session.profiles()]
    if not launches:
        print("trnsim: the script launched no kernel", file=sys.stderr)
        return
    sys.stdout.flush()
    if options["trace"]:
        _native.write_trace(launches, options["trace"])
    if options["report"]:
        _native.write_page(launches, options["report"], profile.source_text)
    if options["save"]:
        _native.save_programs(launches, options["save"])
    if options["what_if"]:
        as_json = options["json"] != ""
        print(_native.what_if(launches, session.HARDWARE, options["obstacles"], as_json), end="")
        return
    if options["dump_program"] == "-":
        print(_native.program_text(launches), end="")
    elif options["dump_program"]:
        _native.write_program(launches, options["dump_program"])
    if options["json"] == "-":
        print(_native.to_json(launches))
    elif options["json"]:
        _native.write_json(launches, options["json"])
    if not options["quiet"] and options["json"] != "-":
        print(_native.summary(launches))
        if options["trace"]:
            print(f"Trace written to {options['trace']}; open it at https://ui.perfetto.dev")
        if options["report"]:
            print(f"Report written to {options['report']}; open it in a browser")
