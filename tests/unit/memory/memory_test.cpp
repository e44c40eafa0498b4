// The life of tensors: their places, what was written into them, and what overwrote it.
#include "memory/memory.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "memory/tensor.h"
#include "patterns.h"

namespace trnsim::memory {
namespace {

using testing::HasSubstr;

class OnChip : public testing::Test {
 protected:
  std::shared_ptr<Memory> memory = small_chip();

  std::shared_ptr<Allocation> sbuf(const char* name, std::int64_t bytes, int partitions = 8) {
    return memory->allocate(Space::kSbuf, name, partitions, bytes);
  }
  std::shared_ptr<Allocation> at(const char* name, std::int64_t offset, std::int64_t bytes,
                                 Overlap overlap, int start_partition = 0, int partitions = 8) {
    return memory->allocate_at(Space::kSbuf, name, partitions, bytes, start_partition, offset,
                               overlap);
  }
  // `count` bytes of each of the tensor's partitions, from `from`.
  static AccessPattern part(const std::shared_ptr<Allocation>& tensor, std::int64_t from,
                            int count) {
    tensor->ensure_placed();
    AccessPattern p =
        rows(tensor->start_partition, tensor->partitions, tensor->offset + from, {{1, count}});
    p.space = tensor->space;
    p.tensor = tensor->id;
    return p;
  }
  static AccessPattern all(const std::shared_ptr<Allocation>& tensor) {
    return part(tensor, 0, static_cast<int>(tensor->bytes));
  }
  std::string read(const AccessPattern& p) {
    return broken_rule([&] { memory->require_written(p, "src"); });
  }
};

TEST_F(OnChip, a_tile_takes_its_place_at_its_first_use) {
  std::vector<std::string> placed;
  memory->on_place = [&](const Allocation& a) { placed.push_back(a.name); };
  const auto first = sbuf("first", 64), second = sbuf("second", 64);
  EXPECT_TRUE(placed.empty());
  EXPECT_EQ(memory->placement(Space::kSbuf).used(), 0);
  second->ensure_placed();
  first->ensure_placed();
  first->ensure_placed();
  EXPECT_EQ(placed, (std::vector<std::string>{"second", "first"}));
  EXPECT_EQ(second->offset, 0);
  EXPECT_EQ(first->offset, 64);
}

TEST_F(OnChip, a_name_bound_anew_needs_no_room_for_both_tiles) {
  auto tile = sbuf("tile", 1024);
  tile->ensure_placed();
  tile = sbuf("tile", 1024);
  tile->ensure_placed();
  EXPECT_EQ(tile->offset, 0);
}

TEST_F(OnChip, a_tile_unused_for_longest_gives_way_and_comes_back_with_its_bytes) {
  const auto old = sbuf("old", 512), other = sbuf("other", 512), large = sbuf("large", 600);
  const auto use = [&](const std::shared_ptr<Allocation>& tile) {
    tile->ensure_placed();
    memory->next_instruction();
  };
  use(old);
  std::fill_n(memory->data(all(old)), 512, std::byte{7});
  memory->mark_written(all(old));
  use(other);
  use(large);
  EXPECT_FALSE(old->placed || other->placed);
  EXPECT_FALSE(memory->brought_back());
  use(old);
  EXPECT_TRUE(memory->brought_back());
  EXPECT_FALSE(large->placed);
  EXPECT_EQ(read(all(old)), "");
  EXPECT_EQ(memory->data(all(old))[511], std::byte{7});
}

TEST_F(OnChip, no_tile_gives_way_that_the_instruction_takes_or_whose_address_somebody_knows) {
  const auto first = sbuf("first", 512), second = sbuf("second", 512), third = sbuf("third", 512);
  first->ensure_placed();
  first->pinned = true;
  memory->next_instruction();
  second->ensure_placed();
  EXPECT_EQ(broken_rule([&] { third->ensure_placed(); }), "memory.capacity");
  memory->next_instruction();
  EXPECT_EQ(broken_rule([&] { third->ensure_placed(false); }), "memory.capacity");
  third->ensure_placed();
  EXPECT_TRUE(first->placed && !second->placed);
}

TEST_F(OnChip, a_released_tile_gives_its_bytes_back_and_says_so) {
  std::vector<std::uint32_t> released;
  memory->on_release = [&](std::uint32_t id) { released.push_back(id); };
  auto tile = sbuf("tile", 64);
  const auto id = tile->id;
  tile->ensure_placed();
  EXPECT_EQ(memory->placement(Space::kSbuf).used(), 64);
  tile.reset();
  EXPECT_EQ(memory->placement(Space::kSbuf).used(), 0);
  EXPECT_EQ(memory->placement(Space::kSbuf).peak(), 64);
  EXPECT_EQ(released, std::vector{id});
}

TEST_F(OnChip, a_tensor_without_a_name_is_called_by_its_number) {
  EXPECT_EQ(sbuf("", 64)->name, "t1");
  EXPECT_EQ(memory->allocate_hbm("", 64)->name, "t2");
}

TEST_F(OnChip, a_tile_larger_than_the_memory_is_refused_at_once) {
  EXPECT_EQ(broken_rule([&] { sbuf("huge", 1025); }), "memory.capacity");
  EXPECT_EQ(broken_rule([&] { sbuf("whole", 1024)->ensure_placed(); }), "");
  EXPECT_EQ(broken_rule([&] { memory->allocate(Space::kPsum, "huge", 8, 513); }),
            "memory.capacity");
}

TEST_F(OnChip, an_overflow_lists_the_live_tensors_largest_first) {
  const auto small = sbuf("small", 96), big = sbuf("big", 800), unplaced = sbuf("unplaced", 32);
  small->ensure_placed();
  big->ensure_placed();
  const auto late = sbuf("late", 256);
  EXPECT_EQ(broken_rule([&] { late->ensure_placed(); }), "memory.capacity");
  const std::string text = refusal([&] { late->ensure_placed(); });
  EXPECT_THAT(text, HasSubstr("SBUF overflow: tile 'late' needs 256 bytes in each partition"));
  EXPECT_THAT(text, HasSubstr("of 1024 bytes only 128 are free"));
  EXPECT_THAT(text, HasSubstr("largest first: big [8 x 800 B at 96], small [8 x 96 B at 0]."));
}

TEST_F(OnChip, an_overflow_lists_at_most_twelve_tensors) {
  std::vector<std::shared_ptr<Allocation>> tiles;
  for (int i = 0; i < 15; ++i) {
    tiles.push_back(sbuf("tile", 64));
    tiles.back()->ensure_placed();
  }
  EXPECT_THAT(refusal([&] { sbuf("late", 128)->ensure_placed(); }), HasSubstr(" and 3 more."));
}

TEST_F(OnChip, a_tile_of_a_launch_that_has_ended_has_no_place) {
  const auto tile = sbuf("tile", 64);
  memory.reset();
  EXPECT_EQ(broken_rule([&] { tile->ensure_placed(); }), "tensor.freed");
}

TEST_F(OnChip, an_address_outside_the_memory_is_refused) {
  EXPECT_EQ(broken_rule([&] { at("a", 1000, 64, Overlap::kShared); }), "memory.address");
  EXPECT_EQ(broken_rule([&] { at("a", -32, 64, Overlap::kShared); }), "memory.address");
  EXPECT_EQ(broken_rule([&] { at("a", 0, 64, Overlap::kShared, 4, 5); }), "memory.address");
  EXPECT_EQ(broken_rule([&] { at("a", 0, 64, Overlap::kShared, -1, 4); }), "memory.address");
  EXPECT_EQ(memory->placement(Space::kSbuf).used(), 0);
  EXPECT_EQ(broken_rule([&] { at("a", 960, 64, Overlap::kShared, 4, 4); }), "");
}

TEST_F(OnChip, automatic_tiles_keep_clear_of_explicit_addresses) {
  const auto fixed = at("fixed", 0, 512, Overlap::kShared);
  const auto tile = sbuf("tile", 512);
  tile->ensure_placed();
  EXPECT_EQ(tile->offset, 512);
}

TEST_F(OnChip, reading_what_nobody_wrote_names_the_operand_and_the_byte) {
  const auto tile = sbuf("scores", 64);
  memory->mark_written(part(tile, 0, 40));
  EXPECT_EQ(read(part(tile, 0, 40)), "");
  EXPECT_EQ(read(part(tile, 8, 40)), "memory.never_written");
  EXPECT_THAT(refusal([&] { memory->require_written(all(tile), "src"); }),
              HasSubstr("src reads SBUF tensor 'scores' at partition 0, byte 40, which was never"));
  memory->mark_written(part(tile, 40, 24));
  EXPECT_EQ(read(all(tile)), "");
}

TEST_F(OnChip, a_new_tile_in_the_place_of_an_old_one_is_unwritten) {
  auto tile = sbuf("old", 1024);
  memory->mark_written(all(tile));
  tile = sbuf("new", 1024);
  EXPECT_EQ(read(all(tile)), "memory.never_written");
}

TEST_F(OnChip, hbm_tensors_know_their_written_bytes_too) {
  const auto tensor = memory->allocate_hbm("x", 64);
  AccessPattern left = hbm(0, {{16, 4}, {1, 8}}), whole = hbm(0, {{1, 64}});
  left.tensor = whole.tensor = tensor->id;
  EXPECT_FALSE(tensor->modified);
  memory->mark_written(left);
  EXPECT_TRUE(tensor->modified);
  EXPECT_EQ(read(left), "");
  EXPECT_THAT(refusal([&] { memory->require_written(whole, "src"); }),
              HasSubstr("HBM tensor 'x' at partition 0, byte 8"));
}

TEST_F(OnChip, shared_tensors_see_each_others_bytes) {
  const auto a = at("a", 0, 64, Overlap::kShared), b = at("b", 32, 64, Overlap::kShared);
  memory->mark_written(all(a));
  EXPECT_EQ(read(all(a)), "");
  EXPECT_EQ(read(part(b, 0, 32)), "");
  EXPECT_EQ(read(part(b, 0, 33)), "memory.never_written");
  memory->mark_written(all(b));
  EXPECT_EQ(read(all(a)), "");
  *memory->data(part(a, 40, 1)) = std::byte{7};
  EXPECT_EQ(*memory->data(part(b, 8, 1)), std::byte{7});
}

TEST_F(OnChip, writing_one_clobbering_tensor_invalidates_the_other_where_they_overlap) {
  const auto a = at("a", 0, 64, Overlap::kClobber), b = at("b", 32, 64, Overlap::kClobber);
  memory->mark_written(all(a));
  memory->mark_written(all(b));
  EXPECT_EQ(read(all(b)), "");
  EXPECT_EQ(read(part(a, 0, 32)), "");
  EXPECT_EQ(read(all(a)), "memory.clobbered");
  EXPECT_THAT(refusal([&] { memory->require_written(all(a), "src"); }),
              HasSubstr("tensor 'a' at partition 0, byte 32, but those bytes were overwritten "
                        "through tensor 'b'"));
  memory->mark_written(part(a, 32, 32));
  EXPECT_EQ(read(all(a)), "");
  EXPECT_EQ(read(all(b)), "memory.clobbered");
}

TEST_F(OnChip, only_the_shared_partitions_are_clobbered) {
  const auto a = at("a", 0, 64, Overlap::kClobber, 0, 4);
  const auto b = at("b", 0, 64, Overlap::kClobber, 2, 4);
  memory->mark_written(all(a));
  memory->mark_written(all(b));
  AccessPattern top = all(a);
  top.sizes[0] = 2;
  EXPECT_EQ(read(top), "");
  EXPECT_THAT(refusal([&] { memory->require_written(all(a), "src"); }),
              HasSubstr("at partition 2, byte 0"));
}

TEST_F(OnChip, clobbering_tensors_at_disjoint_addresses_leave_each_other_alone) {
  const auto a = at("a", 0, 64, Overlap::kClobber), b = at("b", 64, 64, Overlap::kClobber);
  const auto c = at("c", 0, 64, Overlap::kClobber, 0, 4);
  const auto d = at("d", 0, 64, Overlap::kClobber, 4, 4);
  memory->mark_written(all(a));
  memory->mark_written(all(b));
  EXPECT_EQ(read(all(a)), "");
  memory->mark_written(all(c));
  memory->mark_written(all(d));
  EXPECT_EQ(read(all(c)), "");
}

TEST_F(OnChip, bytes_overwritten_through_a_tensor_that_is_gone_stay_clobbered) {
  const auto a = at("a", 0, 64, Overlap::kClobber);
  auto b = at("b", 0, 64, Overlap::kClobber);
  memory->mark_written(all(a));
  memory->mark_written(all(b));
  b.reset();
  EXPECT_THAT(refusal([&] { memory->require_written(all(a), "src"); }),
              HasSubstr("through tensor '(freed)'"));
}

TEST_F(OnChip, a_byte_never_written_is_not_called_clobbered_after_a_repair) {
  const auto a = at("a", 0, 64, Overlap::kClobber), b = at("b", 0, 16, Overlap::kClobber);
  memory->mark_written(part(a, 0, 32));
  memory->mark_written(all(b));
  memory->mark_written(part(a, 0, 32));
  EXPECT_EQ(read(all(a)), "memory.never_written");
}

TEST_F(OnChip, a_later_tensor_at_the_address_of_one_that_is_gone_is_unwritten) {
  {
    const auto a = at("a", 0, 64, Overlap::kShared);
    memory->mark_written(all(a));
    EXPECT_EQ(read(all(at("alias", 0, 64, Overlap::kShared))), "");  // while it lives
    EXPECT_EQ(read(all(a)), "");                                     // and when the alias is gone
  }
  EXPECT_EQ(read(all(at("b", 0, 64, Overlap::kShared))), "memory.never_written");
}

TEST_F(OnChip, bytes_that_a_living_tensor_shares_with_one_that_is_gone_stay_written) {
  auto a = at("a", 0, 64, Overlap::kShared, 0, 8);
  const auto b = at("b", 16, 32, Overlap::kShared, 2, 4);
  memory->mark_written(all(a));
  a.reset();
  EXPECT_EQ(read(all(b)), "");
  for (const auto& [byte, bytes, row, rows] :
       {std::tuple{0, 64, 0, 2}, {0, 64, 6, 2}, {0, 16, 2, 4}, {48, 16, 2, 4}}) {
    EXPECT_EQ(read(all(at("part", byte, bytes, Overlap::kShared, row, rows))),
              "memory.never_written");
  }
}

TEST_F(OnChip, a_strided_write_clobbers_only_the_bytes_it_writes) {
  const auto a = at("a", 0, 64, Overlap::kClobber), b = at("b", 0, 64, Overlap::kClobber);
  AccessPattern even = all(a), odd = all(b);
  even.sizes[1] = odd.sizes[1] = 32;
  even.strides[1] = odd.strides[1] = 2;
  odd.offset += 1;
  memory->mark_written(even);
  memory->mark_written(odd);
  EXPECT_EQ(read(even), "");
}

TEST_F(OnChip, an_explicit_address_over_a_live_automatic_tile_is_noticed) {
  const auto tile = sbuf("tile", 64);
  memory->mark_written(all(tile));
  const std::string refused = broken_rule([&] {
    const auto fixed = at("fixed", tile->offset, 64, Overlap::kClobber);
    memory->mark_written(all(fixed));
    memory->require_written(all(tile), "src");
  });
  EXPECT_NE(refused, "");
}

TEST_F(OnChip, psum_remembers_which_bytes_a_matmul_wrote_last) {
  const auto acc = memory->allocate(Space::kPsum, "acc", 8, 64);
  EXPECT_FALSE(memory->accumulated(all(acc)));
  EXPECT_EQ(memory->accumulated_by_itself(all(acc)), Share::kNone);
  memory->mark_accumulated(part(acc, 0, 32), true);
  EXPECT_TRUE(memory->accumulated(part(acc, 0, 32)));
  EXPECT_FALSE(memory->accumulated(all(acc)));
  EXPECT_EQ(memory->accumulated_by_itself(all(acc)), Share::kSome);
  memory->mark_accumulated(all(acc), true);
  EXPECT_TRUE(memory->accumulated(all(acc)));
  memory->mark_accumulated(part(acc, 16, 1), false);
  EXPECT_FALSE(memory->accumulated(all(acc)));
  EXPECT_EQ(memory->accumulated_by_itself(all(acc)), Share::kSome);
  EXPECT_EQ(memory->accumulated_by_itself(part(acc, 16, 1)), Share::kNone);
  EXPECT_EQ(memory->accumulated_by_itself(part(acc, 32, 8)), Share::kAll);
}

TEST_F(OnChip, a_group_of_matmuls_belongs_to_one_of_the_tensors_that_share_bytes) {
  const auto a = memory->allocate_at(Space::kPsum, "a", 8, 64, 0, 0, Overlap::kShared);
  const auto b = memory->allocate_at(Space::kPsum, "b", 8, 64, 0, 32, Overlap::kShared);
  memory->mark_accumulated(all(a), true);
  EXPECT_EQ(memory->accumulated_by_itself(all(a)), Share::kAll);
  EXPECT_EQ(memory->accumulated_by_itself(all(b)), Share::kNone);
  EXPECT_TRUE(memory->accumulated(part(b, 0, 32)));  // the bytes themselves are
  EXPECT_FALSE(memory->accumulated(all(b)));
  memory->mark_accumulated(all(b), true);
  EXPECT_EQ(memory->accumulated_by_itself(all(b)), Share::kAll);
  EXPECT_EQ(memory->accumulated_by_itself(part(a, 0, 32)), Share::kAll);
  EXPECT_EQ(memory->accumulated_by_itself(part(a, 32, 32)), Share::kNone);
}

TEST_F(OnChip, partitions_lie_one_pitch_apart_in_the_host) {
  const auto tile = sbuf("tile", 64);
  AccessPattern second = part(tile, 8, 4);
  second.start_partition = 1;
  EXPECT_EQ(memory->data(second) - memory->data(part(tile, 8, 4)),
            memory->partition_pitch(Space::kSbuf));
}

TEST_F(OnChip, a_new_hbm_tensor_is_zero_in_the_host) {
  const auto tensor = memory->allocate_hbm("x", 100);
  EXPECT_TRUE(std::all_of(tensor->hbm.get(), tensor->hbm.get() + 100,
                          [](std::byte b) { return b == std::byte{0}; }));
}

TEST_F(OnChip, closing_gives_the_storage_back_and_keeps_the_places) {
  const auto tile = sbuf("tile", 64);
  tile->ensure_placed();
  memory->mark_written(all(tile));
  memory->close();
  EXPECT_FALSE(memory->geometry().real_storage);
  EXPECT_EQ(memory->placement(Space::kSbuf).used(), 64);
  EXPECT_EQ(memory->allocation(tile->id).offset, tile->offset);
  EXPECT_EQ(read(all(tile)), "");
  EXPECT_EQ(memory->allocate_hbm("late", 64)->hbm, nullptr);
  memory->close();
}

TEST_F(OnChip, a_timing_only_memory_holds_no_bytes_but_knows_what_was_written) {
  Geometry geometry = kSmallChip;
  geometry.real_storage = false;
  memory = std::make_shared<Memory>(geometry);
  EXPECT_EQ(memory->allocate_hbm("x", 64)->hbm, nullptr);
  const auto tile = sbuf("tile", 64);
  EXPECT_EQ(read(all(tile)), "memory.never_written");
  memory->mark_written(all(tile));
  EXPECT_EQ(read(all(tile)), "");
}

TEST_F(OnChip, memories_have_names) {
  EXPECT_STREQ(space_name(Space::kSbuf), "SBUF");
  EXPECT_STREQ(space_name(Space::kPsum), "PSUM");
  EXPECT_STREQ(space_name(Space::kHbm), "HBM");
}

}  // namespace
}  // namespace trnsim::memory
