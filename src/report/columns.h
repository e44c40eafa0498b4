// Columns of whole numbers as short text, for the data block of the page (web/columns.js reads
// them). What a loop repeats costs next to nothing: each value is predicted from earlier ones of
// its group, and only what was predicted wrongly is written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trnsim::report {

// How a value is predicted from the ones before it in its group.
enum class Predicted : std::uint8_t {
  kSame,    // as the latest
  kSteady,  // as far from the latest as that was from the one before
};

// Every stretch of zeros becomes a zero and its length less one, any other value its zigzag code;
// all of these base-128 numbers, lowest digits first; the bytes in base64. `starts` are the places
// where a new group begins, rising, the first one 0.
std::string column(std::span<const std::int64_t> values, std::span<const std::uint32_t> starts,
                   Predicted predicted);

// Numbers from 0 that follow one another as in a program's loops: predicted to be what came after
// the same one last time. A hit is written as 0, anything else as the number plus 1.
std::string sequence_column(std::span<const std::uint32_t> values);

std::string base64(std::string_view bytes);

}  // namespace trnsim::report
