// Data hazards: what an instruction must wait for, to the byte, and how long the signal takes.
#include "scene.h"

namespace trnsim::timing {
namespace {

TEST(Hazard, a_reader_waits_for_the_result_and_the_semaphore) {
  Scene scene;
  const auto writer = scene.copy(sbuf(0, 512), sbuf(32768, 512), Engine::kVector);
  const auto reader = scene.copy(sbuf(65536, 512), sbuf(0, 512), Engine::kScalar);
  expect_start(scene, reader, scene.at(writer).end + scene.semaphore(), Wait::kData, writer);
}

TEST(Hazard, a_reader_on_the_same_engine_needs_no_semaphore) {
  Scene scene;
  const auto writer = scene.copy(sbuf(0, 512), sbuf(32768, 512));
  const auto reader = scene.copy(sbuf(65536, 512), sbuf(0, 512));
  expect_start(scene, reader, scene.at(writer).end, Wait::kData, writer);
}

TEST(Hazard, overwriting_waits_for_readers_to_finish_reading_but_not_for_their_results) {
  Scene scene;
  const auto reader = scene.copy(sbuf(65536, 2048), sbuf(0, 2048), Engine::kGpsimd);
  const auto writer = scene.copy(sbuf(0, 512), sbuf(32768, 512), Engine::kVector);
  expect_start(scene, writer, scene.at(reader).busy_end + scene.semaphore(), Wait::kReuse, reader);
}

TEST(Hazard, overwriting_waits_for_the_earlier_writers_result) {
  Scene scene;
  const auto first = scene.copy(sbuf(0, 2048), sbuf(32768, 2048), Engine::kGpsimd);
  const auto second = scene.copy(sbuf(0, 512), sbuf(65536, 512), Engine::kVector);
  expect_start(scene, second, scene.at(first).end + scene.semaphore(), Wait::kReuse, first);
}

TEST(Hazard, on_one_engine_overwriting_needs_no_wait_because_writes_stay_in_order) {
  Scene scene;
  const auto first = scene.copy(sbuf(0, 512), sbuf(32768, 512));
  const auto second = scene.copy(sbuf(0, 512), sbuf(65536, 512));
  expect_start(scene, second, scene.at(first).busy_end, Wait::kEngine, first);
}

TEST(Hazard, an_order_that_the_kernel_asks_for_waits_for_the_producers_end) {
  Scene scene;
  const auto producer = scene.copy(sbuf(0, 512), sbuf(32768, 512), Engine::kVector);
  const auto beside = scene.copy(sbuf(65536, 512), sbuf(98304, 512), Engine::kScalar);
  const auto consumer = scene.copy(sbuf(131072, 16), sbuf(163840, 16), Engine::kGpsimd);
  const auto same_engine = scene.copy(sbuf(147456, 16), sbuf(163840, 16), Engine::kVector);
  scene.program.depend(consumer, producer);
  scene.program.depend(same_engine, producer);
  expect_start(scene, beside, {}, Wait::kNothing, kNobody);
  expect_start(scene, consumer, scene.at(producer).end + scene.semaphore(), Wait::kData, producer);
  expect_start(scene, same_engine, scene.at(producer).end, Wait::kData, producer);
}

TEST(Hazard, two_readers_do_not_wait_for_each_other) {
  Scene scene;
  scene.copy(sbuf(32768, 512), sbuf(0, 512), Engine::kVector);
  const auto second = scene.copy(sbuf(65536, 512), sbuf(0, 512), Engine::kScalar);
  expect_start(scene, second, {}, Wait::kNothing, kNobody);
}

TEST(Hazard, neighbouring_bytes_are_independent_and_one_shared_byte_is_not) {
  Scene scene;
  const auto writer = scene.copy(sbuf(0, 512), sbuf(32768, 512), Engine::kVector);
  const auto beside = scene.copy(sbuf(65536, 512), sbuf(2048, 512), Engine::kScalar);
  const auto last = scene.copy(sbuf(98304, 1), sbuf(2044, 1), Engine::kGpsimd);
  expect_start(scene, beside, {}, Wait::kNothing, kNobody);
  expect_start(scene, last, scene.at(writer).end + scene.semaphore(), Wait::kData, writer);
}

TEST(Hazard, interleaved_strides_that_share_no_byte_are_independent) {
  Scene scene;
  const auto even = scene.copy(strided(sbuf(0, 256), 2), sbuf(32768, 256), Engine::kVector);
  const auto odd = scene.copy(strided(sbuf(4, 256), 2), sbuf(65536, 256), Engine::kScalar);
  const auto reads_odd = scene.copy(sbuf(98304, 256), strided(sbuf(4, 256), 2), Engine::kGpsimd);
  EXPECT_EQ(scene.at(even).start.count, 0);
  expect_start(scene, odd, {}, Wait::kNothing, kNobody);
  expect_start(scene, reads_odd, scene.at(odd).end + scene.semaphore(), Wait::kData, odd);
}

TEST(Hazard, disjoint_partitions_are_independent) {
  Scene scene;
  Tile low = sbuf(0, 512, 64), high = sbuf(0, 512, 64);
  high.start_partition = 64;
  scene.copy(low, sbuf(32768, 512, 64), Engine::kVector);
  const auto other = scene.copy(sbuf(65536, 512, 64), high, Engine::kScalar);
  expect_start(scene, other, {}, Wait::kNothing, kNobody);
}

TEST(Hazard, hbm_tensors_are_told_apart_and_their_rows_too) {
  Scene scene;
  const Tile a = scene.hbm(128, 512), b = scene.hbm(128, 512);
  Tile top = a, bottom = a;
  top.sizes[0] = bottom.sizes[0] = 64;
  bottom.offset = 64 * a.strides[0];
  const auto store = scene.dma(top, sbuf(0, 512, 64));
  const auto other_tensor = scene.dma(sbuf(32768, 512), b);
  const auto other_rows = scene.dma(sbuf(65536, 512, 64), bottom);
  const auto same_rows = scene.dma(sbuf(98304, 512, 64), top);
  EXPECT_EQ(scene.at(other_tensor).start.count, 0);
  EXPECT_EQ(scene.at(other_rows).start.count, scene.at(other_tensor).busy_end.count);
  expect_start(scene, same_rows, scene.at(store).end, Wait::kData, store);
}

TEST(Hazard, among_many_accesses_the_right_one_is_found) {
  Scene scene;
  std::vector<std::uint32_t> writers;
  for (int i = 0; i < 200; ++i)
    writers.push_back(scene.copy(sbuf(4 * i, 1), sbuf(32768 + 4 * i, 1)));
  const auto reader = scene.copy(sbuf(65536, 1), sbuf(4 * 20, 1), Engine::kScalar);
  expect_start(scene, reader, scene.at(writers[20]).end + scene.semaphore(), Wait::kData,
               writers[20]);
}

TEST(Hazard, what_is_updated_in_place_is_read_too) {
  Scene scene;
  const auto update = [&] {
    return scene.issue(
        "tensor_copy_predicated",
        {{"dst", sbuf(0, 512)}, {"src", sbuf(32768, 512)}, {"predicate", sbuf(65536, 512)}});
  };
  const auto first = update();
  const auto second = update();
  expect_start(scene, second, scene.at(first).end, Wait::kData, first);
}

TEST(Hazard, a_tile_longer_than_many_pages_is_still_seen) {
  Scene scene;
  const auto writer = scene.copy(sbuf(0, 16384), sbuf(65536, 16384), Engine::kVector);
  const auto reader = scene.copy(sbuf(163840, 1), sbuf(65532, 1), Engine::kScalar);
  expect_start(scene, reader, scene.at(writer).end + scene.semaphore(), Wait::kData, writer);
}

}  // namespace
}  // namespace trnsim::timing
