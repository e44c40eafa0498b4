// One core's instructions for the page, as columns. What recurs, an opcode with its operands' types
// on a line of the source, is a kind, listed once; an instruction is a kind with times, waits and
// places.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "report/run.h"

namespace trnsim::report {

// Texts in the order in which they first come, each once.
class Dictionary {
 public:
  std::int64_t number(const std::string& text) {
    const auto [it, added] = numbers_.try_emplace(text, static_cast<std::int64_t>(list_.size()));
    if (added) list_.push_back(text);
    return it->second;
  }
  nlohmann::ordered_json take() { return std::move(list_); }

 private:
  std::map<std::string, std::int64_t> numbers_;
  nlohmann::ordered_json list_ = nlohmann::ordered_json::array();
};

nlohmann::ordered_json instructions_data(std::span<const Run> launch, std::size_t core);

}  // namespace trnsim::report
