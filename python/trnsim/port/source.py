"""A Python file with the edits that are proposed for it. Edits keep every character that they do not replace."""

import ast
import difflib
import io
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finding:
    """What changed about one place, and what to write instead. `mechanical`: the patch does it."""

    line: int
    column: int
    what: str
    instead: str
    mechanical: bool = False


def _lines(text: str) -> list[str]:
    """Lines with their ends as Python counts them: str.splitlines knows more ends than that."""
    return io.StringIO(text, newline="").readlines()


class Source:
    """The text of one file, its tree, what was found and the edits; places are those of `ast` nodes."""

    def __init__(self, path: Path, text: str, tree: ast.Module):
        self.path, self.text, self.tree = path, text, tree
        self.findings: list[Finding] = []
        self._edits: list[tuple[int, int, str]] = []
        lines = _lines(text)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))
        self._lines = lines

    def advise(self, node: ast.AST, what: str, instead: str) -> None:
        self.findings.append(Finding(node.lineno, node.col_offset + 1, what, instead))

    def replace(self, node: ast.AST, new: str, what: str, shown: str | None = None) -> None:
        """Propose `new` in the place of a node, made from text() of its parts."""
        self._edits.append((*self._span(node), new))
        self.findings.append(Finding(node.lineno, node.col_offset + 1, what, f"write {shown or new}", True))

    def remove(self, statement: ast.stmt, what: str) -> None:
        """Propose to leave a statement out, with its lines where it has them to itself."""
        begin, end = self._starts[statement.lineno - 1], self._starts[statement.end_lineno]
        start, stop = self._span(statement)
        rest = (self.text[begin:start] + self.text[stop:end]).split("#")[0]
        self._edits.append((begin, end, "") if not rest.strip() else (start, stop, "pass"))
        self.findings.append(Finding(statement.lineno, statement.col_offset + 1, what, "leave it out", True))

    def insert_after(self, statement: ast.stmt, new: str, what: str) -> None:
        _, end = self._span(statement)
        self._edits.append((end, end, new))
        self.findings.append(Finding(statement.lineno, statement.col_offset + 1, what, f"add {new.strip()}", True))

    def text_of(self, node: ast.AST) -> str:
        """A node's text with what was proposed within it."""
        return self._edited(*self._span(node))

    def is_seen_to(self, node: ast.AST) -> bool:
        """Whether a node lies in what an edit replaces, or on a line with advice."""
        begin, end = self._span(node)
        return any(start <= begin and end <= stop for start, stop, _ in self._edits) or any(
            finding.line == node.lineno for finding in self.findings)

    def indent_of(self, statement: ast.stmt) -> str:
        return self.text[self._starts[statement.lineno - 1]:self._span(statement)[0]]

    def rewritten(self) -> str:
        return self._edited(0, len(self.text))

    def diff(self) -> str:
        """A unified diff that `patch` takes; empty where nothing is mechanical."""
        name = self.path.as_posix().lstrip("/")
        lines = difflib.unified_diff(self._lines, _lines(self.rewritten()), f"a/{name}", f"b/{name}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return self._starts[line - 1] + len(text.encode()[:column].decode())  # ast counts bytes

    def _edited(self, begin: int, end: int) -> str:
        """The text between two offsets; an edit within a wider one has gone into that one's text."""
        pieces, at = [], begin
        # The widest first, and of the same place the last.
        for start, stop, new in sorted(reversed(self._edits), key=lambda edit: (edit[0], -edit[1])):
            if start < at or stop > end:
                continue
            pieces += [self.text[at:start], new]
            at = stop
        return "".join([*pieces, self.text[at:end]])
