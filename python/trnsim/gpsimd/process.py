"""A processor that runs an operator's code: a process of its own, so that nothing in that code harms the simulator."""

import fcntl
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from trnsim import _native

_HERE = Path(__file__).resolve().parent
TENSOR, SCALAR, DOUBLE, INTEGER = range(4)  # kinds of parameters, as in registration.h


class Reader:
    """Numbers and strings of a reply, in order."""

    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def raw(self, size: int) -> memoryview:
        part = memoryview(self._data)[self._at : self._at + size]
        self._at += size
        return part

    def number(self, code: str):
        return struct.unpack("<" + code, self.raw(struct.calcsize("<" + code)))[0]

    def string(self) -> str:
        return bytes(self.raw(self.number("Q"))).decode(errors="replace")


class Fault(NamedTuple):
    """What an operator's code did wrong, and the places of its call stack, innermost first."""

    rule: str
    message: str
    places: tuple[int, ...]


class Processor:
    """library: of operators. settings: the values of runtime.h's Settings, in their order."""

    def __init__(self, library: Path, settings: tuple[int, ...]):
        self._library, self._settings = library, settings
        self._process = None

    def exchange(self, request: bytes) -> tuple[Reader | None, Fault | None, bytes]:
        """The reply or the fault, and what the code printed meanwhile."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        try:
            reply = self._send(request)
        except BaseException:
            self.stop()
            raise
        printed = self._printed()
        if reply is None:
            code = self._process.wait()
            self.stop()
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            return None, Fault("gpsimd.exit", f"the operator's process ended {how}", ()), printed
        reader = Reader(reply)
        if not reader.number("B"):
            return reader, None, printed
        rule, message = reader.string(), reader.string()
        places = tuple(reader.number("Q") for _ in range(reader.number("Q")))
        self.stop()
        return None, Fault(rule, message, places), printed

    def stop(self) -> None:
        """End the process; the next exchange starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for file in (self._requests, self._replies, self._output):
                file.close()
            self._process = None

    __del__ = stop

    def _start(self):
        self.stop()
        request_end, requests = os.pipe()
        replies, reply_end = os.pipe()
        self._output = tempfile.TemporaryFile()
        # Appended to by whoever writes, so that it can be cut between two calls.
        fcntl.fcntl(self._output, fcntl.F_SETFL, os.O_APPEND)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_HERE / "child.py"), str(self._library), str(request_end), str(reply_end),
             *map(str, self._settings)],
            pass_fds=(request_end, reply_end), stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._output,
        )
        os.close(request_end)
        os.close(reply_end)
        self._requests, self._replies = os.fdopen(requests, "wb"), os.fdopen(replies, "rb")

    def _send(self, request):
        try:
            self._requests.write(struct.pack("<Q", len(request)))
            self._requests.write(request)
            self._requests.flush()
        except BrokenPipeError:
            pass  # the reply, or its absence, says why
        head = self._replies.read(8)
        if len(head) < 8:
            return None
        (size,) = struct.unpack("<Q", head)
        body = self._replies.read(size)
        return body if len(body) == size else None

    def _printed(self):
        self._output.seek(0)
        text = self._output.read()
        self._output.truncate(0)
        return text


def line_of(library: Path, places: tuple[int, ...]) -> tuple[str, int] | None:
    """File and line of the innermost place that is in the user's own code; None where there is none."""
    if not places:
        return None
    command = ["addr2line", "-e", str(library), "-i", *(hex(place) for place in places)]
    try:
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return None
    for text in lines:
        match = re.match(r"(.+):(\d+)", text)
        if match and _is_users(match[1]):
            return match[1], int(match[2])
    return None


def _is_users(file: str) -> bool:
    return not file.startswith(("/usr/", "??")) and _HERE not in Path(file).resolve().parents


def fault_error(operator: str, library: Path, fault: Fault, printed: bytes) -> Exception:
    """The ProgramError that tells the user of a fault, at the line of the C++ code where it happened."""
    where = line_of(library, fault.places)
    said = printed.decode(errors="replace").strip()
    text = f"{where[0]}:{where[1]}: " if where else ""
    text += f"{operator}: {fault.message}"
    if fault.rule in ("gpsimd.abort", "gpsimd.exit") and said:
        text += f"\n{said}"
    error = _native.ProgramError(text)
    error.rule = fault.rule
    return error
