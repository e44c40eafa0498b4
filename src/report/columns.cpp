#include "report/columns.h"

#include <algorithm>

namespace trnsim::report {
namespace {

// Numbers in the form that column() describes.
class Digits {
 public:
  void add(std::int64_t value) {
    if (value == 0) {
      ++zeros_;
      return;
    }
    end_zeros();
    const auto bits = static_cast<std::uint64_t>(value);
    varint(value < 0 ? ~(bits << 1) : bits << 1);
  }

  std::string take() {
    end_zeros();
    return base64(bytes_);
  }

 private:
  void end_zeros() {
    if (zeros_ == 0) return;
    varint(0);
    varint(zeros_ - 1);
    zeros_ = 0;
  }

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
  std::uint64_t zeros_ = 0;
};

}  // namespace

std::string column(std::span<const std::int64_t> values, std::span<const std::uint32_t> starts,
                   Predicted predicted) {
  Digits digits;
  for (std::size_t group = 0; group < starts.size(); ++group) {
    const std::size_t end = group + 1 < starts.size() ? starts[group + 1] : values.size();
    std::int64_t latest = 0, step = 0;
    for (std::size_t i = starts[group]; i < end; ++i) {
      digits.add(values[i] - latest - step);
      // The first of a group says nothing about steps.
      if (predicted == Predicted::kSteady && i > starts[group]) step = values[i] - latest;
      latest = values[i];
    }
  }
  return digits.take();
}

std::string sequence_column(std::span<const std::uint32_t> values) {
  Digits digits;
  const std::uint32_t highest =
      values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::vector<std::uint32_t> followed_by(std::size_t{highest} + 1, 0);
  std::uint32_t latest = 0;
  for (const std::uint32_t value : values) {
    digits.add(value == followed_by[latest] ? 0 : std::int64_t{value} + 1);
    followed_by[latest] = value;
    latest = value;
  }
  return digits.take();
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace trnsim::report
