// The listing of a program: golden text, and the same facts as JSON.
#include "report/program_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "examples.h"

namespace trnsim::report {
namespace {

using Json = nlohmann::ordered_json;

Run unclocked(Scene& scene) { return {"k", &scene.program, nullptr, &scene.chip, 0}; }

void matmul_and_activation(Scene& scene) {
  scene.matmul(psum(2048, 64), sbuf(32768, 128), timing::strided(sbuf(0, 64), 2));
  scene.activate(sbuf(65536, 64), psum(2048, 64), numerics::ActivationFunction::kExp);
  scene.program.name_last("exp of scores");
  scene.program.depend(1, 0);
  scene.program.depend(1, 0);
}

TEST(ProgramText, lists_operands_arguments_and_order) {
  Scene scene;
  matmul_and_activation(scene);
  EXPECT_EQ(
      program_text(std::vector{unclocked(scene)}),
      "k on core 0 of trainium2: 2 instructions\n"
      "#0 Tensor nc_matmul kernel.py:1 in kernel reads 98304 bytes, writes 32768 bytes\n"
      "    dst = PSUM partitions 0-127 byte 2048 float32 [128, 64] strides [4]\n"
      "    stationary = SBUF partitions 0-127 byte 32768 float32 [128, 128] strides [4]\n"
      "    moving = SBUF partitions 0-127 byte 0 float32 [128, 64] strides [8]\n"
      "#1 Scalar activation 'exp of scores' kernel.py:2 in kernel reads 32768 bytes, writes 32768 "
      "bytes\n"
      "    dst = SBUF partitions 0-127 byte 65536 float32 [128, 64] strides [4]\n"
      "    data = PSUM partitions 0-127 byte 2048 float32 [128, 64] strides [4]\n"
      "    op = exp\n"
      "    after #0\n");
}

TEST(ProgramText, json_holds_the_same) {
  Scene scene;
  matmul_and_activation(scene);
  const std::string text = program_json(std::vector{unclocked(scene), unclocked(scene)});
  const Json listing = Json::parse(text);
  ASSERT_EQ(listing["runs"].size(), 2u);
  const Json& activation = listing["runs"][1]["instructions"][1];
  EXPECT_EQ(activation["engine"], "Scalar");
  EXPECT_EQ(activation["name"], "exp of scores");
  EXPECT_EQ(activation["arguments"], Json({{"op", "exp"}}));
  EXPECT_EQ(activation["after"], Json({0}));
  EXPECT_EQ(activation["operands"][1]["memory"], "PSUM");
  EXPECT_EQ(activation["operands"][1]["offset_bytes"], 2048);
  EXPECT_EQ(activation["operands"][1]["strides_bytes"], Json({4}));
  EXPECT_EQ(text, program_json(std::vector{unclocked(scene), unclocked(scene)}));
}

TEST(ProgramText, nothing_to_list) {
  EXPECT_EQ(program_text({}), "");
  EXPECT_TRUE(Json::parse(program_json({}))["runs"].empty());
}

}  // namespace
}  // namespace trnsim::report
