"""Reports about what fits where: addresses by hand, capacity, partitions, windows that leave the image."""

import neuronxcc.nki as nki1
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa1
import neuronxcc.nki.language as nl1
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
import trnsim


@pytest.mark.parametrize("address", (0, 1024, 65536))
def test_exp_with_sbuf_alone_placed_by_hand(address):
    """No PSUM tensor at all: nothing that a back end could trip over."""

    @nki1.jit
    def kernel(x):
        out = nl1.ndarray(x.shape, dtype=x.dtype, buffer=nl1.shared_hbm)
        tile = nl1.ndarray(x.shape, dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=address))
        zero = nl1.ndarray((128, 1), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=address + 4096))
        zero[...] = nisa1.memset((128, 1), 0.0, dtype=x.dtype)
        tile[...] = nl1.load(x)
        tile[...] = nisa1.activation(np.exp, tile, bias=zero)
        nl1.store(out, tile)
        return out

    x = np.random.default_rng(0).uniform(-3, 3, (128, 512)).astype(np.float32)
    np.testing.assert_allclose(kernel(x), np.exp(x), rtol=2e-7)


@pytest.mark.parametrize("tiles, fits", [(50, True), (100, False), (1000, False)])
def test_too_many_physical_tiles_are_refused_in_bytes(tiles, fits, refused):
    @nki1.jit
    def kernel(x):
        out = nl1.ndarray(x.shape, dtype=x.dtype, buffer=nl1.shared_hbm)
        buffer = ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(tiles,))
        tile = nl1.ndarray((len(x), nl1.par_dim(1), 1000), dtype=x.dtype, buffer=buffer)
        for i in nl1.affine_range(len(x)):
            tile[i] = nl1.load(x[nl1.ds(i, 1), :])
            nl1.store(out[nl1.ds(i, 1), :], tile[i])
        return out

    x = np.ones((min(tiles, 256), 1000), np.float32)
    if fits:
        np.testing.assert_array_equal(kernel(x), x)
    else:
        with refused("memory.address", "4000 bytes", "SBUF partition has"):
            kernel(x)


@pytest.mark.parametrize("chip, usable", [("trn1", 180_224), ("trn2", 212_984)])
def test_what_fits_a_partition_is_known_to_the_byte(chip, usable, refused):
    """Two operands and a result: 198,024 bytes fit no partition of Trainium1, and fit one of Trainium2."""
    trnsim.install(chip=chip)
    sizes = (98_568, 98_568, 888)

    @nki.jit
    def kernel(x, sizes):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tiles = [nl.ndarray((128, n), dtype=nl.uint8, buffer=nl.sbuf, name=f"tile{i}") for i, n in enumerate(sizes)]
        for tile in tiles * 2:  # all of them live at once
            nisa.memset(tile, 0)
        nisa.dma_copy(dst=out, src=x)
        return out

    x = np.zeros((1, 1), np.uint8)
    if sum(sizes) <= usable:
        kernel(x, sizes)
    else:
        with refused("memory.capacity", f"has {usable}", "98568", "tile0"):
            kernel(x, sizes)
    kernel(x, (usable // 2 // 32 * 32, usable // 2 // 32 * 32))
    peak = trnsim.last_profile()._json["runs"][0]["memory"]["sbuf_peak_bytes_per_partition"]
    assert peak == 2 * (usable // 2 // 32 * 32)


PLACES = [(start, count) for start in (0, 32, 64, 96, 17) for count in (32, 33, 64, 65) if start + count <= 128]


@pytest.mark.parametrize("start, count", PLACES)
@pytest.mark.parametrize("engine", ("vector", "scalar", "gpsimd"))
def test_partitions_where_a_copy_may_start(start, count, engine, refused):
    legal = start == 0 or (start % 64 == 0 and count <= 64) or (start % 32 == 0 and count <= 32)

    @nki.jit
    def kernel(x):
        out = nl.ndarray((count, 4), dtype=x.dtype, buffer=nl.shared_hbm)
        tile, copy = (nl.ndarray((128, 4), dtype=x.dtype, buffer=nl.sbuf) for _ in range(2))
        nisa.dma_copy(dst=tile, src=x)
        part = copy[start : start + count]
        nisa.tensor_copy(dst=part, src=tile[start : start + count], engine=getattr(nisa, f"{engine}_engine"))
        nisa.dma_copy(dst=out, src=part)
        return out

    x = np.arange(512, dtype=np.float32).reshape(128, 4)
    if legal:
        np.testing.assert_array_equal(kernel(x), x[start : start + count])
    else:
        with refused("tensor_copy.start_partition", f"partition {start}", "multiple of"):
            kernel(x)


@pytest.mark.parametrize("start", (0, 17, 31, 96))
def test_dma_may_start_at_any_partition(start):
    @nki.jit
    def kernel(x):
        out = nl.ndarray((32, 4), dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray((128, 4), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile[start : start + 32], src=x)
        nisa.dma_copy(dst=out, src=tile[start : start + 32])
        return out

    x = np.arange(128, dtype=np.float32).reshape(32, 4)
    np.testing.assert_array_equal(kernel(x), x)


@pytest.mark.parametrize("row, inside", [(0, True), (217, True), (218, False)])
def test_a_window_that_leaves_the_image_names_index_and_bound(row, inside, refused):
    @nki.jit
    def kernel(image, row):
        out = nl.ndarray((7, 7), dtype=image.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray((7, 7), dtype=image.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=image[nl.ds(row, 7), nl.ds(row, 7)])
        nisa.dma_copy(dst=out, src=tile)
        return out

    image = np.arange(224 * 224, dtype=np.float32).reshape(224, 224)
    if inside:
        np.testing.assert_array_equal(kernel(image, row), image[row : row + 7, row : row + 7])
    else:
        with refused("tensor.out_of_bounds", "224", "218"):
            kernel(image, row)


def test_the_product_must_go_to_psum(refused):
    @nki.jit
    def kernel(x):
        tile, result = (nl.ndarray((64, 64), dtype=x.dtype, buffer=nl.sbuf) for _ in range(2))
        nisa.dma_copy(dst=tile, src=x)
        nisa.nc_matmul(dst=result, stationary=tile, moving=tile)
        return result

    with refused("nc_matmul.buffer", "dst is in SBUF", "must be in PSUM"):
        kernel(np.zeros((64, 64), np.float32))


def test_sbuf_is_reported_over_time_and_evenly():
    """A tiled product: the tiles live and end where the program says, all partitions alike."""

    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((256, 512), dtype=nl.float32, buffer=nl.shared_hbm)
        for m in range(2):
            psum = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in range(2):
                left = nl.ndarray((128, 128), dtype=a.dtype, buffer=nl.sbuf)
                right = nl.ndarray((128, 512), dtype=b.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=left, src=a[k * 128 : k * 128 + 128, m * 128 : m * 128 + 128])
                nisa.dma_copy(dst=right, src=b[k * 128 : k * 128 + 128])
                nisa.nc_matmul(dst=psum, stationary=left, moving=right)
            result = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=psum)
            nisa.dma_copy(dst=out[m * 128 : m * 128 + 128], src=result)
        return out

    a, b = (np.random.default_rng(i).integers(-3, 3, (256, n)).astype(np.float32) for i, n in enumerate((256, 512)))
    np.testing.assert_array_equal(kernel(a, b), a.T @ b)
    memory = trnsim.last_profile()._json["runs"][0]["memory"]
    # At most the last operands, the next ones and a result are alive at once.
    assert 4608 <= memory["sbuf_peak_bytes_per_partition"] <= 2 * (512 + 2048) + 2048
    assert memory["psum_peak_bytes_per_partition"] in (2048, 4096)
