// How far predictions of kernels were from what was measured, as validation/calibrate.py writes it
// into hardware/accuracy.toml: the residuals by family, and what the rows behind them were like.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trnsim::catalog {

struct Range {
  double low = 0, high = 0;
  bool holds(double value) const { return low <= value && value <= high; }
};

// Predictions that were found to behave alike.
struct Family {
  std::string name;                // "kernels", or one of the parts that kernel_part() tells apart
  std::vector<std::string> chips;  // that the rows were measured on
  std::int64_t rows = 0, sources = 0;
  Range ratio;  // measured / predicted of nine tenths of the rows
  // Of the rows' programs.
  Range latency_ns, instructions, dma_share;
};

struct Accuracy {
  std::vector<Family> families;

  // The family of that name, else of all kernels; null where nothing was measured.
  const Family* family(std::string_view name) const;
};

// An absent file is an empty table. Throws ConfigError for one that is no such table.
Accuracy load_accuracy(const std::filesystem::path& file);

}  // namespace trnsim::catalog
