"""Runs `trnsim lint` over public kernels that their authors run on hardware, each judged by the release of its code.

    validation/lint_public.py --checkouts FOLDER

FOLDER holds checkouts of the public repositories side by side. Prints every finding of level error; those that
docs/lint.md explains are marked. Exit code 1 where there is another.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

# What lies in a checkout, by the release that it is written for; "auto" where files say it themselves.
PUBLIC = {
    "0.2": ("nki-moe", "nki-samples/src", "autocomp/sols", "autocomp/harnesses"),
    "0.3": ("nki-library/src", "trnfft", "trnsolver", "nxdi/src", "nkipy/tests"),
    "0.4": ("nkipy/examples",),
    "auto": ("kda", "AccelOpt/NKIBench", "asst4-trainium", "asst4-trainium2", "asst4-Ericcsr", "asst4-EtashGuha",
             "asst4-akjadhav", "asst4-argy", "asst4-chengli", "asst4-robertpare17", "asst4-waahm7",
             "asst4-xaviergonzalez", "cs521", "nki-helpers", "quantum", "optimum-neuron/optimum", "aws-neuron-sdk/nki"),
}
# (end of the file's path, rule): why it is no fault of the rule stands in docs/lint.md.
EXPLAINED = {
    ("core/mlp/mlp.py", "python.syntax"), ("moe_cte_utils.py", "release.parameter"),
    ("part1/kernels.py", "tensor.partitions"), ("tests/unit/test_nki.py", "jit.platform_target"),
    ("layout-dynamic-loop.py", "python.syntax"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with the checkouts")
    folder = parser.parse_args().checkouts
    unexplained = missing = 0
    for release, paths in PUBLIC.items():
        for path in paths:
            if not (folder / path).exists():
                print(f"{path}: no checkout")
                missing += 1
                continue
            for finding in errors(folder / path, release):
                known = any(finding["file"].endswith(end) and finding["rule"] == rule for end, rule in EXPLAINED)
                unexplained += not known
                print(f"{finding['file']}:{finding['line']}: {finding['rule']}{' (explained)' if known else ''}")
    print(f"{unexplained} errors that docs/lint.md does not explain; {missing} checkouts missing")
    return int(unexplained > 0)


def errors(path: Path, release: str) -> list[dict]:
    done = subprocess.run([sys.executable, "-m", "trnsim", "lint", "--json", "--nki", release, str(path)],
                          capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"trnsim lint {path}: {done.stderr.strip()[-300:]}")
    return [finding for finding in json.loads(done.stdout) if finding["level"] == "error"]


if __name__ == "__main__":
    sys.exit(main())
