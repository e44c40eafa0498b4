"""What custom operators cost: counted in their accesses and transfers, the same each time."""

import operators
import numpy as np
import pytest
import trnsim
from trnsim import session

SIZE = 32 * 256

KERNELS = operators.HEAD + """
static constexpr size_t kBlock = 1024;

torch::Tensor by_element(const torch::Tensor& t) {
  torch::Tensor out = torch::empty(t.sizes(), torch::kFloat);
  auto from = t.accessor<float, 1>();
  auto to = out.accessor<float, 1>();
  for (int64_t i = 0; i < t.numel(); i++) to[i] = from[i] * 3;
  return out;
}

torch::Tensor by_stream(const torch::Tensor& t) {
  torch::Tensor out = torch::empty(t.sizes(), torch::kFloat);
  auto from = t.read_stream_accessor<float>();
  auto to = out.write_stream_accessor<float>();
  for (int64_t i = 0; i < t.numel(); i++) to.write(from.read() * 3);
  return out;
}

static void blocks(const torch::Tensor& t, torch::Tensor& out, size_t first, size_t end) {
  float* buffer = (float*)torch::neuron::tcm_malloc(sizeof(float) * kBlock);
  auto from = t.tcm_accessor();
  auto to = out.tcm_accessor();
  for (size_t i = first; i < end; i += kBlock) {
    const size_t n = end - i < kBlock ? end - i : kBlock;
    from.tensor_to_tcm<float>(buffer, i, n);
    for (size_t j = 0; j < n; j++) buffer[j] *= 3;
    to.tcm_to_tensor<float>(buffer, i, n);
  }
  torch::neuron::tcm_free(buffer);
}

torch::Tensor by_tcm(const torch::Tensor& t) {
  torch::Tensor out = torch::empty(t.sizes(), torch::kFloat);
  blocks(t, out, 0, t.numel());
  return out;
}

torch::Tensor into_result(const torch::Tensor& t) {
  torch::Tensor out = get_dst_tensor();
  const size_t each = t.numel() / get_cpu_count();
  blocks(t, out, each * get_cpu_id(), each * (get_cpu_id() + 1));
  return out;
}

torch::Tensor five_streams(const torch::Tensor& t) {
  auto a = t.read_stream_accessor<float>(), b = t.read_stream_accessor<float>();
  auto c = t.read_stream_accessor<float>(), d = t.read_stream_accessor<float>();
  auto e = t.read_stream_accessor<float>();
  for (int64_t i = 0; i < t.numel(); i++) e.read();
  return torch::zeros(t.sizes(), torch::kFloat);
}

float* volatile kept;
torch::Tensor on_stack(const torch::Tensor& t) {
  float room[3000];
  kept = room;
  for (int i = 0; i < 3000; i++) room[i] = i;
  return torch::full(t.sizes(), room[2999], torch::kFloat);
}

torch::Tensor counts(const torch::Tensor& t) {
  volatile int64_t sum = 0;
  int64_t s = 0;
  for (int64_t i = 0; i < 1000; i++) s = s % 7 + i;
  return torch::full(t.sizes(), (int)(sum + s), torch::kFloat);
}
"""

SHAPES = operators.SHAPE_HEAD + "NEURON_LIBRARY(timed, m) {\n" + "".join(
    f'  m.def("{name}", &like, "{name}");\n'
    for name in ("by_element", "by_stream", "by_tcm", "into_result", "five_streams", "on_stack", "counts")
) + "}\n"

X = np.arange(SIZE, dtype=np.float32)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory, build_operators):
    make = lambda name, **options: build_operators(tmp_path_factory.mktemp(name), "timed", KERNELS, SHAPES, **options)
    return {"one": make("one"), "all": make("all", multicore=True),
            "far": make("far", extra_cflags=["-DSTACK_SIZE=20000"])}


def time_of(library, operator, x=X):
    getattr(library, operator)(x)
    return trnsim.last_profile().latency_us * 1e3


def number(path):
    return session.load_chip(session.settings.chip).number(path)


def test_the_ways_to_the_elements_rank_as_documented(libraries):
    one = libraries["one"]
    element, stream, tcm = (time_of(one, name) for name in ("by_element", "by_stream", "by_tcm"))
    direct, together = time_of(one, "into_result"), time_of(libraries["all"], "into_result")
    assert element > 10 * stream > 10 * tcm > 10 * direct > 10 * together


def test_an_element_is_read_and_written_once(libraries):
    copied = 4 * SIZE / number("dma.sustained_rate") + number("dma.start_latency")
    accesses = (time_of(libraries["one"], "by_element") - copied) / number("gpsimd.element_access")
    assert accesses == pytest.approx(2 * SIZE, rel=0.02)


def test_a_block_is_two_transfers_and_two_steps_an_element(libraries):
    block = 2 * number("dma.start_latency") + 2 * 4096 / number("dma.sustained_rate") + 2048 / number("gpsimd.clock")
    more = time_of(libraries["one"], "into_result", X) - time_of(libraries["one"], "into_result", X[: SIZE // 2])
    assert more == pytest.approx(SIZE / 2 / 1024 * block, rel=0.02)


def test_eight_processors_take_an_eighth(libraries):
    fixed = number("gpsimd.start_cycles") / number("gpsimd.clock") + number("gpsimd.drain")
    alone = time_of(libraries["one"], "into_result") - fixed
    assert time_of(libraries["all"], "into_result") - fixed == pytest.approx(alone / 8, rel=0.02)


def test_a_fifth_stream_is_as_slow_as_element_accesses(libraries):
    assert time_of(libraries["one"], "five_streams") > SIZE * number("gpsimd.element_access")


def test_a_stack_out_of_the_processor_is_slow(libraries):
    with pytest.warns(UserWarning, match="on_stack uses some 1[0-9]{4} bytes of stack; beyond 8192"):
        near = time_of(libraries["one"], "on_stack")
    more = time_of(libraries["far"], "on_stack") - near
    assert more == pytest.approx(3001 * number("gpsimd.element_access"), rel=0.01)


def test_code_that_touches_no_memory_takes_time_too(libraries):
    assert time_of(libraries["one"], "counts", X[:1]) > 1000 / number("gpsimd.clock")


def test_the_same_call_takes_the_same_time_and_a_launch_each(libraries):
    before = len(trnsim.profiles())
    times = {time_of(libraries["all"], "into_result") for _ in range(3)}
    assert len(times) == 1 and len(trnsim.profiles()) == before + 3
    profile = trnsim.last_profile()
    [entry] = profile.instructions
    assert (profile.kernel, entry["opcode"], entry["engine"]) == ("into_result", "custom_op", "GpSimd")
    assert entry["file"].endswith("test_operator_time.py")


def test_a_chip_whose_processors_have_dma_of_their_own_is_faster(libraries):
    slow = time_of(libraries["one"], "into_result")
    trnsim.install(chip="trn2")
    assert time_of(libraries["one"], "into_result") != slow


def test_a_recorded_operator_is_clocked_again_elsewhere(libraries, tmp_path):
    import subprocess
    import sys

    libraries["all"].into_result(X)
    trnsim.last_profile().save(tmp_path / "run.trnsim")
    done = subprocess.run([sys.executable, "-m", "trnsim", "replay", tmp_path / "run.trnsim", "--chip", "trn3"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "into_result on one NeuronCore-v4 of trainium3" in done.stdout
