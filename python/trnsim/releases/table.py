"""What each release of NKI has: names, parameters and behaviour; when each came, changed and went.

The one place for these facts: what a named release refuses, the messages and docs/names.md are derived from it.
Sources: the API stubs of aws-neuron-sdk at the commit of each release, its release notes and its migration guides.
Of 0.7 those of SDK 2.33: its stubs are not public, so what none of these pages mentions is taken to be as in 0.6.
"""

from typing import NamedTuple

RELEASES = ("beta1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7")


class Span(NamedTuple):
    """From release `first` to release `last` (to the newest where it is empty), both included."""

    first: str
    last: str = ""
    names: str = ""
    note: str = ""  # what to use instead, or what changed

    def holds(self, release: str) -> bool:
        """Whether a release is within the span."""
        at = RELEASES.index(release)
        return RELEASES.index(self.first) <= at <= RELEASES.index(self.last or RELEASES[-1])


_VIEWS = "slices, nl.ds or tensor.ap(...)"
_COPY = "nisa.tensor_copy with .ap(scalar_offset=...)"

# Of these only the operator for op= exists in release 0.2; the functions on tiles came (back) with 0.3.
OPERATORS_IN_0_2 = (
    "all arctan copy erf erf_dx exp gelu gelu_apprx_tanh gelu_dx log max min mish prod relu sigmoid sign silu silu_dx "
    "sin softplus sqrt square sum tanh"
)

NAMES: dict[str, tuple[Span, ...]] = {
    "nki": (
        Span("0.2", "", "jit isa language collectives"),
        Span("0.3", "", "simulate typing dtype Kernel"),
        Span("0.7", "", "compiler"),
        Span("0.2", "", "baremetal benchmark profile", "they raise an error: ask trnsim.last_profile() for times"),
        Span("beta1", "beta1", "simulate_kernel", "nki.simulate"),
    ),
    "nki.isa": (
        Span(
            "0.2",
            "",
            "activation activation_reduce affine_select bn_aggr bn_stats constants core_barrier dge_mode dma_compute "
            "dma_copy dma_transpose dropout engine exponential get_nc_version gpsimd_engine iota local_gather "
            "matmul_perf_mode max8 memset nc_find_index8 nc_match_replace8 nc_matmul nc_matmul_mx nc_n_gather "
            "nc_stream_shuffle nc_transpose nc_version nonzero_with_count oob_mode quantize_mx rand2 rand_get_state "
            "rand_set_state range_select reciprocal reduce_cmd register_alloc register_load register_move "
            "register_store rng scalar_engine scalar_tensor_tensor select_reduce sendrecv sequence_bounds "
            "set_rng_seed tensor_copy tensor_copy_predicated tensor_engine tensor_partition_reduce tensor_reduce "
            "tensor_scalar tensor_scalar_cumulative tensor_scalar_reduce tensor_tensor tensor_tensor_scan "
            "unknown_engine vector_engine",
        ),
        Span("0.2", "0.3", "tensor_copy_dynamic_dst tensor_copy_dynamic_src", _COPY),
        Span("0.3", "", "NkiValidationError VirtualRegister"),
        Span("0.3", "", "dma_engine", "nisa.engine.dma, which is what the alias of that name was"),
        Span("0.4", "", "activate2"),
        Span("0.5", "", "get_nc_sub_version"),
        Span("0.6", "", "NkiInstruction topk"),
        Span("0.7", "", "NkiScalar scalar_load scalar_store", "nisa.register_load and register_store"),
        Span("beta1", "beta1", "builtin_custom_op", "the instructions of nki.isa"),
        Span("beta1", "beta1", "fp32", "float(np.finfo(np.float32).min)"),
    ),
    "nki.isa.constants": (
        Span("0.2", "", "dge_mode engine matmul_perf_mode nc_version oob_mode reduce_cmd"),
        Span("0.3", "", "dma_engine"),
    ),
    "nki.isa.matmul_perf_mode": (Span("0.2", "", "none double_row"),),
    "nki.language": (
        Span(
            "0.2",
            "",
            "NKIObject abs add affine_range bfloat16 bitwise_and bitwise_or bitwise_xor bool_ device_print divide ds "
            "equal float16 float32 float4_e2m1fn_x4 float8_e4m3 float8_e4m3fn float8_e4m3fn_x4 float8_e5m2 "
            "float8_e5m2_x4 gelu_apprx_sigmoid gelu_apprx_sigmoid_dx greater greater_equal hbm int16 int32 int8 "
            "invert left_shift less less_equal logical_and logical_not logical_or logical_xor maximum minimum "
            "multiply ndarray no_reorder not_equal num_programs power private_hbm program_id program_ndim psum "
            "reciprocal right_shift rsqrt sbuf sequential_range shared_constant shared_hbm shared_identity_matrix "
            "static_range subtract tfloat32 tile_size uint16 uint32 uint8 zeros",
        ),
        Span(
            "0.3",
            "",
            "MemoryRegion NkiTensor broadcast_to dynamic_range empty_like expand_dims full gather_flattened is_hbm "
            "is_on_chip is_psum is_sbuf load load_transpose2d ones rand random_seed store where zeros_like",
            "nki.isa instructions",
        ),
        Span("0.2", "", OPERATORS_IN_0_2),
        Span(
            "0.3",
            "",
            "ceil cos dropout floor fmod matmul mean mod negative rms_norm softmax tan transpose trunc var",
            "nki.isa instructions",
        ),
        Span("0.4", "", "abs_max abs_min bypass prelu"),
        Span("0.5", "", "average float8_e8m0fnu"),
        Span("0.6", "", "fori_loop while_loop", "nl.dynamic_range, or a while loop over a register"),
        Span("0.7", "", "NkiBlockGrid NkiGrid NkiTileGrid alloc_blocks alloc_tiles blocks tiles", _VIEWS),
        Span("0.7", "", "int64", "nl.int32"),
        Span("beta1", "beta1", "arange mgrid", _VIEWS),
        Span("beta1", "0.2", "par_dim", "dimension 0, which is the partition of every on-chip tensor"),
        Span("beta1", "beta1", "static_cast", "dtype= of the function, or nisa.tensor_copy"),
        Span("beta1", "beta1", "loop_reduce", "nisa.tensor_tensor in the loop"),
        Span("beta1", "beta1", "all_reduce", "nki.collectives.all_reduce"),
        Span("beta1", "beta1", "atomic_rmw", "nisa.dma_compute"),
        Span("beta1", "beta1", "fp32 bfp16 finfo", "numpy.finfo, and ml_dtypes.finfo for bfloat16"),
        Span("beta1", "beta1", "nc spmd_dim", "kernel[2] for two cores"),
        Span("beta1", "beta1", "gemm_grid gemm_stationary_grid", _VIEWS),
    ),
    "nki.language.tile_size": (
        Span(
            "0.2",
            "",
            "pmax psum_fmax gemm_stationary_fmax gemm_moving_fmax bn_stats_fmax psum_min_align sbuf_min_align "
            "total_available_sbuf_size",
        ),
        Span("0.4", "", "psum_bank_fmax psum_bank_fmax_bytes", "psum_fmax"),
        Span("0.4", "", "sbuf_fmax sbuf_fmax_bytes sbuf_size_bytes", "total_available_sbuf_size (per partition)"),
        Span("0.5", "", "psum_num_banks"),
    ),
    "nki.collectives": (
        Span(
            "0.2",
            "",
            "ReplicaGroup all_gather all_reduce all_to_all collective_permute collective_permute_implicit "
            "collective_permute_implicit_current_processing_rank_id collective_permute_implicit_reduce rank_id "
            "reduce_scatter",
        ),
        Span("0.3", "", "all_to_all_v"),
        Span("0.6", "", "all_gather_v"),
        Span(
            "0.7",
            "",
            "all_gather_v_prepare all_gather_v_trigger all_to_all_v_prepare all_to_all_v_trigger",
            "all_gather_v and all_to_all_v",
        ),
    ),
    "nki.compiler": (Span("0.7", "", "AddressRotation CompileConfig SpecializationConfig"),),
    "nki.typing": (Span("0.3", "", "tensor mutable_tensor NkiTensor"),),
    "nki.dtype": (
        Span(
            "0.3",
            "",
            "DType bfloat16 bool_ float16 float32 float4_e2m1fn_x4 float8_e4m3 float8_e4m3fn float8_e4m3fn_x4 "
            "float8_e5m2 float8_e5m2_x4 int16 int32 int8 tfloat32 uint16 uint32 uint8",
        ),
        Span("0.5", "", "float8_e8m0fnu"),
    ),
}

class Parameter(NamedTuple):
    """A parameter that not every release has. `after`: the one that it followed where it had another place.
    `became`: its name since then; "" where the value has no effect."""

    name: str
    first: str
    last: str = ""
    after: str | None = None
    became: str | None = None
    note: str = ""


_ACCUMULATE = (
    Parameter("accumulate", "0.3"),
    Parameter("psum_accumulate_flag", "0.2", "0.2", "tile_size", "", "it never had an effect"),
    Parameter("psumAccumulateFlag", "0.2", "0.2", None, "", "it never had an effect"),
)
_COLLECTIVE = (Parameter("priority", "0.4"), Parameter("name", "0.5"))

PARAMETERS: dict[str, tuple[Parameter, ...]] = {
    # of every instruction
    "nki.isa": (
        Parameter("dtype", "beta1", "0.2", None, "", "the dtype of the result is that of dst"),
        Parameter("mask", "beta1", "beta1", None, None, "slice the operands"),
    ),
    "nki.isa.affine_select": (Parameter("offset", "0.2", "0.2", "pattern", "offset", "it is a keyword now"),),
    "nki.isa.dma_compute": (
        Parameter("scales", "0.2", "0.2", "srcs", "scales", "it follows reduce_op now"),
        Parameter("unique_indices", "0.3"),
        Parameter("oob_mode", "0.4"),
    ),
    "nki.isa.dma_copy": (
        Parameter("priority", "0.4"),
        Parameter("engine", "0.3"),
        Parameter("dst_rmw_op", "beta1", "0.2", "src", None, "use nisa.dma_compute"),
        Parameter("unique_indices", "0.2", "0.2", "dge_mode", None, "use nisa.dma_compute"),
    ),
    "nki.isa.dma_transpose": (Parameter("priority", "0.4"),),
    "nki.isa.nc_matmul": (
        *_ACCUMULATE,
        Parameter("is_moving_zero", "0.2", "0.2", None, "is_moving_onezero", "it is is_moving_onezero"),
    ),
    "nki.isa.nc_matmul_mx": _ACCUMULATE,
    "nki.isa.register_move": (
        Parameter("src", "0.3"),
        Parameter("imm", "0.2", "0.2", "dst", "src", "it is src, a number or a register"),
    ),
    "nki.isa.sendrecv": (
        Parameter("dma_engine", "0.3"),
        Parameter("use_gpsimd_dma", "0.2", "0.2", None, None, "use dma_engine=nisa.dma_engine.gpsimd_dma"),
    ),
    "nki.isa.tensor_scalar_reduce": (
        Parameter("reduce_cmd", "0.4"),
        Parameter("reduce_init", "0.4"),
        Parameter("reduce_res_negate", "0.6"),
    ),
    "nki.language.ndarray": (Parameter("address", "0.3"),),
    "nki.language.shared_constant": (Parameter("dtype", "beta1", "0.2", None, None, "convert the array"),),
    "nki.language.shared_identity_matrix": (Parameter("dst", "0.3"),),
    "nki.collectives": _COLLECTIVE,
    "nki.collectives.collective_permute_implicit_current_processing_rank_id": (
        Parameter("num_channels", "0.2", "0.2", "channel_id", "", "give channel_ids to collective_permute_implicit"),
    ),
}


# What numbers stood for in 0.2. Names, and the strings of matmul_perf_mode, stood for themselves.
ENUM_CODES = {
    "engine": {"unknown": 0, "tensor": 1, "scalar": 2, "gpsimd": 3, "dma": 4, "vector": 5, "sync": 6},
    "dge_mode": {"unknown": 0, "swdge": 1, "hwdge": 2, "none": 3},
    "oob_mode": {"error": 0, "skip": 1},
    "reduce_cmd": {"idle": 0, "reset": 1, "reduce": 2, "reset_reduce": 3, "load_reduce": 4},
    "matmul_perf_mode": {},
}


class Behaviour(NamedTuple):
    """What a name did from release `first` to `last`. `auto`: whether it does so where no release is named."""

    first: str
    last: str
    auto: bool
    text: str


BEHAVIOUR = {
    "nl.rsqrt on Scalar": Behaviour("beta1", "0.4", False, "GpSimd computes nl.rsqrt since 0.5 and reads no PSUM"),
    "nl.copy on Scalar": Behaviour("0.3", "0.5", False, "nl.copy went through float32 in 0.3 to 0.5"),
    "quantize_mx plain scale": Behaviour("0.2", "0.4", False, "the block scale is twice that of OCP since 0.5"),
    "tensor_reduce last axis": Behaviour("0.2", "0.2", False, "axis=1 meant the last free dimension in 0.2"),
    "memset converts": Behaviour("beta1", "0.2", True, "the value of memset must be of dst's dtype since 0.3"),
    "enums as numbers": Behaviour("beta1", "0.2", True, "numbers and strings stand for no member since 0.3"),
    "buffers as strings": Behaviour("beta1", "0.2", True, "buffers are objects, such as nl.sbuf, since 0.3"),
    "DMA reads PSUM": Behaviour("0.2", "0.2", False, "dma_copy cannot read PSUM since 0.3: copy it to SBUF first"),
    "hwdge converts": Behaviour("beta1", "0.2", True, "hardware DGE moves between equal dtypes only since 0.3"),
    "dma_transpose pads rank": Behaviour("beta1", "0.3", True, "dst has the transpose's shape and rank since 0.4"),
    "results in any HBM": Behaviour("beta1", "0.2", True, "results are nl.shared_hbm since 0.3"),
    "keyword-only parameters": Behaviour("beta1", "0.2", True, "a kernel's signature has no '*' since 0.3"),
    "lists as arguments": Behaviour("beta1", "0.2", True, "kernels take tuples in place of lists since 0.3"),
    "jit(platform_target)": Behaviour("beta1", "0.2", True, "set NEURON_PLATFORM_TARGET_OVERRIDE since 0.3"),
    "sbuf and hbm as names": Behaviour("0.2", "0.3", True, "sbuf.view and hbm.view are nl.ndarray since 0.4"),
    "import neuronxcc.nki": Behaviour("beta1", "0.3", True, "neuronxcc.nki is an error since 0.4: import nki"),
    "dynamic_range loops": Behaviour("0.3", "0.6", True, "nl.fori_loop replaces nl.dynamic_range since 0.7"),
    "registers decide while": Behaviour("0.2", "0.6", True, "nl.while_loop replaces while over a register since 0.7"),
    "LNC degrees may differ": Behaviour("beta1", "0.6", True, "the two must be equal since 0.7"),
    "range_select fixed": Behaviour("0.2", "0.2", False, "range_select ignored on_false_value and reduce_cmd in 0.2"),
}

# Still there, but announced to go: the release that began to warn, and what to use.
DEPRECATED = {
    "nki.isa.tensor_copy_dynamic_src": ("0.3", _COPY),
    "nki.isa.tensor_copy_dynamic_dst": ("0.3", _COPY),
    "nki.language.tile_size.psum_fmax": ("0.4", "psum_bank_fmax"),
    "nki.language.tile_size.total_available_sbuf_size": ("0.4", "sbuf_fmax_bytes"),
    "nki.language.dynamic_range": ("0.6", "nl.fori_loop"),
    "nki.language.affine_range": ("0.7", "range"),
    "nki.language.sequential_range": ("0.7", "range"),
    "nki.language.static_range": ("0.7", "range"),
}
