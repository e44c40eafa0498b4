"""What an operator's code does wrong is told at its line, and the simulator goes on."""

from pathlib import Path

import numpy as np
import operators
import pytest
import trnsim

X = np.arange(6, dtype=np.float32).reshape(2, 3)
AFTERWARDS = ("gpsimd.unwritten_result", "gpsimd.exit", "gpsimd.shape", "gpsimd.input",
              "gpsimd.exception")  # may come after the code


@pytest.mark.parametrize("case, rule, line", operators.MISTAKES)
def test_a_mistake_is_told_at_its_line(mistakes, case, rule, line):
    with pytest.raises(trnsim.ProgramError) as info:
        mistakes.wrong(X, case)
    assert info.value.rule == rule
    text = str(info.value)
    place = f"compute.cpp:{line}: wrong: "
    assert place in text or (rule in AFTERWARDS and "compute.cpp:" not in text)
    assert (mistakes.wrong(X, 99) == 0).all()


def test_every_case_is_there():
    assert sorted(case for case, _, _ in operators.MISTAKES) == list(range(40))


@pytest.mark.parametrize("case, said", [
    (0, "index 2 of dimension 0, whose size is 2"), (1, "index 3 of dimension 1, whose size is 3"),
    (3, "writes bytes 24 to 27 of a tensor, which has 24"), (4, "elements 3 to 6 of a tensor with 6"),
    (6, "writes bytes 256 to 259 of a TCM buffer, which has 256"), (7, "4 bytes before the first of a TCM buffer"),
    (18, "tcm_malloc of 20000 bytes returned null: 16128 of the 16384 bytes"), (19, "null pointer"),
    (21, "rows == -1"), (22, "not so"), (23, "exit code 7"), (24, "stack has overflowed"),
    (26, "returns kFloat [1, 2], but the shape function says kFloat [2, 3]"), (28, "element [0, 0]"),
    (35, "dimension 2 of a tensor with 2"),
])
def test_the_message_says_what_and_how_much(mistakes, case, said):
    with pytest.raises(trnsim.ProgramError) as info:
        mistakes.wrong(X, case)
    assert said in str(info.value)


def test_a_shape_function_may_not_read(mistakes):
    with pytest.raises(trnsim.ProgramError, match="shape.cpp:7: shape function of peeks") as info:
        mistakes.peeks(np.ones(3, np.float32))
    assert info.value.rule == "gpsimd.shape_data"


@pytest.mark.parametrize("mistake, rule, said", [
    (1, "gpsimd.core_overlap", "processors 2 and 3 both write element [149]"),
    (2, "gpsimd.unwritten_result", "element [299] of the result was never written (1 in all)"),
    (3, "gpsimd.multicore_accessor", "TCM accessors only"),
    (4, "gpsimd.multicore_result", "get_dst_tensor"),
])
def test_mistakes_between_processors(together, mistake, rule, said):
    with pytest.raises(trnsim.ProgramError) as info:
        together.split(np.zeros(400, np.float32), mistake)
    assert info.value.rule == rule
    assert said in str(info.value)


@pytest.mark.parametrize("arguments, rule", [
    ((X,), "gpsimd.arguments"), ((X, 1, 2), "gpsimd.arguments"), ((X, 1.5), "gpsimd.arguments"),
    ((1, 1), "gpsimd.arguments"), ((X, X), "gpsimd.arguments"), ((X, True), "gpsimd.arguments"),
    ((X > 1, 1), "gpsimd.dtype"), ((X.astype(np.uint16), 1), "gpsimd.dtype"),
])
def test_arguments_that_the_operator_does_not_take(mistakes, arguments, rule):
    with pytest.raises(trnsim.ProgramError) as info:
        mistakes.wrong(*arguments)
    assert info.value.rule == rule


def test_a_chip_without_the_engine_refuses_operators(mistakes):
    trnsim.install(chip="inf1")
    with pytest.raises(trnsim.Unsupported, match="no GpSimd Engine"):
        mistakes.wrong(X, 99)


def test_an_operator_inside_a_kernel_is_refused(mistakes):
    import nki

    @nki.jit
    def kernel(x):
        return mistakes.wrong(X, 99)

    with pytest.raises(trnsim.ProgramError) as info:
        kernel(X)
    assert info.value.rule == "gpsimd.inside"


def test_an_unknown_operator_is_named_with_the_nearest(mistakes):
    with pytest.raises(AttributeError, match="did you mean 'wrong'"):
        mistakes.wrongs  # noqa: B018


# ---- Building

GOOD = operators.HEAD + "torch::Tensor f(const torch::Tensor& t) { return torch::zeros(t.sizes(), torch::kFloat); }\n"


def shapes_of(definition):
    """A source with one operator, defined by its shape function and the name of its kernel."""
    return operators.SHAPE_HEAD + f'NEURON_LIBRARY(lib, m) {{ m.def("op", {definition}); }}\n'


LIKE_F = shapes_of('&like, "f"')



@pytest.mark.slow
@pytest.mark.parametrize("compute, shapes, rule, said", [
    (GOOD + "int g() { return undeclared; }\n", LIKE_F, "gpsimd.compile",
     "compute.cpp:5:18: error: 'undeclared' was not declared"),
    (GOOD, LIKE_F + "bad\n", "gpsimd.compile", "shape.cpp:5:1: error"),
    (GOOD + "void h(); void g() { h(); }\n", LIKE_F, "gpsimd.compile",
     "compute.cpp:5: undefined reference to `h()'"),
    (GOOD + "void g() { torch::tanh(1.0); }\n", LIKE_F, "gpsimd.compile", "'tanh' is not a member"),
    (GOOD + "void g(torch::Tensor t) { const auto c = t; c.tcm_accessor().tcm_to_tensor<float>(nullptr, 0, 1); }\n",
     LIKE_F, "gpsimd.compile", "read-only"),
    (GOOD, shapes_of('&like, "ff"'), "gpsimd.kernel", "kernel function 'ff' is in none of the compute sources; did "
                                                         "you mean 'f'?"),
    ("static " + GOOD.splitlines()[-1], LIKE_F, "gpsimd.kernel", ""),
    (GOOD + GOOD.splitlines()[-1].replace("& t)", "& t, double x)"), LIKE_F, "gpsimd.kernel",
     "is overloaded"),
    (GOOD.replace("torch::Tensor f", 'extern "C" torch::Tensor f'), LIKE_F, "gpsimd.kernel",
     'extern "C"'),
    (GOOD.replace("& t)", "& t, int x)"), LIKE_F, "gpsimd.signature", "takes 'int'"),
    (GOOD.replace("& t)", "& t, double x)"), LIKE_F, "gpsimd.signature",
     "the shape function takes (tensor), the kernel function (tensor, double)"),
    (GOOD, shapes_of("&like"), "gpsimd.kernel", "the name of its kernel function"),
    (GOOD, None, "gpsimd.operators", "no NEURON_LIBRARY"),
    (GOOD, LIKE_F.replace('m.def("op"', 'for (int i = 0; i < 11; i++) m.def(("op" + std::to_string(i)).c_str()'),
     "gpsimd.operators",
     "11 operators"),
])
def test_what_does_not_build_is_told(tmp_path, build_operators, compute, shapes, rule, said):
    if compute.startswith("static"):
        compute = operators.HEAD + compute.replace("static ", "__attribute__((used)) static ") + "\n"
        said = "is static"
    with pytest.raises(trnsim.ProgramError) as info:
        build_operators(tmp_path, "lib", compute, shapes)
    assert info.value.rule == rule
    assert said in str(info.value).replace("\N{LEFT SINGLE QUOTATION MARK}", "'").replace(
        "\N{RIGHT SINGLE QUOTATION MARK}", "'")
    assert not list(Path(tmp_path).glob("*.so")) or rule in ("gpsimd.operators", "gpsimd.signature")


def test_a_missing_source_and_a_missing_compiler_are_told(tmp_path, build_operators, monkeypatch):
    with pytest.raises(trnsim.ConfigError, match="no file .*absent.cpp"):
        trnsim.gpsimd.load("lib", [tmp_path / "absent.cpp"])
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(trnsim.ConfigError, match="install g\\+\\+"):
        build_operators(tmp_path, "lib", GOOD)


@pytest.mark.parametrize("name, flags, rule", [("builtin", [], "gpsimd.name"),
                                               ("lib", ["-DSTACK_SIZE=400001"], "gpsimd.stack_size")])
def test_names_and_flags_that_are_refused(tmp_path, build_operators, name, flags, rule):
    with pytest.raises(trnsim.ProgramError) as info:
        build_operators(tmp_path, name, GOOD, extra_cflags=flags)
    assert info.value.rule == rule


def test_a_library_that_was_built_elsewhere_is_refused(tmp_path):
    with pytest.raises(trnsim.ConfigError, match="cannot read"):
        trnsim.gpsimd.load_library(tmp_path / "libx.so")
    (tmp_path / "libx.so").write_bytes(b"\x7fELF" + bytes(200))
    with pytest.raises(trnsim.ConfigError, match="not built by trnsim"):
        trnsim.gpsimd.load_library(tmp_path / "libx.so")
