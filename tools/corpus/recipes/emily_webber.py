"""EmilyWebber/nki-helpers: drivers in PyTorch, most of them scripts."""

from corpus.case import ILLEGAL, SURROUNDINGS, Case, Finding

REPOSITORIES = ("nki-helpers",)


def cases(checkout):
    for folder in ("tensor_add", "matmul", "profiler"):
        for path in sorted((checkout / folder).glob("*.py")):
            text = path.read_text()
            if "nki.jit" in text or "nki.benchmark" in text:
                file = path.relative_to(checkout).as_posix()
                says = " match" if "match" in text else ""
                yield Case(file, "script", says=says, denies=" differ" if says else "")


FINDINGS = {
    "A grid that does not cover the tensor": Finding(
        r"tensor_add_spmd_nc4.py.*c_output.*never written|nki_matmul_spmd.py.*grid \(0, 1\)",
        ILLEGAL,
        "The scripts divide the tiles over cores that do not divide their number: 8 tiles over 3 cores leave two tiles "
        "of the result unwritten (the script compares sums, after which garbage decides), and 1 tile over 2 cores "
        "gives a grid of no programs. The calls before these, with numbers that divide, agree.",
    ),
    "A module of another repository": Finding(
        r"No module named 'matrix_multiplication_nki_kernels'",
        SURROUNDINGS,
        "The script imports the kernels of nki-samples' tutorial, which is not beside it.",
    ),
}
