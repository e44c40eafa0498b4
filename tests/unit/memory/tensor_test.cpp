// Views: what they select, and what they refuse.
#include "memory/tensor.h"

#include "patterns.h"

namespace trnsim::memory {
namespace {

class View : public testing::Test {
 protected:
  std::shared_ptr<Memory> memory = small_chip();

  Tensor sbuf(const Dims& shape, Dtype dtype = Dtype::kFloat32) {
    const auto row = shape.product() / shape[0] * numerics::info(dtype).bytes;
    return {memory->allocate(Space::kSbuf, "tile", static_cast<int>(shape[0]), row), dtype, shape};
  }
  Tensor dram(const Dims& shape, Dtype dtype = Dtype::kFloat32) {
    return {memory->allocate_hbm("hbm", shape.product() * numerics::info(dtype).bytes), dtype,
            shape};
  }
};

Tensor slice(const Tensor& t, std::initializer_list<Index> indices) {
  return t.slice(std::span(indices.begin(), indices.size()));
}
Tensor permute(const Tensor& t, std::initializer_list<int> order) {
  return t.permute(std::span(order.begin(), order.size()));
}
Tensor pattern(const Tensor& t, std::initializer_list<std::int64_t> steps,
               std::initializer_list<std::int64_t> counts, std::int64_t offset = 0) {
  return t.pattern(std::span(steps.begin(), steps.size()), std::span(counts.begin(), counts.size()),
                   offset);
}

// The numbers of the elements of the whole tensor that a view selects, in the view's order.
std::vector<std::int64_t> elements(const Tensor& view) {
  std::vector<std::int64_t> numbers{view.offset()};
  for (int d = 0; d < view.shape().size(); ++d) {
    std::vector<std::int64_t> next;
    for (const std::int64_t at : numbers) {
      for (std::int64_t i = 0; i < view.shape()[d]; ++i) next.push_back(at + i * view.strides()[d]);
    }
    numbers = std::move(next);
  }
  return numbers;
}

using Numbers = std::vector<std::int64_t>;

TEST_F(View, a_new_tensor_counts_its_elements_in_order) {
  const Tensor t = dram({2, 3});
  EXPECT_EQ(elements(t), (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(t.elements(), 6);
  EXPECT_EQ(t.row_elements(), 6);
  EXPECT_EQ(sbuf({2, 3}).row_elements(), 3);
}

TEST_F(View, a_slice_with_steps_takes_every_other_element) {
  const Tensor t = slice(dram({3, 6}), {{0, 2, 2}, {1, 2, 3}});
  EXPECT_EQ(t.shape(), (Dims{2, 2}));
  EXPECT_EQ(elements(t), (Numbers{1, 4, 13, 16}));
}

TEST_F(View, a_slice_of_a_slice_counts_from_the_first) {
  const Tensor t = slice(slice(dram({12}), {{2, 5, 2}}), {{1, 2, 3}});
  EXPECT_EQ(elements(t), (Numbers{4, 10}));
}

TEST_F(View, a_negative_step_goes_backwards) {
  EXPECT_EQ(elements(slice(dram({4}), {{3, 4, -1}})), (Numbers{3, 2, 1, 0}));
}

TEST_F(View, an_integer_index_drops_its_dimension_but_never_the_partition) {
  const Index second{1, 1, 1, true};
  EXPECT_EQ(slice(dram({4, 6}), {second}).shape(), (Dims{6}));
  EXPECT_EQ(slice(sbuf({4, 6}), {second}).shape(), (Dims{1, 6}));
  EXPECT_EQ(slice(sbuf({4, 6}), {second, second}).shape(), (Dims{1}));
  EXPECT_EQ(slice(sbuf({4, 6}), {second}).access().start_partition, 1);
}

TEST_F(View, a_slice_outside_its_dimension_is_refused) {
  const Tensor t = dram({4, 6});
  EXPECT_EQ(broken_rule([&] { slice(t, {{0, 5}}); }), "tensor.out_of_bounds");
  EXPECT_EQ(broken_rule([&] { slice(t, {{-1, 2}}); }), "tensor.out_of_bounds");
  EXPECT_EQ(broken_rule([&] { slice(t, {{0, 4}, {4, 2, 2}}); }), "tensor.out_of_bounds");
  EXPECT_EQ(broken_rule([&] { slice(t, {{1, 3, -1}}); }), "tensor.out_of_bounds");
  EXPECT_EQ(broken_rule([&] { slice(t, {{3, 4, -1}, {5, 3, -2}}); }), "");
}

TEST_F(View, more_indices_than_dimensions_are_refused) {
  const Tensor t = dram({4});
  EXPECT_EQ(broken_rule([&] { slice(t, {{0, 1}, {0, 1}}); }), "tensor.index");
}

TEST_F(View, an_empty_slice_is_a_tensor_that_no_instruction_takes) {
  const Tensor t = slice(dram({4, 6}), {{2, 0}});
  EXPECT_EQ(t.shape(), (Dims{0, 6}));
  EXPECT_EQ(broken_rule([&] { t.access(); }), "tensor.empty");
}

TEST_F(View, reshape_keeps_the_order_of_the_elements) {
  const Tensor t = dram({2, 6}).reshape({3, 1, 2, 2});
  EXPECT_EQ(t.shape(), (Dims{3, 1, 2, 2}));
  EXPECT_EQ(elements(t), elements(dram({12})));
  const Tensor columns = slice(dram({4, 6}), {{0, 4}, {0, 3}}).reshape({2, 2, 3, 1});
  EXPECT_EQ(elements(columns), (Numbers{0, 1, 2, 6, 7, 8, 12, 13, 14, 18, 19, 20}));
}

TEST_F(View, reshape_to_another_size_is_refused) {
  const Tensor t = dram({2, 6});
  EXPECT_EQ(broken_rule([&] { t.reshape({5, 2}); }), "tensor.reshape");
}

TEST_F(View, reshape_of_what_is_not_contiguous_is_refused) {
  const Tensor t = dram({4, 6});
  EXPECT_EQ(broken_rule([&] { slice(t, {{0, 4}, {0, 3}}).reshape({12}); }), "tensor.reshape");
  EXPECT_EQ(broken_rule([&] { permute(t, {1, 0}).reshape({24}); }), "tensor.reshape");
  EXPECT_EQ(broken_rule([&] { dram({1, 3}).broadcast(0, 2).reshape({6}); }), "tensor.reshape");
  EXPECT_EQ(broken_rule([&] { slice(t, {{0, 4}, {0, 6}}).reshape({24}); }), "");
}

TEST_F(View, reshape_never_moves_data_across_partitions) {
  const Tensor t = sbuf({4, 6});
  EXPECT_EQ(broken_rule([&] { t.reshape({2, 12}); }), "tensor.reshape");
  EXPECT_EQ(t.reshape({4, 2, 3}).shape(), (Dims{4, 2, 3}));
  const Tensor half = slice(t, {{0, 4}, {0, 3}}).reshape({4, 3, 1});
  EXPECT_EQ(elements(half), (Numbers{0, 1, 2, 6, 7, 8, 12, 13, 14, 18, 19, 20}));
}

TEST_F(View, reshape_sees_the_gap_beside_a_dimension_of_one) {
  const Tensor t = slice(dram({4, 2, 3}), {{0, 4}, {0, 1}});  // (4, 1, 3), six elements apart
  EXPECT_EQ(broken_rule([&] { t.reshape({12}); }), "tensor.reshape");
}

TEST_F(View, reshape_ignores_the_stride_of_a_dimension_of_one) {
  const Tensor t = dram({4, 3}).expand_dim(1);
  EXPECT_EQ(elements(t.reshape({12})), elements(dram({12})));
}

TEST_F(View, reshape_of_an_empty_tensor_keeps_it_empty) {
  const Tensor t = slice(dram({4, 6}), {{0, 4}, {0, 0}});
  EXPECT_EQ(t.reshape({0, 4}).shape(), (Dims{0, 4}));
  EXPECT_EQ(slice(dram({4, 6}), {{0, 0}}).reshape({6, 0}).shape(), (Dims{6, 0}));
}

TEST_F(View, reshape_keeps_the_partition_dimension) {
  EXPECT_EQ(broken_rule([&] { sbuf({1, 1}).reshape({}); }), "tensor.reshape");
}

TEST_F(View, permute_reorders_the_dimensions) {
  EXPECT_EQ(elements(permute(dram({2, 3}), {1, 0})), (Numbers{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(permute(sbuf({2, 3, 4}), {0, -1, 1}).shape(), (Dims{2, 4, 3}));
}

TEST_F(View, permute_counts_the_partition_from_the_back_too) {
  EXPECT_EQ(permute(sbuf({2, 3, 4}), {-3, 2, 1}).shape(), (Dims{2, 4, 3}));
}

TEST_F(View, permute_names_each_dimension_once_and_keeps_the_partition) {
  const Tensor t = dram({2, 3});
  EXPECT_EQ(broken_rule([&] { permute(t, {0, 0}); }), "tensor.permute");
  EXPECT_EQ(broken_rule([&] { permute(t, {0}); }), "tensor.permute");
  EXPECT_EQ(broken_rule([&] { permute(t, {0, 2}); }), "tensor.dim");
  EXPECT_EQ(broken_rule([&] { permute(sbuf({2, 3}), {1, 0}); }), "tensor.permute");
}

TEST_F(View, broadcast_repeats_a_dimension_of_one) {
  EXPECT_EQ(elements(dram({2, 1}).broadcast(-1, 3)), (Numbers{0, 0, 0, 1, 1, 1}));
}

TEST_F(View, broadcast_takes_neither_another_size_nor_the_partition) {
  EXPECT_EQ(broken_rule([&] { dram({2, 3}).broadcast(1, 6); }), "tensor.broadcast");
  EXPECT_EQ(broken_rule([&] { sbuf({1, 3}).broadcast(0, 6); }), "tensor.broadcast");
  EXPECT_EQ(broken_rule([&] { dram({2, 1}).broadcast(2, 6); }), "tensor.dim");
}

TEST_F(View, expand_and_squeeze_undo_each_other) {
  const Tensor t = sbuf({2, 3});
  for (const int dim : {1, 2, -1}) {
    const Tensor wide = t.expand_dim(dim);
    EXPECT_EQ(wide.shape().size(), 3);
    EXPECT_EQ(wide.squeeze_dim(dim).shape(), t.shape());
    EXPECT_EQ(elements(wide), elements(t));
  }
}

TEST_F(View, expand_and_squeeze_leave_the_partition_alone) {
  EXPECT_EQ(broken_rule([&] { sbuf({2, 3}).expand_dim(0); }), "tensor.dim");
  EXPECT_EQ(broken_rule([&] { sbuf({2, 3}).expand_dim(3); }), "tensor.dim");
  EXPECT_EQ(broken_rule([&] { sbuf({1, 3}).squeeze_dim(0); }), "tensor.dim");
  EXPECT_EQ(broken_rule([&] { sbuf({2, 3}).squeeze_dim(1); }), "tensor.dim");
  EXPECT_EQ(broken_rule([&] { dram({2, 3}).squeeze_dim(-3); }), "tensor.dim");
  EXPECT_EQ(dram({2, 3}).expand_dim(0).shape(), (Dims{1, 2, 3}));
}

TEST_F(View, reinterpret_changes_the_size_of_the_last_dimension) {
  const Tensor t = slice(sbuf({2, 8}), {{0, 2}, {2, 4}});
  const Tensor bytes = t.reinterpret(Dtype::kUint8);
  EXPECT_EQ(bytes.shape(), (Dims{2, 16}));
  EXPECT_EQ(bytes.offset(), 8);
  EXPECT_EQ(bytes.strides()[0], 32);
  EXPECT_EQ(elements(bytes.reinterpret(Dtype::kFloat32)), elements(t));
  EXPECT_EQ(t.reinterpret(Dtype::kInt32).shape(), t.shape());
}

TEST_F(View, reinterpret_needs_contiguous_bytes_that_are_whole_elements) {
  EXPECT_EQ(broken_rule([&] { slice(dram({8}), {{0, 4, 2}}).reinterpret(Dtype::kBfloat16); }),
            "tensor.view");
  EXPECT_EQ(broken_rule([&] { dram({2, 6}, Dtype::kUint8).reinterpret(Dtype::kFloat32); }),
            "tensor.view");
  EXPECT_EQ(
      broken_rule([&] { slice(dram({8}, Dtype::kUint8), {{2, 4}}).reinterpret(Dtype::kFloat32); }),
      "tensor.view");
  EXPECT_EQ(broken_rule([&] {
              slice(dram({2, 6}, Dtype::kUint8), {{0, 2}, {0, 4}}).reinterpret(Dtype::kFloat32);
            }),
            "tensor.view");  // rows six bytes apart
  EXPECT_EQ(broken_rule([&] { sbuf({4}).reinterpret(Dtype::kUint8); }), "tensor.view");
}

TEST_F(View, a_pattern_counts_over_the_whole_tensor) {
  const Tensor t = slice(dram({4, 6}), {{3, 1}});
  EXPECT_EQ(elements(pattern(t, {6, 2}, {2, 3}, 1)), (Numbers{1, 3, 5, 7, 9, 11}));
}

TEST_F(View, a_pattern_that_leaves_the_tensor_is_no_operand) {
  const Tensor t = dram({4, 6});
  EXPECT_EQ(broken_rule([&] { pattern(t, {6, 1}, {4, 7}).access(); }), "tensor.out_of_bounds");
  EXPECT_EQ(broken_rule([&] { pattern(t, {-1}, {3}, 1).access(); }), "tensor.out_of_bounds");
  EXPECT_EQ(broken_rule([&] { pattern(sbuf({4, 6}), {6, 1}, {4, 7}).access(); }),
            "tensor.out_of_bounds");
  EXPECT_EQ(broken_rule([&] { pattern(t, {6, 1}, {4, 6}).access(); }), "");
}

TEST_F(View, a_pattern_that_runs_on_into_the_next_partition_is_no_operand) {
  const Tensor t = sbuf({4, 6});
  EXPECT_EQ(broken_rule([&] { pattern(t, {6, 1}, {2, 7}).access(); }), "tensor.out_of_bounds");
  EXPECT_EQ(broken_rule([&] { pattern(t, {6, -1}, {1, 2}, 6).access(); }), "tensor.out_of_bounds");
}

TEST_F(View, a_pattern_whose_reach_is_no_64_bit_number_is_no_operand) {
  const Tensor t = sbuf({4, 8}, Dtype::kUint8);
  const std::int64_t far = std::int64_t{1} << 62;
  EXPECT_EQ(broken_rule([&] { pattern(t, {8, far}, {4, 5}).access(); }), "tensor.out_of_bounds");
}

TEST_F(View, a_count_that_is_no_32_bit_number_is_no_operand) {
  const Tensor t = sbuf({4, 1});
  EXPECT_NE(broken_rule([&] { t.broadcast(1, (std::int64_t{1} << 32) + 4).access(); }), "");
}

TEST_F(View, a_single_hbm_element_has_no_last_dimension_to_reinterpret) {
  const Tensor t = slice(dram({4}), {{2, 1, 1, true}});
  EXPECT_EQ(broken_rule([&] { t.reinterpret(Dtype::kUint8); }), "tensor.view");
}

TEST_F(View, partitions_are_taken_one_after_the_other) {
  const Tensor t = sbuf({8, 6});
  EXPECT_EQ(broken_rule([&] { slice(t, {{0, 4, 2}}).access(); }), "tensor.partition_step");
  EXPECT_EQ(broken_rule([&] { slice(t, {{7, 8, -1}}).access(); }), "tensor.partition_step");
  EXPECT_EQ(broken_rule([&] { slice(t, {{2, 1, 2}}).access(); }), "");
}

TEST_F(View, more_than_four_free_dimensions_are_no_operand_unless_some_are_one_or_step_as_one) {
  const auto odd = [](const Tensor& t) {  // every second element of each free dimension
    return slice(t, {{0, 2}, {0, 2, 2}, {0, 2, 2}, {0, 2, 2}, {0, 2, 2}, {0, 2, 2}});
  };
  EXPECT_EQ(broken_rule([&] { odd(sbuf({2, 3, 3, 3, 3, 3})).access(); }), "tensor.rank");
  EXPECT_EQ(broken_rule([&] { odd(dram({2, 3, 3, 3, 3, 3})).access(); }), "tensor.rank");
  const AccessPattern tile = sbuf({2, 2, 3, 2, 2, 2}).access();
  EXPECT_EQ(tile.dims, 2);
  EXPECT_EQ(tile.sizes[1], 48);
  EXPECT_EQ(tile.strides[1], 4);
  const AccessPattern half = slice(dram({2, 2, 2, 2, 2, 4}), {{0, 2}, {0, 2}, {0, 1}}).access();
  EXPECT_EQ(half.elements(), 64);
  const AccessPattern some = slice(sbuf({2, 2, 4, 2, 2, 2}), {{0, 2}, {0, 2}, {0, 2}}).access();
  EXPECT_EQ(some.dims, 3);  // what the slice parted stays apart
  EXPECT_EQ(some.sizes[1], 2);
  EXPECT_EQ(some.sizes[2], 16);
  EXPECT_EQ(sbuf({2, 2, 1, 2, 1, 2}).access().dims, 4);
  EXPECT_EQ(dram({1, 2, 2, 2, 1, 2}).access().dims, 4);
  EXPECT_EQ(sbuf({2, 2, 1, 2, 2}).access().dims, 5);  // room enough: the shape is kept
}

TEST_F(View, a_tensor_has_at_most_eight_dimensions_and_a_countable_size) {
  EXPECT_EQ(broken_rule([&] { Dims({1, 1, 1, 1, 1, 1, 1, 1, 1}); }), "tensor.rank");
  EXPECT_EQ(broken_rule([&] { dram({1, 1, 1, 1, 1, 1, 1, 1}).expand_dim(0); }), "tensor.rank");
  EXPECT_EQ(broken_rule([&] { Dims({std::int64_t{1} << 40, std::int64_t{1} << 40}).product(); }),
            "tensor.shape");
}

TEST_F(View, a_single_hbm_element_is_an_operand_of_one_dimension) {
  const AccessPattern p = slice(dram({4}), {{2, 1, 1, true}}).access();
  EXPECT_EQ(p.dims, 1);
  EXPECT_EQ(p.offset, 8);
  EXPECT_EQ(p.elements(), 1);
}

TEST_F(View, access_gives_bytes_from_the_tiles_own_place) {
  const auto storage = memory->allocate_at(Space::kSbuf, "a", 4, 64, 4, 128, Overlap::kShared);
  const Tensor t = slice(Tensor(storage, Dtype::kBfloat16, {4, 32}), {{1, 2}, {3, 5, 4}});
  const AccessPattern p = t.access();
  EXPECT_EQ(p.start_partition, 5);
  EXPECT_EQ(p.partitions(), 2);
  EXPECT_EQ(p.offset, 128 + 6);
  EXPECT_EQ(p.sizes[1], 5);
  EXPECT_EQ(p.strides[1], 8);
  EXPECT_EQ(p.tensor, storage->id);
}

TEST_F(View, shapes_are_written_as_in_python) {
  EXPECT_EQ((Dims{128, 512}).text(), "(128, 512)");
  EXPECT_EQ((Dims{128}).text(), "(128,)");
  EXPECT_EQ(Dims{}.text(), "()");
}

}  // namespace
}  // namespace trnsim::memory
