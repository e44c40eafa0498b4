// Published peaks follow from clocks and sizes: a typing error in either would show here.
#include <gtest/gtest.h>

#include "catalog/catalog.h"

namespace trnsim::catalog {
namespace {

const Catalog& hardware() {
  static const Catalog kCatalog = load("hardware");
  return kCatalog;
}

TEST(CatalogPeaks, one_tensor_engine_of_trainium2_gives_79_tflops) {
  EXPECT_NEAR(hardware().chip("trn2").core.tensor.bf16_tflops(), 78.64, 0.01);
}

TEST(CatalogPeaks, every_core_reaches_its_published_rates) {
  for (const Core& core : hardware().cores) {
    const TensorEngine& tensor = core.tensor;
    const double bf16 = tensor.bf16_tflops();
    EXPECT_NEAR(bf16, *tensor.peak_bf16, 0.03 * bf16) << core.name;
    if (tensor.peak_fp32) {
      EXPECT_NEAR(bf16 / tensor.fp32_slowdown, *tensor.peak_fp32, 0.03 * bf16) << core.name;
    }
    if (tensor.peak_fp8) {
      EXPECT_NEAR(bf16 * tensor.fp8_speedup, *tensor.peak_fp8, 0.03 * bf16) << core.name;
    }
    if (tensor.peak_mx) {
      EXPECT_NEAR(bf16 * *tensor.mx_speedup, *tensor.peak_mx, 0.03 * bf16) << core.name;
    }
    if (tensor.peak_sparse) {
      EXPECT_NEAR(bf16 * *tensor.sparse_speedup, *tensor.peak_sparse, 0.03 * bf16) << core.name;
    }
  }
}

TEST(CatalogPeaks, cores_make_up_the_chip_within_seven_percent) {
  // Trainium2 and 3 print about 6 % more than their Tensor Engines give: presumably the other
  // engines count too.
  for (const Chip& chip : hardware().chips)
    EXPECT_NEAR(chip.tensor_bf16_tflops(), *chip.peak.bf16, 0.07 * *chip.peak.bf16) << chip.name;
}

TEST(CatalogPeaks,
     cores_and_printed_core_rates_agree_with_the_chip_within_five_percent_or_the_gap_is_known) {
  const Chip& trainium2 = hardware().chip("trn2");
  const double tensor_engines = trainium2.cores * *trainium2.core.tensor.peak_bf16;
  EXPECT_NEAR(tensor_engines, 632, 1);
  EXPECT_NEAR(tensor_engines + 35, *trainium2.peak.bf16, 1);
  EXPECT_NEAR(trainium2.cores * *trainium2.core.tensor.peak_fp8, *trainium2.peak.fp8,
              0.05 * *trainium2.peak.fp8);
}

TEST(CatalogPeaks, sixty_four_chips_make_an_ultraserver) {
  const System& system = hardware().system("trn2-ultraserver");
  const Chip& chip = hardware().chip(*system.chip);
  EXPECT_EQ(*system.peak_fp8, 83.2);
  EXPECT_NEAR(system.accelerators * *chip.peak.fp8 * 1e-3, *system.peak_fp8, 0.1);
  EXPECT_NEAR(system.accelerators * *chip.peak.bf16 * 1e-3, *system.peak_bf16, 0.2);
  EXPECT_NEAR(system.accelerators * chip.hbm.bandwidth, *system.device_bandwidth, 1);
  EXPECT_EQ(system.accelerators * chip.hbm.capacity, *system.device_memory);
  const Instance& instance = hardware().instance(*system.instance);
  EXPECT_EQ(system.servers * instance.accelerators, system.accelerators);
}

TEST(CatalogPeaks, systems_add_up) {
  for (const System& system : hardware().systems)
    EXPECT_EQ(system.servers * system.accelerators_per_server, system.accelerators) << system.name;
}

TEST(CatalogPeaks, instances_add_up) {
  for (const Instance& instance : hardware().instances) {
    if (!instance.chip) continue;
    const Chip& chip = hardware().chip(*instance.chip);
    EXPECT_EQ(instance.accelerators * chip.hbm.capacity, *instance.device_memory) << instance.name;
    EXPECT_NEAR(instance.accelerators * chip.hbm.bandwidth, *instance.device_bandwidth,
                0.01 * *instance.device_bandwidth)
        << instance.name;
    if (instance.peak_bf16) {
      EXPECT_NEAR(instance.accelerators * *chip.peak.bf16, *instance.peak_bf16,
                  0.01 * *instance.peak_bf16)
          << instance.name;
    }
  }
}

TEST(CatalogPeaks, memories_have_their_published_sizes) {
  constexpr double kMiB = 1024 * 1024;
  EXPECT_EQ(hardware().core("v2").sbuf.bytes(), 24 * kMiB);
  EXPECT_EQ(hardware().core("v3").sbuf.bytes(), 28 * kMiB);
  EXPECT_EQ(hardware().core("v4").sbuf.bytes(), 32 * kMiB);
  for (const char* name : {"v2", "v3", "v4"})
    EXPECT_EQ(hardware().core(name).psum.bytes(), 2 * kMiB);
  for (const Core& core : hardware().cores)
    EXPECT_LE(core.sbuf.usable_bytes_per_partition, core.sbuf.bytes_per_partition) << core.name;
}

TEST(CatalogPeaks, dma_engines_of_the_cores_are_those_of_the_chip) {
  for (const Chip& chip : hardware().chips) {
    EXPECT_EQ(chip.cores * chip.core.dma.engines, chip.dma.engines) << chip.name;
    EXPECT_LE(chip.core.dma.sustained_rate, chip.core.dma.peak_rate) << chip.name;
  }
}

TEST(CatalogPeaks, neuronlinks_add_up) {
  const Chip& trainium2 = hardware().chip("trn2");
  EXPECT_EQ(
      2 * (4 * *trainium2.neuronlink.link_each_way + 2 * *trainium2.neuronlink.outer_link_each_way),
      trainium2.neuronlink.bandwidth);
  const Chip& trainium1 = hardware().chip("trn1");
  EXPECT_EQ(2 * trainium1.neuronlink.links * *trainium1.neuronlink.link_each_way,
            trainium1.neuronlink.bandwidth);
}

}  // namespace
}  // namespace trnsim::catalog
