"""huggingface/optimum-neuron: its flash attention for head sizes above 128, called as its models call it."""

import importlib

import numpy as np
from corpus.case import SURROUNDINGS, Case, Finding
from corpus.runners import compare

REPOSITORIES = ("optimum-neuron",)
MODELS = "optimum/neuron/models/inference"
ATTENTION = f"{MODELS}/backend/modules/attention/flash_attention_nki.py"


def cases(checkout):
    for name, head, window, programs in (("", 256, 0, 0), (", window", 256, 512, 0), (", d 512", 512, 0, 0),
                                         (", two programs", 256, 0, 2)):
        yield Case(ATTENTION, "attention", (head, window, programs), name=f"flash_fwd_large_d{name}", seconds=900)
    yield Case(f"{MODELS}/flux/flux_transformer_2d/modules/kernels.py", "imported", name="matmul_o_proj_kernel")


def attention(path, head, window, programs):
    """Causal attention in bf16 over two heads of 1,024 tokens; queries are scaled by the caller."""
    import torch
    from torch_neuronx.xla_impl.ops import nki_jit

    length = 1024
    torch.manual_seed(0)
    q = (torch.randn(2, head, length) * head**-0.5).to(torch.bfloat16)
    k, v = torch.randn(2, head, length).to(torch.bfloat16), torch.randn(2, length, head).to(torch.bfloat16)
    output = torch.zeros(2, head, length, dtype=torch.bfloat16)
    kernel = nki_jit()(importlib.import_module(path.stem).flash_fwd_large_d)
    if programs:
        import neuronxcc.nki.language as nl

        kernel = kernel[(nl.nc(programs),)]
    kernel(q, k, v, 1.0, output, use_causal_mask=True, sliding_window=window)
    position = torch.arange(length)
    distance = position[:, None] - position[None, :]
    allowed = (distance >= 0) & ((distance < window) if window else True)
    scores = torch.einsum("bds,bdt->bst", q.float(), k.float()).masked_fill(~allowed, float("-inf"))
    expected = torch.einsum("bst,btd->bds", scores.softmax(-1), v.float())
    return compare(output.float().numpy(), expected.numpy().astype(np.float32), rtol=1e-2, atol=1e-2)


def imported(path):
    importlib.import_module(path.stem)
    raise AssertionError("imports a private kernel of the vendor's, which should not be there")


FINDINGS = {
    "A private kernel of the vendor's": Finding(
        r"flux_transformer_2d.*(_private_kernels|neuronx_distributed|nki\.nccl)",
        SURROUNDINGS,
        "The kernel wraps one from a private package of the vendor's compiler, which is not public.",
    ),
}
