"""The names of Beta 1, `neuronxcc.nki`, by the SDK release of their first appearance.

Source: the API stubs of aws-neuron-sdk at the commits of the SDK releases 2.20 to 2.26.
"""

NAMES: dict[str, dict[str, str]] = {
    "neuronxcc.nki": {
        "2.20": "FrameworkKernel baremetal benchmark simulate_kernel tensor",
        "2.21": "compiler isa jit language profile typing",
    },
    "neuronxcc.nki.compiler": {
        "2.21": "enable_stack_allocator force_auto_alloc psum sbuf skip_middle_end_transformations",
        "2.23": "no_reorder",
        "2.24": "multi_buffer",
        "2.26": "allocation_scope",
    },
    "neuronxcc.nki.compiler.psum": {"2.21": "alloc auto_alloc mod_alloc"},
    "neuronxcc.nki.compiler.sbuf": {"2.21": "alloc auto_alloc mod_alloc"},
    "neuronxcc.nki.isa": {
        "2.20": "activation affine_select bn_aggr bn_stats builtin_custom_op dma_engine dropout gpsimd_engine iota "
        "local_gather memset nc_matmul nc_transpose reciprocal scalar_engine tensor_engine tensor_reduce "
        "tensor_scalar tensor_tensor tensor_tensor_scan unknown_engine vector_engine",
        "2.21": "activation_reduce dma_copy dma_transpose get_nc_version nc_version scalar_tensor_tensor tensor_copy "
        "tensor_copy_dynamic_src tensor_partition_reduce tensor_scalar_reduce",
        "2.22": "engine max8 nc_find_index8 nc_match_replace8 nc_stream_shuffle reduce_cmd tensor_copy_dynamic_dst "
        "tensor_copy_predicated",
        "2.23": "dge_mode fp32 oob_mode range_select",
        "2.26": "select_reduce sequence_bounds",
    },
    "neuronxcc.nki.language": {
        "2.20": "abs add affine_range all all_reduce arange arctan atomic_rmw bfloat16 bitwise_and bitwise_or "
        "bitwise_xor bool_ ceil copy cos device_print divide dropout equal erf erf_dx exp expand_dims finfo float16 "
        "float32 float8_e4m3 floor full gelu gelu_apprx_tanh gelu_dx gemm_grid gemm_stationary_grid greater "
        "greater_equal hbm int16 int32 int8 invert less less_equal load load_transpose2d log logical_and logical_not "
        "logical_or logical_xor loop_reduce matmul max maximum mean mgrid min minimum mish multiply ndarray negative "
        "not_equal num_programs ones par_dim power private_hbm prod program_id program_ndim psum rand random_seed "
        "relu rms_norm rsqrt sbuf sequential_range shared_constant shared_hbm sigmoid sign sin softmax softplus sqrt "
        "square static_cast static_range store subtract sum tanh tfloat32 tile_size transpose trunc uint16 uint32 "
        "uint8 var where zeros zeros_like",
        "2.21": "ds float8_e5m2 left_shift nc right_shift shared_identity_matrix silu silu_dx spmd_dim tan",
        "2.22": "broadcast_to empty_like fmod mod reciprocal",
        "2.23": "fp32",
        "2.24": "gather_flattened",
        "2.26": "bfp16 gelu_apprx_sigmoid",
    },
    "neuronxcc.nki.language.tile_size": {
        "2.20": "bn_stats_fmax gemm_moving_fmax gemm_stationary_fmax pmax psum_fmax psum_min_align sbuf_min_align",
        "2.26": "total_available_sbuf_size",
    },
    "neuronxcc.nki.typing": {"2.21": "mutable_tensor tensor"},
}
