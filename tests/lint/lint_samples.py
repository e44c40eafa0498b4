"""Texts of files with kernels."""

import textwrap

HEAD = "import numpy as np\nimport nki\nimport nki.isa as nisa\nimport nki.language as nl\n"
OLD_HEAD = (
    "from neuronxcc import nki\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.language as nl\n"
)


def kernel(body: str, head: str = HEAD, above: str = "", signature: str = "x", decorator: str = "@nki.jit") -> str:
    """A file with one kernel of that body."""
    text = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"{head}{textwrap.dedent(above)}\n{decorator}\ndef kernel({signature}):\n{text}\n"
