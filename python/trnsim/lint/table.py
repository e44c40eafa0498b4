"""All rules of `trnsim lint`, and the groups that look for what breaks them."""

from trnsim.lint import calls, classes, expressions, language, loops, old, releases, statements, tensors
from trnsim.lint.rule import Rule

SYNTAX = Rule("python.syntax", "error", "beta1", "", "Python itself cannot read the file", "mend the line", "Python")

GROUPS = (statements, expressions, classes, calls, loops, releases, tensors, language, old)
RULES = {rule.id: rule for rule in (SYNTAX, *(rule for group in GROUPS for rule in group.RULES))}


def page() -> str:
    """The rules as a table of Markdown, which docs/lint.md holds."""
    rows = ["| rule | level | releases | what | instead | source |", "| --- | --- | --- | --- | --- | --- |"]
    for rule in sorted(RULES.values()):
        what = (rule.what, rule.fix, rule.source)
        cells = (f"`{rule.id}`", rule.level, rule.releases, *(text.replace("*", "\\*") for text in what))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"
