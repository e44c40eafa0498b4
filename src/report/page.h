// The report as one HTML page that needs nothing but a browser: the views in web/, and the data
// that they show. The numbers are those of json() (report.h), embedded as they are; beside them
// stand every instruction's times, operands and place, in columns.h's short form.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "report/run.h"

namespace trnsim::report {

// The text of a source file, if it can be had.
using ReadSource = std::function<std::optional<std::string>(const std::string& file)>;
std::optional<std::string> read_source_file(const std::string& file);

// What a page shows: one side, or two to compare.
struct Side {
  std::string label;  // "before.trn"; tells the two apart
  std::span<const Run> runs;
};

// Throws ConfigError when there is nothing to show. The same runs and sources give the same bytes.
std::string page(std::span<const Side> sides, const ReadSource& read_source = read_source_file);

void write_page(std::span<const Side> sides, const std::filesystem::path& path,
                const ReadSource& read_source = read_source_file);

}  // namespace trnsim::report
