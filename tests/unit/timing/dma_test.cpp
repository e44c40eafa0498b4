// DMA: what a transfer costs, what a queue serialises, and what all queues share.
#include <cmath>

#include "scene.h"

namespace trnsim::timing {
namespace {

// One engine per partition group moves its share: fixed costs of the transfer and of each
// descriptor, then bytes at the sustained rate.
Picoseconds moving(const catalog::Dma& dma, double descriptors, double bytes_each) {
  const double cuts = std::ceil(bytes_each / dma.descriptor_payload_max);
  return from_ns(dma.transfer_fixed +
                 descriptors * (cuts * dma.descriptor_fixed + bytes_each / dma.sustained_rate));
}

// From the last byte of the engine that is served last until others know: many engines do not begin
// together.
Picoseconds told(const catalog::Dma& dma) { return from_ns(dma.spread + dma.completion_latency); }

TEST(Dma, a_load_is_issue_trigger_data_and_completion) {
  Scene scene;
  const auto load = scene.dma(sbuf(0, 512), scene.hbm(128, 512));
  const catalog::Dma& dma = scene.core().dma;
  const Entry& entry = scene.at(load);
  EXPECT_EQ(entry.start.count, 0);
  EXPECT_EQ(entry.busy_end.count, from_ns(dma.issue).count);
  EXPECT_EQ(entry.prelude.count, (from_ns(dma.issue) + from_ns(dma.trigger_latency)).count);
  const Picoseconds data = moving(dma, dma.partitions_per_engine, 2048);
  EXPECT_EQ(entry.end.count, (entry.prelude + data + told(dma)).count);
}

// Pieces are counted in elements, whichever side's type is wider, and each side of the HBM in its
// own bytes.
TEST(Dma, a_copy_that_converts_has_as_many_pieces_as_its_shorter_side_has_runs) {
  for (const auto& [narrow, wide] : {std::pair{Dtype::kFloat8E4M3, Dtype::kBfloat16},
                                     {Dtype::kBfloat16, Dtype::kFloat32},
                                     {Dtype::kFloat8E4M3, Dtype::kFloat32}}) {
    Scene scene;
    Tile rows = scene.hbm(128, 8 * 352, narrow);  // 8 rows of 352 elements for each partition
    rows.dims = 3;
    rows.sizes = {128, 8, 352};
    rows.strides = {352 * rows.element_bytes(), 128 * 352 * rows.element_bytes(),
                    rows.element_bytes()};
    const auto load = scene.dma(sbuf(0, 8 * 352, 128, wide), rows);
    const auto store = scene.dma(rows, sbuf(65536, 8 * 352, 128, wide));
    EXPECT_EQ(scene.timeline().dma_elements, 2 * 128 * 8);
    const Tile wider = sbuf(0, 8 * 352, 128, wide);
    EXPECT_EQ(scene.timeline().dma_bytes, 2 * wider.bytes());
    EXPECT_EQ(scene.timeline().hbm_bytes, 2 * rows.bytes());
    const catalog::Dma& dma = scene.core().dma;
    const Picoseconds data =
        moving(dma, 8 * dma.partitions_per_engine, 352.0 * wider.element_bytes());
    for (const auto i : {load, store})
      EXPECT_EQ((scene.at(i).end - told(dma) - scene.at(i).served_from).count, data.count);
  }
}

TEST(Dma, a_store_has_its_own_trigger_latency) {
  Scene scene;
  const auto store = scene.dma(scene.hbm(128, 512), sbuf(0, 512));
  const catalog::Dma& dma = scene.core().dma;
  EXPECT_EQ(scene.at(store).prelude.count,
            (from_ns(dma.issue) + from_ns(dma.store_trigger_latency)).count);
}

TEST(Dma, the_queue_is_free_after_the_issue_and_the_next_transfer_then_waits_for_the_engines) {
  Scene scene;
  const auto first = scene.dma(sbuf(0, 8192), scene.hbm(128, 8192));
  const auto second = scene.dma(sbuf(65536, 512), scene.hbm(128, 512));
  const catalog::Dma& dma = scene.core().dma;
  expect_start(scene, second, scene.at(first).busy_end, Wait::kEngine, first);
  const Picoseconds first_done = scene.at(first).end - told(dma);
  EXPECT_EQ(scene.at(second).served_after, first);
  EXPECT_EQ(scene.at(second).served_from.count, first_done.count);
  const Picoseconds data = moving(dma, dma.partitions_per_engine, 2048);
  EXPECT_EQ(scene.at(second).end.count, (first_done + data + told(dma)).count);
}

TEST(Dma, transfers_of_different_partitions_use_different_engines) {
  Scene scene;
  const auto per_engine = static_cast<int>(scene.core().dma.partitions_per_engine);
  Tile low = sbuf(0, 8192, per_engine), high = low;
  high.start_partition = static_cast<std::uint16_t>(per_engine);
  const auto first = scene.dma(low, scene.hbm(per_engine, 8192));
  const auto second = scene.dma(high, scene.hbm(per_engine, 8192));
  EXPECT_EQ(scene.at(second).served_after, kNobody);
  EXPECT_EQ((scene.at(second).end - scene.at(second).start).count,
            (scene.at(first).end - scene.at(first).start).count);
}

TEST(Dma, many_short_pieces_cost_a_descriptor_each) {
  Scene scene;
  Tile every_other = scene.hbm(128, 1024);
  every_other.sizes[1] = 512;
  every_other.strides[1] *= 2;
  const auto whole = scene.dma(sbuf(0, 512), scene.hbm(128, 512));
  const auto pieces = scene.dma(sbuf(32768, 512), every_other);
  const catalog::Dma& dma = scene.core().dma;
  const auto data = [&](std::uint32_t i) {
    return (scene.at(i).end - told(dma) - scene.at(i).served_from).count;
  };
  EXPECT_EQ(data(whole), moving(dma, dma.partitions_per_engine, 2048).count);
  EXPECT_EQ(data(pieces), moving(dma, dma.partitions_per_engine * 512, 4).count);
  EXPECT_EQ(scene.timeline().dma_elements, 128 + 128 * 512);
}

TEST(Dma, descriptors_built_in_software_keep_the_queue_busy) {
  Scene scene;
  const auto i = scene.dma(sbuf(0, 512), scene.hbm(128, 512), isa::DgeMode::kSoftware);
  EXPECT_EQ(scene.at(i).busy_end.count, from_ns(scene.core().dma.software_descriptor * 128).count);
}

// Made as the transfers run, descriptors come one transfer after the other, whatever their queue.
TEST(Dma, a_generator_paces_loads_and_stores_together) {
  Scene scene;
  const auto load = scene.dma(sbuf(0, 1), scene.hbm(128, 1), isa::DgeMode::kHardware);
  const auto store = scene.dma(scene.hbm(128, 1), sbuf(65536, 1), isa::DgeMode::kUnknown);
  const Picoseconds issue = from_ns(*scene.core().dma.hardware_issue);
  EXPECT_EQ(scene.at(load).busy_end.count, issue.count);
  expect_start(scene, store, issue, Wait::kEngine, load);
}

TEST(Dma, prebuilt_descriptors_wait_for_no_generator) {
  Scene scene;
  scene.dma(sbuf(0, 1), scene.hbm(128, 1), isa::DgeMode::kHardware);
  const auto store = scene.dma(scene.hbm(128, 1), sbuf(65536, 1), isa::DgeMode::kNone);
  expect_start(scene, store, {}, Wait::kNothing, kNobody);
}

TEST(Dma, loads_and_stores_are_queues_of_their_own) {
  Scene scene;
  const auto writer = scene.copy(sbuf(0, 4096), sbuf(65536, 4096), Engine::kGpsimd);
  const auto store = scene.dma(scene.hbm(128, 4096), sbuf(0, 4096));
  const auto load = scene.dma(sbuf(98304, 512), scene.hbm(128, 512));
  expect_start(scene, store, scene.at(writer).end + scene.semaphore(), Wait::kData, writer);
  expect_start(scene, load, {}, Wait::kNothing, kNobody);
}

TEST(Dma, a_consumer_starts_at_the_notification_without_a_further_semaphore) {
  Scene scene;
  const auto load = scene.dma(sbuf(0, 512), scene.hbm(128, 512));
  const auto reader = scene.copy(sbuf(65536, 512), sbuf(0, 512));
  expect_start(scene, reader, scene.at(load).end, Wait::kData, load);
}

TEST(Dma, a_load_into_a_tile_waits_for_its_reader) {
  Scene scene;
  const auto reader = scene.copy(sbuf(65536, 4096), sbuf(0, 4096));
  const auto load = scene.dma(sbuf(0, 512), scene.hbm(128, 512));
  expect_start(scene, load, scene.at(reader).busy_end + scene.semaphore(), Wait::kReuse, reader);
}

TEST(Dma, slow_memory_bounds_the_transfer_and_serialises_all_of_them) {
  Scene scene;
  scene.chip.hbm.bandwidth.value = 10;  // GB/s, less than one engine moves
  const auto first = scene.dma(sbuf(0, 512, 8), scene.hbm(8, 512));
  Tile other = sbuf(0, 512, 8);
  other.start_partition = 64;
  const auto second = scene.dma(other, scene.hbm(8, 512));
  const Picoseconds completion = from_ns(scene.core().dma.completion_latency);
  const Picoseconds time = from_ns(8 * 2048 / 10.0);
  const Picoseconds first_done = scene.at(first).end - completion;
  EXPECT_EQ(first_done.count, (scene.at(first).prelude + time).count);
  EXPECT_EQ(scene.at(second).served_after, first);
  EXPECT_EQ(scene.at(second).end.count, (first_done + time + completion).count);
}

TEST(Dma, within_hbm_every_byte_crosses_twice) {
  Scene scene;
  scene.chip.hbm.bandwidth.value = 10;
  const auto i = scene.dma(scene.hbm(128, 512), scene.hbm(128, 512));
  const Entry& entry = scene.at(i);
  EXPECT_EQ(entry.queue, Queue::kDmaLocal);
  // Rows within HBM are not spread over the engines of partitions.
  const Picoseconds completion = from_ns(scene.core().dma.completion_latency);
  const Picoseconds data = entry.end - completion - entry.start - entry.prelude;
  EXPECT_EQ(data.count, from_ns(2 * 128 * 2048 / 10.0).count);
  EXPECT_EQ(scene.timeline().hbm_bytes, 2 * 128 * 2048);
}

}  // namespace
}  // namespace trnsim::timing
