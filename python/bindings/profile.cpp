// What is left of a launch: its time, as numbers, text, JSON and a Perfetto trace.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/what_if.h"
#include "launch.h"
#include "program/file.h"
#include "report/output_file.h"
#include "report/page.h"
#include "report/perfetto.h"
#include "report/program_text.h"
#include "report/report.h"
#include "report/verdict.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

std::vector<report::Run> runs_of(const std::vector<Launch*>& launches) {
  std::vector<report::Run> runs;
  for (Launch* launch : launches) {
    for (int rank = 0; rank < launch->cores().size(); ++rank) {
      runs.push_back({launch->kernel(), &launch->cores()[rank].program(),
                      &launch->timelines()[rank], &launch->chip(), launch->first_core + rank});
    }
  }
  return runs;
}

// Listing a program needs no clock.
std::string program_text(const std::vector<Launch*>& launches, bool as_json) {
  std::vector<report::Run> runs;
  for (Launch* launch : launches) {
    for (int rank = 0; rank < launch->cores().size(); ++rank) {
      runs.push_back(
          {launch->kernel(), &launch->cores()[rank].program(), nullptr, &launch->chip(),
           launch->first_core + rank});
    }
  }
  return as_json ? report::program_json(runs) : report::program_text(runs);
}

void save_programs(const std::vector<Launch*>& launches, const std::string& path) {
  std::vector<program::Recording> recordings;
  for (const Launch* launch : launches) {
    program::Recording& recording =
        recordings.emplace_back(program::Recording{launch->kernel(), launch->chip().name, {}});
    for (int rank = 0; rank < launch->cores().size(); ++rank)
      recording.cores.push_back(&launch->cores()[rank].program());
  }
  report::write_file(path, program::encode(recordings));
}

std::string page(const std::vector<Launch*>& launches, const report::ReadSource& read_source) {
  const std::vector<report::Run> runs = runs_of(launches);
  const report::Side side{"", runs};
  return report::page({&side, 1}, read_source);
}

nb::dict busy_us(Launch& launch) {
  nb::dict busy;
  for (int q = 0; q < timing::kQueueCount; ++q) {
    Picoseconds sum;
    for (const timing::Timeline& timeline : launch.timelines()) sum += timeline.busy[q];
    busy[std::string(timing::queue_name(static_cast<timing::Queue>(q))).c_str()] = sum.us();
  }
  return busy;
}

// What decides which measured kernels a launch is like.
nb::dict likeness(Launch& launch) {
  const std::vector<report::Run> runs = runs_of({&launch});
  const report::Summary slowest = report::summarize(runs, report::slowest_core(runs));
  const report::Likeness what = report::likeness(runs, slowest, report::confidence_share(runs));
  nb::dict dict;
  dict["chip"] = what.chip;
  dict["latency_ns"] = what.latency_ns;
  dict["instructions"] = what.instructions;
  dict["dma_share"] = what.dma_share;
  dict["confidence"] = nb::cast(what.confidence);
  dict["part"] = std::string(report::kernel_part(what));
  return dict;
}

nb::dict interval(const nb::dict& like, const std::string& accuracy_file,
                  const std::string& family) {
  const report::Likeness what{.chip = nb::cast<std::string>(like["chip"]),
                              .latency_ns = nb::cast<double>(like["latency_ns"]),
                              .instructions = nb::cast<double>(like["instructions"]),
                              .dma_share = nb::cast<double>(like["dma_share"]),
                              .confidence = nb::cast<report::ConfidenceShare>(like["confidence"])};
  const catalog::Accuracy accuracy = catalog::load_accuracy(accuracy_file);
  const report::Interval found = report::interval(what, accuracy.family(family));
  nb::dict dict;
  dict["low_ns"] = found.low_ns;
  dict["high_ns"] = found.high_ns;
  dict["interpolated"] = found.interpolated;
  return dict;
}

}  // namespace

void bind_profile(nb::module_& m) {
  m.def(
      "latency_us", [](Launch& launch) { return report::latency(runs_of({&launch})).us(); },
      nb::arg("launch"));
  m.def("busy_us", &busy_us, nb::arg("launch"));
  m.def(
      "summary",
      [](const std::vector<Launch*>& launches) { return report::text(runs_of(launches)); },
      nb::arg("launches"));
  m.def(
      "to_json",
      [](const std::vector<Launch*>& launches, bool instructions) {
        return report::json(runs_of(launches), instructions ? report::Detail::kInstructions
                                                            : report::Detail::kSummary);
      },
      nb::arg("launches"), nb::arg("instructions") = true);
  m.def(
      "write_json",
      [](const std::vector<Launch*>& launches, const std::string& path) {
        report::write_file(path, report::json(runs_of(launches)));
      },
      nb::arg("launches"), nb::arg("path"));
  m.def("program_text", &program_text, nb::arg("launches"), nb::arg("as_json") = false);
  m.def(
      "write_program",
      [](const std::vector<Launch*>& launches, const std::string& path) {
        report::write_file(path, program_text(launches, path.ends_with(".json")));
      },
      nb::arg("launches"), nb::arg("path"));
  m.def(
      "write_trace",
      [](const std::vector<Launch*>& launches, const std::string& path) {
        report::write_perfetto(runs_of(launches), path);
      },
      nb::arg("launches"), nb::arg("path"));
  m.def(
      "what_if",
      [](const std::vector<Launch*>& launches, const std::string& hardware_dir,
         const std::vector<std::string>& asked, bool json) {
        return cli::what_if(runs_of(launches), asked, hardware_dir,
                            json ? cli::WhatIfFormat::kJson : cli::WhatIfFormat::kText);
      },
      nb::arg("launches"), nb::arg("hardware_dir"), nb::arg("asked"), nb::arg("json") = false,
      "What the launches would gain without each obstacle and on other chips; `asked` empty: all.");
  m.def("page", &page, nb::arg("launches"), nb::arg("read_source"),
        "The report as a page of HTML. read_source(file) gives a file's text, or None.");
  m.def(
      "write_page",
      [](const std::vector<Launch*>& launches, const std::string& path,
         const report::ReadSource& read_source) {
        report::write_file(path, page(launches, read_source));
      },
      nb::arg("launches"), nb::arg("path"), nb::arg("read_source"));
  m.def("likeness", &likeness, nb::arg("launch"),
        "What decides which measured kernels a launch is like: chip, latency_ns, instructions, "
        "dma_share, confidence; and the part of the kernels that it belongs to.");
  m.def("interval", &interval, nb::arg("likeness"), nb::arg("accuracy_file"), nb::arg("family"),
        "The 90 % interval of such a launch, by the residuals in a file like "
        "hardware/accuracy.toml.");
  m.def("save_programs", &save_programs, nb::arg("launches"), nb::arg("path"),
        "Write the recorded programs for `trnsim replay`. Raises ConfigError when `path` cannot be "
        "written.");
}

}  // namespace trnsim::python
