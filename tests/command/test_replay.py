"""Programs saved by `trnsim run --save` and Profile.save, and what `trnsim replay` makes of them."""

import json

import numpy as np
import pytest

import trnsim as package

MATMUL = '''
import numpy as np
import nki, nki.isa as nisa, nki.language as nl

@nki.jit
def product(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    for k in range(3):
        at = nl.ndarray((128, 128), dtype=a.dtype)
        bt = nl.ndarray((128, 512), dtype=b.dtype)
        nisa.dma_copy(dst=at, src=a)
        nisa.dma_copy(dst=bt, src=b, name="load b")
        nisa.nc_matmul(dst=acc, stationary=at, moving=bt{mode})
    result = nl.ndarray((128, 512), dtype=nl.float32)
    nisa.activation(dst=result, data=acc, op=nl.exp)
    nisa.dma_copy(dst=out, src=result)
    return out

@nki.jit
def halves(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for step in range(2):
        t = nl.ndarray((64, 32), dtype=x.dtype)
        i = nl.program_id(0)
        nisa.dma_copy(dst=t, src=x[i * 64:(i + 1) * 64])
        nisa.core_barrier(out, (0, 1))
        nisa.dma_copy(dst=out[i * 64:(i + 1) * 64], src=t)
    return out

product(np.ones((128, 128), np.float32), np.ones((128, 512), np.float32))
{more}
'''


def saved(trnsim, mode="", more="", chip="trn2"):
    script = trnsim.script(text=MATMUL.format(mode=mode, more=more))
    done = trnsim("run", "--chip", chip, "--save", "p.trn", "--json=run.json", script)
    assert done.code == 0, done.err
    return done


@pytest.mark.parametrize("more", ["", "halves[2](np.ones((128, 32), np.float32))"])
def test_a_replay_on_the_same_chip_is_the_run_itself(trnsim, more):
    run = saved(trnsim, more=more)
    replay = trnsim("replay", "p.trn", "--json", "replay.json")
    assert (replay.code, replay.err) == (0, "")
    assert replay.out == run.out
    assert (trnsim.folder / "replay.json").read_bytes() == (trnsim.folder / "run.json").read_bytes()


def test_a_replay_on_another_chip_is_a_run_there(trnsim):
    saved(trnsim, more="halves[2](np.ones((128, 32), np.float32))")
    replayed = json.loads(trnsim("replay", "p.trn", "--chip", "trn3", "--json").out)
    saved(trnsim, more="halves[2](np.ones((128, 32), np.float32))", chip="trn3")
    assert replayed == json.loads((trnsim.folder / "run.json").read_text())
    assert {run["chip"] for run in replayed["runs"]} == {"trainium3"}


def test_a_trace_of_a_replay_is_the_trace_of_the_run(trnsim):
    script = trnsim.script(text=MATMUL.format(mode="", more=""))
    assert trnsim("run", "--save", "p.trn", "--trace", "run.pftrace", script).code == 0
    done = trnsim("replay", "p.trn", "--trace", "replay.pftrace", "--quiet")
    assert (done.code, done.out) == (0, "")
    assert (trnsim.folder / "replay.pftrace").read_bytes() == (trnsim.folder / "run.pftrace").read_bytes()


def test_an_instruction_that_is_illegal_there_is_named_with_its_rule(trnsim):
    script = trnsim.script(line="nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=1.0, "
                                "engine=nisa.engine.scalar)")
    assert trnsim("run", "--save", "p.trn", script).code == 0
    done = trnsim("replay", "p.trn", "--chip", "trn1")
    assert done.code == 3
    assert "kernel 'kernel' cannot run on trainium1: instruction 1, tensor_scalar at script.py:10: " in done.err
    assert "NeuronCore-v2" in done.err and "(rule tensor_scalar.generation)" in done.err


def test_two_cores_cannot_be_replayed_where_a_logical_core_is_one(trnsim):
    saved(trnsim, more="halves[2](np.ones((128, 32), np.float32))")
    done = trnsim("replay", "p.trn", "--chip", "trn1")
    assert done.code == 3
    assert "kernel 'halves' cannot run on trainium1" in done.err and "(rule launch.lnc)" in done.err


def test_tiles_beyond_a_smaller_memory_are_refused(trnsim):
    saved(trnsim)
    (trnsim.folder / "small.toml").write_text(
        'name = "small"\nbase = "trainium2"\n[core.sbuf]\n'
        'usable_bytes_per_partition = { value = 1024, unit = "B", source = "test", confidence = "guess" }\n'
    )
    done = trnsim("replay", "p.trn", "--chip", "small.toml")
    assert done.code == 3
    assert "in SBUF, which has 1024 there (rule memory.capacity)" in done.err


def test_bad_files_and_options_are_refused_in_words(trnsim):
    saved(trnsim)
    whole = (trnsim.folder / "p.trn").read_bytes()
    (trnsim.folder / "cut.trn").write_bytes(whole[: len(whole) // 2])
    script = trnsim.script()
    for arguments, message in [
        (["replay", "cut.trn"], "cut.trn: cut short"),
        (["replay", script], "not a program that trnsim saved"),
        (["replay", "absent.trn"], "absent.trn: No such file"),
        (["replay", "p.trn", "--chip", "trn9"], "trn9"),
        (["replay", "p.trn", "--trace", "no/such/folder/t"], "cannot write no/such/folder/t"),
        (["run", "--save", "no/such/folder/p.trn", script], "cannot write no/such/folder/p.trn"),
    ]:
        done = trnsim(*arguments)
        assert (done.code, done.out) == (2, ""), arguments
        assert done.err.startswith("trnsim: ") and message in done.err


def test_a_profile_saves_the_bytes_that_the_command_saves(tmp_path):
    package.install(chip="trn2")
    import nki
    import nki.isa as nisa
    import nki.language as nl

    @nki.jit
    def copy(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, dtype=x.dtype)
        nisa.dma_copy(dst=tile, src=x)
        nisa.dma_copy(dst=out, src=tile)
        return out

    for name in ("a.trn", "b.trn"):
        copy(np.ones((128, 64), np.float32))
        package.last_profile().save(tmp_path / name)
    assert (tmp_path / "a.trn").read_bytes() == (tmp_path / "b.trn").read_bytes()
    with pytest.raises(package.ConfigError, match="cannot write"):
        package.last_profile().save(tmp_path / "none" / "a.trn")
