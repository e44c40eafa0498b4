"""`trnsim run --trace`: the file, decoded with Perfetto's own definitions where the package `perfetto` is there."""

import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
import nki, nki.isa as nisa, nki.language as nl

@nki.jit
def double(a):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=a)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add)
    {middle}
    nisa.dma_copy(dst=out, src=tile)
    return out

double(np.ones((128, 512), dtype=np.float32))
"""


def run_with_trace(tmp_path, middle="pass"):
    script, trace = tmp_path / "double.py", tmp_path / "out.pftrace"
    script.write_text(SCRIPT.format(middle=middle))
    command = "import sys; from trnsim.command import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", command, "run", "--trace", trace, script],
                          capture_output=True, text=True, check=False)
    return done, trace


def decoded(trace):
    protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2",
                                 reason="the package 'perfetto' is not installed: pip install perfetto")
    message = protos.Trace()
    message.ParseFromString(trace.read_bytes())
    return message.packet


def slices(packets):
    """(track, event name) of every slice; begins and ends must pair up on each track."""
    tracks = {p.track_descriptor.uuid: p.track_descriptor.name for p in packets if p.HasField("track_descriptor")}
    names, depth, found = {}, {}, []
    for packet in packets:
        names.update({entry.iid: entry.name for entry in packet.interned_data.event_names})
        event = packet.track_event
        if event.type == event.TYPE_SLICE_BEGIN:
            depth[event.track_uuid] = depth.get(event.track_uuid, 0) + 1
            found.append((tracks[event.track_uuid], names[event.name_iid]))
        elif event.type == event.TYPE_SLICE_END:
            depth[event.track_uuid] -= 1
    assert not any(depth.values())
    return found


def test_a_trace_holds_every_instruction_on_its_track(tmp_path):
    done, trace = run_with_trace(tmp_path)
    assert done.returncode == 0, done.stderr
    assert slices(decoded(trace)) == [("Vector", "tensor_tensor 128x512"), ("DMA loads", "dma_copy 128x512"),
                                      ("DMA stores", "dma_copy 128x512")]


def test_waits_are_arrows_with_two_ends(tmp_path):
    _, trace = run_with_trace(tmp_path)
    packets = decoded(trace)
    out = [flow for p in packets for flow in p.track_event.flow_ids]
    assert len(out) == 2
    assert sorted(out) == sorted(flow for p in packets for flow in p.track_event.terminating_flow_ids)


def test_a_kernel_that_raises_leaves_a_trace_of_what_it_did(tmp_path):
    done, trace = run_with_trace(tmp_path, middle="raise RuntimeError('enough')")
    assert done.returncode != 0
    assert len(slices(decoded(trace))) == 2
