#include <fmt/core.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "report/instruction_text.h"
#include "report/report.h"
#include "report/summary.h"
#include "report/verdict.h"
#include "report/views_json.h"

namespace trnsim::report {
namespace {

using Json = nlohmann::ordered_json;

Json queues_json(const Summary& s) {
  Json list = Json::array();
  for (const QueueUse& use : s.queues) {
    Json stalled;
    for (std::size_t w = 0; w < use.stalled.size(); ++w) {
      // Cores that run alone have no barriers to wait at.
      if (static_cast<timing::Wait>(w) == timing::Wait::kBarrier && s.cores == 1) continue;
      stalled[std::string(timing::wait_name(static_cast<timing::Wait>(w)))] = use.stalled[w].ns();
    }
    list.push_back({{"queue", timing::queue_name(use.queue)},
                    {"instructions", use.instructions},
                    {"busy_ns", use.busy.ns()},
                    {"busy_share", use.busy_share},
                    {"critical_ns", use.critical.ns()},
                    {"stalled_ns", std::move(stalled)}});
  }
  return list;
}

Json losses_json(const Summary& s) {
  Json list = Json::array();
  for (const LossUse& use : s.losses)
    list.push_back({{"cause", loss_name(use.loss)}, {"ns", use.time.ns()}, {"share", use.share}});
  return list;
}

Json advice_json(const Verdict& verdict) {
  Json list = Json::array();
  for (const Gain& gain : verdict.advice) {
    list.push_back({{"cause", gain.obstacle->cause},
                    {"advice", gain.obstacle->advice},
                    {"obstacle", gain.obstacle->name},
                    {"expected_latency_ns", gain.latency.ns()},
                    {"expected_speedup", gain.speedup}});
  }
  return list;
}

Json transfers_json(const Transfers& t) {
  return {{"bytes", t.bytes},
          {"pieces", t.pieces},
          {"mean_piece_bytes", t.piece_bytes},
          {"active_ns", t.active.ns()},
          {"achieved_gb_per_s", t.achieved_gb_per_s},
          {"sustained_gb_per_s", t.sustained_gb_per_s},
          {"efficiency", t.efficiency},
          {"hbm_bytes", t.hbm_bytes},
          {"hbm_gb_per_s", t.hbm_gb_per_s},
          {"share_of_core_dma", t.share_of_core_dma},
          {"share_of_chip_hbm", t.share_of_chip_hbm}};
}

// What each way of timing counts beside the kernel itself.
Json launch_json(const catalog::Launch& launch) {
  const auto ns = [](const catalog::Number& figure) { return from_ns(figure).ns(); };
  return {{"benchmark", ns(launch.neff)},
          {"profiler", ns(launch.profile)},
          {"show_session", ns(launch.session)},
          {"host_synchronous", ns(launch.host_synchronous)},
          {"host_asynchronous", ns(launch.host_asynchronous)}};
}

// Of the launch, whose latency is that of its slowest core.
Json interval_json(const Interval& interval) {
  return {{"low_ns", interval.low_ns},
          {"high_ns", interval.high_ns},
          {"interpolated", interval.interpolated},
          {"basis", interval.basis}};
}

Json summary_json(const Summary& s, const Verdict& verdict) {
  return {{"kernel", s.kernel},
          {"chip", s.chip},
          {"neuroncore", s.generation},
          {"core", s.core},
          {"instruction_count", s.instructions},
          {"schedule", timing::scheduling_name(s.scheduling)},
          {"latency_ns", s.latency.ns()},
          {"launch_ns", s.launch.ns()},
          {"interval_90", interval_json(verdict.interval)},
          {"bound_by", s.losses.empty() ? "" : loss_name(s.losses.front().loss)},
          {"verdict", verdict.sentence},
          {"advice", advice_json(verdict)},
          {"clocked_again", verdict.asked},
          {"time_lost", losses_json(s)},
          {"queues", queues_json(s)},
          {"tensor_engine",
           {{"flops", s.flops},
            {"utilization", s.tensor_utilization},
            {"mfu", s.model_flops_utilization},
            {"peak_bf16_tflops_of_one_core", s.peak_bf16_tflops},
            {"peak_published", s.peak_published}}},
          {"dma", transfers_json(s.transfers)},
          {"table_loads", {{"count", s.table_loads}, {"time_ns", s.table_load_time.ns()}}},
          {"memory",
           {{"sbuf_peak_bytes_per_partition", s.sbuf.peak_bytes},
            {"sbuf_bytes_per_partition", s.sbuf.capacity},
            {"psum_peak_bytes_per_partition", s.psum.peak_bytes},
            {"psum_bytes_per_partition", s.psum.capacity}}},
          {"rests_on",
           {{"documented", verdict.confidence[0]},
            {"measured", verdict.confidence[1]},
            {"inferred", verdict.confidence[2]},
            {"guess", verdict.confidence[3]}}}};
}

Json instruction_json(std::span<const Run> launch, const Run& run, std::size_t i) {
  const program::Program& program = *run.program;
  const timing::Entry& entry = run.timeline->entries[i];
  const isa::Tile* tile = main_tile(program, i);
  const program::Site& where = site(program, i);
  Json json{{"index", i},
            {"opcode", program.type(program[i]).info.name},
            {"engine", isa::engine_name(program[i].engine)},
            {"queue", timing::queue_name(entry.queue)},
            {"start_ns", entry.start.ns()},
            {"busy_end_ns", entry.busy_end.ns()},
            {"end_ns", entry.end.ns()},
            {"wait", timing::wait_name(entry.wait)}};
  if (timing::is_dma(entry.queue)) {
    const Picoseconds told = from_ns(run.chip->core.dma.completion_latency);
    json["moving_from_ns"] = (entry.start + entry.prelude).ns();
    json["moving_until_ns"] = (entry.end - told).ns();
  }
  if (entry.waited_for != timing::kNobody) {
    json["waited_for"] = entry.waited_for;
    if (launch[entry.waited_core].core != run.core)
      json["waited_for_core"] = launch[entry.waited_core].core;
  }
  if (entry.served_after != timing::kNobody) {
    json["served_after"] = entry.served_after;
    if (launch[entry.served_core].core != run.core)
      json["served_after_core"] = launch[entry.served_core].core;
  }
  if (!where.file.empty()) {
    json["file"] = where.file;
    json["line"] = where.line;
  }
  if (tile) {
    json["shape"] = shape_text(*tile);
    json["bytes"] = tile->bytes();
  }
  if (const std::string* name = program.name(i)) json["name"] = *name;
  json["operands"] = operands(program, i);
  return json;
}

// What decided when a core ended, in the order of time: each step takes from the one before it.
Json step_json(std::span<const Run> launch, const Step& step, Loss loss) {
  Json json{{"cause", loss_name(loss)},
            {"from_ns", step.from.ns()},
            {"to_ns", step.to.ns()},
            {"instruction", step.instruction}};
  if (launch.size() > 1) json["core"] = launch[step.core].core;
  return json;
}

// User text (names, paths) may hold anything; what is no UTF-8 is replaced.
std::string dumped(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

// Of more launches than these none is clocked again.
constexpr std::size_t kJudgedInFull = 32;

// Instructions are written one by one, a line each: a document of millions would not fit into
// memory as a tree.
std::string json(std::span<const Run> runs, Detail detail) {
  Picoseconds total;
  const auto all = launches(runs);
  for (const auto launch : all) total += latency(launch);
  std::string out = fmt::format(
      "{{\n\"format\": \"trnsim report\",\n\"format_version\": 1,\n\"launch_count\": {},\n"
      "\"total_latency_ns\": {},\n\"runs\": [",
      all.size(), dumped(Json(total.ns())));
  const char* separator = "\n";
  for (std::size_t l = 0; l < all.size(); ++l) {
    const Verdict verdict = judge(all[l], summarize(all[l], slowest_core(all[l])),
                                  all.size() > kJudgedInFull ? Effort::kBrief : Effort::kFull);
    for (std::size_t c = 0; c < all[l].size(); ++c) {
      const Run& run = all[l][c];
      Json head{{"launch", l}};
      head.update(summary_json(summarize(all[l], c), verdict));
      head.update(views_json(all[l], c));
      head["launch_terms_ns"] = launch_json(run.chip->core.launch);
      std::string text = dumped(head, 1);
      text.resize(text.rfind('\n'));  // reopened for the instructions
      out += separator + text;
      if (detail == Detail::kInstructions) {
        const std::vector<Step> path = critical_path(all[l], c);
        const std::vector<Loss> losses = loss_of_each(all[l], path);
        out += ",\n \"critical_path\": [";
        for (std::size_t i = 0; i < path.size(); ++i)
          out += (i ? ",\n  " : "\n  ") + dumped(step_json(all[l], path[i], losses[i]));
        out += "\n ],\n \"instructions\": [";
        for (std::size_t i = 0; i < run.timeline->entries.size(); ++i) {
          out += (i ? ",\n  " : "\n  ") + dumped(instruction_json(all[l], run, i));
        }
        out += "\n ]";
      }
      out += "\n}";
      separator = ",\n";
    }
  }
  return out + "\n]\n}\n";
}

}  // namespace trnsim::report
