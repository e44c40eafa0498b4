"""One mistake a sample: its rule, the release that it is judged by, and the text, with the line marked '# <- here'."""

from lint_samples import HEAD, OLD_HEAD, kernel

SBUF = "t = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)\n"
PSUM = "p = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.psum)\n"


def k(body, **options):
    return kernel(body, **options)


STATEMENTS = [
    ("python.try", "", k("try:  # <- here\n    pass\nexcept ValueError:\n    pass")),
    ("python.raise", "", k("if x.shape[0] > 128:\n    raise ValueError('too long')  # <- here")),
    ("python.with", "", k("with open('log') as f:  # <- here\n    pass")),
    ("python.with_as", "", k("with nl.no_reorder() as order:  # <- here\n    pass")),
    ("python.async", "", k("helper(x)", above="async def helper(t):  # <- here\n    pass\n")),
    ("python.yield", "", k("parts(x)", above="def parts(x):\n    yield x  # <- here\n")),
    ("python.match", "", k("match x.shape[0]:  # <- here\n    case 128:\n        pass")),
    ("python.global", "", k("global COUNT  # <- here\nCOUNT = 1")),
    ("python.nonlocal", "", k("n = 0\ndef body(i):\n    nonlocal n  # <- here\nnl.fori_loop(0, 4, body)")),
    ("python.del", "", k("a = [1]\ndel a[0]  # <- here")),
    ("python.import", "", k("import math  # <- here")),
    ("python.inner_class", "", k("class Tile(nl.NKIObject):  # <- here\n    pass")),
    ("python.inner_function", "0.5", k("def inner(i):  # <- here\n    pass\ninner(0)")),
    ("python.loop_else", "", k("for i in range(4):\n    pass\nelse:\n    n = 0  # <- here")),
    ("python.loop_target", "", k("for a, b in [(1, 2)]:  # <- here\n    pass")),
    ("python.recursion", "", k("halve(8)", above="def halve(n):\n    return halve(n // 2)  # <- here\n")),
    ("signature.varargs", "", k("pass", signature="x, *rest").replace("rest):", "rest):  # <- here")),
    ("signature.kwargs", "", k("pass", signature="x, **rest").replace("rest):", "rest):  # <- here")),
    ("signature.keyword_only", "", k("pass", signature="x, *, scale=1").replace("1):", "1):  # <- here")),
    ("signature.list_default", "0.3", k("pass", signature="x, s=[1, 1]").replace("]):", "]):  # <- here")),
    ("signature.decorator", "", k("size(8)", above="import functools\n@functools.cache  # <- here\ndef size(n):\n"
                                  "    return n\n")),
    ("signature.inner_jit", "0.2", k("part(x)  # <- here", above="@nki.jit\ndef part(x):\n    pass\n")),
]

EXPRESSIONS = [
    ("python.lambda", "", k("f = lambda n: n + 1  # <- here")),
    ("python.comprehension", "", k("sizes = [n * 2 for n in range(4)]  # <- here")),
    ("python.comprehension", "0.2", k("sizes = {n: 1 for n in x.shape}  # <- here")),
    ("python.walrus", "", k("if (n := x.shape[0]) > 1:  # <- here\n    pass")),
    ("python.set", "", k("kinds = {1, 2}  # <- here")),
    ("python.matmul_operator", "", k("y = x @ x  # <- here")),
    ("python.is", "", k("if x.shape[0] is True:  # <- here\n    pass")),
    ("python.starred", "", k("shape = (128, *x.shape)  # <- here")),
    ("python.double_star", "", k("nisa.memset(**x)  # <- here")),
    ("python.format_spec", "", k("print(f'{x.shape[0]:>8}')  # <- here")),
    ("python.chained_in", "", k("if 1 < 2 in (2, 3):  # <- here\n    pass")),
    ("python.dict_key", "", k("d = {1: 'a'}  # <- here")),
    ("python.dict_key", "", k("d = {}\nd[1, 2] = 'a'  # <- here")),
    ("python.literal", "", k("c = 2j  # <- here")),
    ("python.literal", "0.4", k("c = b'abc'  # <- here")),
    ("python.wide_integer", "", k("n = 0x1FFFFFFFF  # <- here")),
    ("python.mutating_chain", "", k("a = [1]\nb = a[0] = 2  # <- here")),
]

CLASSES = [
    ("class.base", "", k("c = C()", above="class C:  # <- here\n    n = 1\n")),
    ("class.bases", "", k("c = C()", above="class C(nl.NKIObject, dict):  # <- here\n    n = 1\n")),
    ("class.keyword", "", k("c = C()", above="class C(nl.NKIObject, metaclass=type):  # <- here\n    n = 1\n")),
    ("class.statement", "", k("c = C()", above="class C(nl.NKIObject):\n    for i in range(2):  # <- here\n"
                              "        n = i\n")),
    ("class.decorator", "", k("c = C()", above="class C(nl.NKIObject):\n    @property  # <- here\n    def n(self):\n"
                              "        return 1\n")),
    ("class.slots", "", k("c = C()", above="class C(nl.NKIObject):\n    __slots__ = ('n',)  # <- here\n")),
    ("class.enum_operator", "", k("if E.a < E.b:  # <- here\n    pass",
                                  above="from enum import Enum\nclass E(Enum):\n    a = 1\n    b = 2\n")),
]

CALLS = [
    ("call.iterator", "", k("for i in enumerate(x.shape):  # <- here\n    pass")),
    ("call.iterator", "", k("for i in zip(x.shape, x.shape):  # <- here\n    pass")),
    ("call.sum", "", k("n = sum(x.shape)  # <- here")),
    ("call.set", "", k("kinds = set(x.shape)  # <- here")),
    ("call.reflection", "", k("f = getattr(nl, 'exp')  # <- here")),
    ("call.io", "", k("f = open('log')  # <- here")),
    ("call.super", "", k("super()  # <- here")),
    ("call.builtin", "", k("n = round(1.5)  # <- here")),
    ("call.numpy", "", k("n = np.sqrt(2.0)  # <- here")),
    ("call.framework", "", k("t = torch.zeros(2)  # <- here", above="import torch\n")),
    ("call.library", "", k("n = random.random()  # <- here", above="import random\n")),
    ("call.list_method", "", k("a = [1]\na.sort()  # <- here")),
    ("call.dict_method", "", k("a = {'n': 1}\na.update(m=2)  # <- here")),
    ("state.global_mutable", "", k("n = SIZES[0]  # <- here", above="SIZES = [128]\n")),
    ("state.global_write", "", k("SEEN.append(1)  # <- here", above="SEEN = []\n")),
    ("state.global_write", "", k("SEEN['n'] = 1  # <- here", above="SEEN = {}\n")),
    ("state.closure", "", f"{HEAD}\ndef make():\n    sizes = [1]\n    @nki.jit\n    def kernel(x):\n"
                          "        n = sizes[0]  # <- here\n    return kernel\n"),
    ("state.print_tensor", "", k(SBUF + "print(t)  # <- here")),
]

LOOPS = [
    ("runtime.if", "", k(SBUF + "if t[0, 0] > 0:  # <- here\n    pass")),
    ("runtime.if", "0.4", k("r = nisa.register_alloc(1)\nif r:  # <- here\n    pass")),
    ("runtime.if", "0.5", k("for i in nl.dynamic_range(4):\n    if i == 0:  # <- here\n        pass")),
    ("runtime.assert", "", k(SBUF + "assert t[0, 0] > 0  # <- here")),
    ("runtime.while", "", k("r = nisa.register_alloc(1)\nwhile r < 4:  # <- here\n    pass")),
    ("runtime.number", "", k(SBUF + "n = float(t[0, 0])  # <- here")),
    ("runtime.range", "", k("r = nisa.register_alloc(4)\nfor i in range(r):  # <- here\n    pass")),
    ("runtime.iterate", "", k(SBUF + "for row in t:  # <- here\n    pass")),
    ("runtime.arithmetic", "0.5", k("for i in nl.dynamic_range(4):\n    n = i * 128  # <- here")),
    ("runtime.induction_write", "0.5", k("for i in nl.dynamic_range(4):\n    nisa.register_move(i, 3)  # <- here")),
    ("loop.step", "0.5", k("for i in nl.dynamic_range(0, 4, 0):  # <- here\n    pass")),
    ("loop.in_no_reorder", "0.5",
     k("with nl.no_reorder():\n    for i in nl.dynamic_range(4):  # <- here\n        pass")),
    ("loop.nested", "0.5",
     k("for i in nl.dynamic_range(4):\n    for j in nl.dynamic_range(4):  # <- here\n        pass")),
    ("loop.dynamic_deprecated", "0.6", k("for i in nl.dynamic_range(4):  # <- here\n    pass")),
    ("loop.dynamic_removed", "", k("for i in nl.dynamic_range(4):  # <- here\n    pass")),
    ("loop.while_deprecated", "0.6", k("r = nisa.register_alloc(1)\nwhile r:  # <- here\n    pass")),
    ("loop.while_removed", "", k("r = nisa.register_alloc(1)\nwhile r:  # <- here\n    pass")),
    ("loop.body_returns", "", k("def body(i):\n    return i  # <- here\nnl.fori_loop(0, 4, body)")),
]

RELEASES = [
    ("release.import", "0.4", k("pass", head="from neuronxcc import nki  # <- here\n")),
    ("release.name", "", k("i = nl.arange(128)  # <- here")),
    ("release.name", "", k("i = nl.mgrid  # <- here")),
    ("release.name", "0.4", k("nisa.tensor_copy_dynamic_src(dst=x, src=x)  # <- here")),
    ("release.name", "0.4", k("nisa.topk(dst=x)  # <- here")),
    ("release.parameter", "", k("nisa.tensor_copy(dst=x, src=x, mask=None)  # <- here")),
    ("release.parameter", "0.3", k("nisa.dma_copy(dst=x, src=x, dst_rmw_op=nl.add)  # <- here")),
    ("release.parameter", "0.3", k("nisa.register_move(dst=x, imm=3)  # <- here")),
    ("release.deprecated", "", k("for i in nl.affine_range(4):  # <- here\n    pass")),
    ("release.operator_only", "0.2", k("y = nl.exp(x)  # <- here")),
    ("release.enum", "", k("nisa.dma_copy(dst=x, src=x, dge_mode=2)  # <- here")),
    ("release.buffer_string", "", k("t = nl.ndarray((128, 4), dtype=nl.float32, buffer='sbuf')  # <- here")),
    ("jit.mode", "", k("pass", decorator="@nki.jit(mode='jax')  # <- here")),
    ("jit.platform_target", "", k("pass", decorator="@nki.jit(platform_target='trn2')  # <- here")),
    ("jit.list_argument", "", k("pass", signature="x, s") + "\nkernel(np.zeros(4), [1, 2])  # <- here\n"),
    ("isa.dst", "", k("y = nisa.tensor_tensor(data1=x, data2=x, op=nl.add)  # <- here")),
    ("isa.result", "0.4", k("x[0:1, 0:1] = nisa.reciprocal(x, x)  # <- here")),
    ("isa.affine_select_offset", "", k("nisa.affine_select(x, [[1, 4]], 0, 1, x, 0.0)  # <- here")),
    ("isa.dma_compute_scales", "", k("nisa.dma_compute(x, [x], [1.0], nl.add)  # <- here")),
    ("isa.memset_shape", "", k("t = nisa.memset((128, 64), 0.0)  # <- here")),
]

TENSORS = [
    ("tensor.block_dimension", "0.2", k("t = nl.ndarray((8, nl.par_dim(128), 64), dtype=nl.float32)  # <- here")),
    ("tensor.partitions", "", k("t = nl.ndarray((256, 64), dtype=nl.float32, buffer=nl.sbuf)  # <- here")),
    ("tensor.bounds", "", k(SBUF + "nisa.memset(dst=t[0:128, 60:68], value=0.0)  # <- here")),
    ("tensor.start_partition", "", k(SBUF + "nisa.memset(dst=t[17:33, 0:4], value=0.0)  # <- here")),
    ("tensor.matmul_dst", "", k(SBUF + "nisa.nc_matmul(dst=t, stationary=x, moving=x)  # <- here")),
    ("tensor.matmul_operand", "", k(PSUM + "nisa.nc_matmul(dst=x, stationary=p, moving=x)  # <- here")),
    ("tensor.psum_dma", "", k(PSUM + "nisa.dma_copy(dst=x, src=p)  # <- here")),
    ("tensor.output", "", k("y = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.hbm)\nreturn y  # <- here")),
    ("tensor.output_on_chip", "", k(SBUF + "return t  # <- here")),
    ("tensor.memset_value", "", k("t = nl.ndarray((4, 4), dtype=nl.int32, buffer=nl.sbuf)\n"
                                  "nisa.memset(dst=t, value=2.0)  # <- here")),
    ("tensor.memset_x4", "", k("t = nl.ndarray((4, 4), dtype=nl.float8_e5m2_x4, buffer=nl.sbuf)\n"
                               "nisa.memset(dst=t, value=1)  # <- here")),
    ("tensor.reshape", "", k(SBUF + "u = t.reshape((128, 60))  # <- here")),
    ("tensor.nested_index", "0.2", k(SBUF + "nisa.tensor_copy(dst=x, src=t[0:64][0:32])  # <- here")),
    ("tensor.hwdge_dtype", "", k(SBUF + "u = nl.ndarray((128, 64), dtype=nl.bfloat16, buffer=nl.sbuf)\n"
                                 "nisa.dma_copy(dst=u, src=t, dge_mode=nisa.dge_mode.hwdge)  # <- here")),
    ("tensor.dma_transpose_rank", "", k(SBUF + "u = nl.ndarray((64, 1, 128), dtype=nl.float32, buffer=nl.sbuf)\n"
                                        "nisa.dma_transpose(dst=u, src=t)  # <- here")),
]

LANGUAGE = [
    ("language.divide", "", k("y = nl.divide(x, x)  # <- here")),
    ("language.mod", "", k("y = nl.fmod(x, x)  # <- here")),
    ("language.power", "", k("y = nl.power(x, 2.0)  # <- here")),
    ("language.matmul", "", k("y = nl.matmul(x, x)  # <- here")),
    ("language.random_seed", "", k("nl.random_seed(42)  # <- here")),
    ("language.store_psum", "", k(PSUM + "nl.store(x, p)  # <- here")),
    ("language.rsqrt_psum", "", k(PSUM + "y = nl.rsqrt(p)  # <- here")),
    ("language.broadcast", "", k(SBUF + "u = nl.ndarray((128, 1), dtype=nl.float32)\ny = nl.add(t, u)  # <- here")),
]

_OLD_TILE = "t = nl.zeros((128, 64), dtype=nl.float32, buffer=nl.sbuf)\n"
OLD = [
    ("beta1.loop_branch", "",
     k("for i in nl.affine_range(4):\n    if i == 0:  # <- here\n        pass", head=OLD_HEAD)),
    ("beta1.loop_count", "", k("n = 0\nfor i in nl.affine_range(4):\n    n += 1  # <- here", head=OLD_HEAD)),
    ("beta1.ended_loop", "", k("for i in nl.affine_range(4):\n    pass\nnl.store(x[i], 1)  # <- here", head=OLD_HEAD)),
    ("beta1.affine_carried", "", k(_OLD_TILE + "for i in nl.affine_range(4):\n    t[...] += nl.load(x)  # <- here",
                                   head=OLD_HEAD)),
    ("tensor.matmul_dst", "", k(_OLD_TILE + "t[...] += nisa.nc_matmul(x, x)  # <- here", head=OLD_HEAD)),
]

SEEDED = [*STATEMENTS, *EXPRESSIONS, *CLASSES, *CALLS, *LOOPS, *RELEASES, *TENSORS, *LANGUAGE, *OLD]
