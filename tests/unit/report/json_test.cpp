// The report for programs: everything in it, in a fixed order, with units in the names.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "examples.h"
#include "report/report.h"

namespace trnsim::report {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonReport, holds_the_summary_and_every_instruction) {
  Scene scene;
  load_multiply_store(scene);
  scene.program.name_last("store result");
  const Json report = Json::parse(json(std::vector{run_of(scene, "k")}));
  EXPECT_EQ(report["launch_count"], 1);
  EXPECT_EQ(report["total_latency_ns"], scene.timeline().total.ns());
  const Json& run = report["runs"][0];
  EXPECT_EQ(run["kernel"], "k");
  EXPECT_EQ(run["chip"], "trainium2");
  EXPECT_EQ(run["latency_ns"], scene.timeline().total.ns());
  EXPECT_EQ(run["tensor_engine"]["flops"], 2ll * 128 * 128 * 512);
  EXPECT_EQ(run["queues"].size(), 4u);
  ASSERT_EQ(run["instructions"].size(), 4u);
  const Json& matmul = run["instructions"][1];
  EXPECT_EQ(matmul["opcode"], "nc_matmul");
  EXPECT_EQ(matmul["queue"], "Tensor");
  EXPECT_EQ(matmul["wait"], "data");
  EXPECT_EQ(matmul["waited_for"], 0);
  EXPECT_EQ(matmul["start_ns"], scene.at(1).start.ns());
  EXPECT_EQ(matmul["end_ns"], scene.at(1).end.ns());
  EXPECT_EQ(matmul["file"], "kernel.py");
  EXPECT_EQ(matmul["line"], 2);
  EXPECT_EQ(matmul["shape"], "128x512");
  EXPECT_EQ(matmul["bytes"], 128 * 512 * 4);
  EXPECT_EQ(run["instructions"][3]["name"], "store result");
  EXPECT_THAT(std::string(run["instructions"][0]["operands"]),
              testing::HasSubstr("src=h2 HBM float32 128x512"));
}

TEST(JsonReport, the_same_run_gives_the_same_bytes) {
  Scene a, b;
  jumble(a, 1, 50);
  jumble(b, 1, 50);
  EXPECT_EQ(json(std::vector{run_of(a)}), json(std::vector{run_of(b)}));
}

TEST(JsonReport, instructions_can_be_left_out) {
  Scene scene;
  load_multiply_store(scene);
  EXPECT_FALSE(Json::parse(json(std::vector{run_of(scene)}, Detail::kSummary))["runs"][0].contains(
      "instructions"));
}

TEST(JsonReport, cores_of_one_launch_run_side_by_side_and_launches_one_after_the_other) {
  Scene scene;
  load_multiply_store(scene);
  const std::vector runs{run_of(scene, "a", 0), run_of(scene, "a", 1), run_of(scene, "b", 0)};
  const Json report = Json::parse(json(runs, Detail::kSummary));
  EXPECT_EQ(report["launch_count"], 2);
  EXPECT_EQ(report["total_latency_ns"], 2 * scene.timeline().total.ns());
  EXPECT_EQ(report["runs"][1]["launch"], 0);
  EXPECT_EQ(report["runs"][2]["launch"], 1);
}

TEST(JsonReport, of_nothing_and_of_odd_names_is_still_json) {
  EXPECT_EQ(Json::parse(json({}))["launch_count"], 0);
  Scene scene;
  scene.copy(sbuf(0, 8), sbuf(4096, 8));
  scene.program.name_last("quote \" and \xff");
  EXPECT_TRUE(Json::accept(json(std::vector{run_of(scene)})));
}

}  // namespace
}  // namespace trnsim::report
