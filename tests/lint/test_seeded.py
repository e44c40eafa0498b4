"""Every rule catches a mistake at the line that the sample marks, says what to do, and can be switched off there."""

import sys

import pytest

from lint_seeded import SEEDED
from trnsim.lint import check, table
from trnsim.releases.table import RELEASES

MARK = "# <- here"
CASES = [pytest.param(*case, id=f"{case[0]}-{n}") for n, case in enumerate(SEEDED)]


def found(path, rule, release):
    return [f for f in check.check(path, release or None) if f.rule == rule]


def marked_line(text):
    lines = [n for n, line in enumerate(text.splitlines(), 1) if MARK in line]
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize("rule, release, text", CASES)
def test_mistake_is_found_at_its_line(write, rule, release, text):
    findings = found(write(text), rule, release)
    assert [f.line for f in findings] == [marked_line(text)]
    assert findings[0].fix == table.RULES[rule].fix and findings[0].level == table.RULES[rule].level


@pytest.mark.parametrize("rule, release, text", CASES)
def test_comment_switches_the_rule_off(write, rule, release, text):
    assert not found(write(text.replace(MARK, f"# trnsim: ignore[{rule}]")), rule, release)
    assert found(write(text.replace(MARK, "# trnsim: ignore[other.rule]"), "other.py"), rule, release)


def test_every_rule_has_a_sample():
    tried = {rule for rule, _, _ in SEEDED} | {"python.syntax"}
    if sys.version_info < (3, 12):
        tried.add("python.type_alias")  # Python before 3.12 cannot read one
    assert tried == set(table.RULES)


def test_there_are_sixty_samples_and_more():
    assert len(SEEDED) >= 60


# Their spans are those of each name, in trnsim.releases.table.
OF_EACH_NAME = ("release.name", "release.parameter", "release.deprecated", "release.import")


@pytest.mark.parametrize("rule, release, text", CASES)
def test_rule_holds_in_its_releases_and_no_other(write, rule, release, text):
    if rule in OF_EACH_NAME or "neuronxcc" in text:
        return
    path = write(text)
    assert [r for r in RELEASES[1:] if found(path, rule, r)] == [r for r in RELEASES[1:] if table.RULES[rule].holds(r)]
