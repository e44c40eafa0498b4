#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "report/instruction_text.h"
#include "report/report.h"
#include "report/summary.h"
#include "report/time_text.h"
#include "report/verdict.h"

namespace trnsim::report {
namespace {

constexpr std::size_t kWidth = 100;

std::string bytes_text(double bytes) {
  if (bytes >= 1 << 20) return fmt::format("{:.1f} MiB", bytes / (1 << 20));
  if (bytes >= 1 << 10) return fmt::format("{:.1f} KiB", bytes / (1 << 10));
  return fmt::format("{:.0f} B", bytes);
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string shortened(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  return text.substr(0, width - 3) + "...";
}

class Page {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    std::string text = shortened(fmt::format(format, std::forward<Args>(args)...), kWidth);
    text.erase(text.find_last_not_of(' ') + 1);
    out_ += text + '\n';
  }

  void cores(std::span<const Run> launch, std::size_t slowest) {
    line("{} on {} cores side by side, {}", shortened(launch.front().kernel, 40), launch.size(),
         time_text(latency(launch)));
    for (std::size_t core = 0; core < launch.size(); ++core) {
      line("  {:>12}  core {}{}", time_text(launch[core].timeline->total), launch[core].core,
           core == slowest ? ", in full:" : "");
    }
  }

  void heading(const Summary& s, const Verdict& verdict) {
    line("{} on one NeuronCore-{} of {}, {} instructions", shortened(s.kernel, 40), s.generation,
         s.chip, s.instructions);
    line("  latency      {} on the device, {}; launching the executable adds {}",
         time_text(s.latency),
         s.scheduling == timing::Scheduling::kList ? "reordered by a list scheduler"
                                                   : "in program order",
         time_text(s.launch));
    if (s.latency.count == 0) return;
    const Interval& interval = verdict.interval;
    line("  90 % within  {} to {}; {}", time_text(from_ns(interval.low_ns)),
         time_text(from_ns(interval.high_ns)), interval.basis);
    const ConfidenceShare& share = verdict.confidence;
    line("  rests on     documented figures {}, measured {}, inferred {}, guesses {}",
         percent(share[0]), percent(share[1]), percent(share[2]), percent(share[3]));
  }

  // A label and text that may take several lines.
  void wrapped(std::string_view label, std::string_view text) {
    constexpr std::size_t kIndent = 15;
    while (!text.empty()) {
      std::size_t end = text.size();
      if (end > kWidth - kIndent) end = text.rfind(' ', kWidth - kIndent);
      if (end < text.size() && text.substr(end).starts_with(" %")) end = text.rfind(' ', end - 1);
      if (end == 0 || end == text.npos) end = text.find(' ');
      line("  {:<12} {}", label, text.substr(0, end));
      text.remove_prefix(std::min(text.size(), end == text.npos ? text.size() : end + 1));
      label = "";
    }
  }

  // With up to `more` pieces of advice beside the first.
  void losses(const Summary& s, const Verdict& verdict, std::size_t more) {
    wrapped("verdict", verdict.sentence);
    for (std::size_t i = 1; i < std::min(1 + more, verdict.advice.size()); ++i) {
      const Gain& gain = verdict.advice[i];
      wrapped(i == 1 ? "or" : "", fmt::format("{:.2f}x: {}", gain.speedup, gain.obstacle->advice));
    }
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(6, s.losses.size()); ++i) {
      list += fmt::format("{}{} {}", i ? ", " : "", loss_name(s.losses[i].loss),
                          percent(s.losses[i].share));
    }
    if (!list.empty()) wrapped("time lost to", list);
  }

  void work(const Summary& s) {
    const auto bytes = [](std::int64_t count) { return bytes_text(static_cast<double>(count)); };
    line("  matmul       {:.3f} GFLOP; {} of {:g} TFLOPS ({}bf16 peak of one core)",
         static_cast<double>(s.flops) * 1e-9, percent(s.model_flops_utilization),
         s.peak_bf16_tflops, s.peak_published ? "published " : "");
    const Transfers& t = s.transfers;
    line("  DMA          {} in pieces of {}; {:.1f} GB/s active, {} of {:g} GB/s sustained",
         bytes(t.bytes), bytes_text(t.piece_bytes), t.achieved_gb_per_s, percent(t.efficiency),
         t.sustained_gb_per_s);
    line("  HBM          {}; {:.1f} GB/s over the run, {} of the chip's bandwidth",
         bytes(t.hbm_bytes), t.hbm_gb_per_s, percent(t.share_of_chip_hbm));
    line("  memory       SBUF {} of {} per partition, PSUM {} of {}", bytes(s.sbuf.peak_bytes),
         bytes(s.sbuf.capacity), bytes(s.psum.peak_bytes), bytes(s.psum.capacity));
    if (s.table_loads > 0)
      line("  table loads  {}, {} in all", s.table_loads, time_text(s.table_load_time));
  }

  void queues(const Summary& s) {
    line("  {:<12} {:>12} {:>9} {:>14} {:>9}", "queue", "busy", "of run", "critical path",
         "instr.");
    for (const QueueUse& use : s.queues) {
      line("  {:<12} {:>12} {:>9} {:>14} {:>9}", timing::queue_name(use.queue), time_text(use.busy),
           percent(use.busy_share), time_text(use.critical), use.instructions);
    }
  }

  void lines(const Summary& s, std::size_t most) {
    line("  {:>13} {:>9} {:>9}  costliest lines", "critical path", "busy", "instr.");
    for (std::size_t i = 0; i < std::min(most, s.lines.size()); ++i) {
      const LineUse& use = s.lines[i];
      const std::string where = place(use.site);
      const std::string in =
          use.site.function.empty() ? "" : fmt::format(" in {}", use.site.function);
      line("  {:>13} {:>9} {:>9}  {}{}", percent(use.critical_share), percent(use.busy_share),
           use.instructions, where.empty() ? "(no line recorded)" : where, in);
    }
  }

  std::size_t line_count() const {
    return static_cast<std::size_t>(std::count(out_.begin(), out_.end(), '\n'));
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

constexpr std::size_t kLines = 30;

}  // namespace

std::string text(std::span<const Run> runs) {
  if (runs.empty()) return "No kernel ran.\n";
  Page page;
  const auto all = launches(runs);
  const std::span<const Run> longest = *std::max_element(
      all.begin(), all.end(), [](const auto& a, const auto& b) { return latency(a) < latency(b); });
  if (all.size() > 1) {
    Picoseconds total;
    for (const auto launch : all) total += latency(launch);
    page.line("{} kernel launches, {} one after the other", all.size(), time_text(total));
    const std::size_t listed = longest.size() > 1 ? 3 : 6;  // its cores take lines too
    for (std::size_t i = 0; i < std::min(listed, all.size()); ++i) {
      page.line("  {:>12}  {}, {}", time_text(latency(all[i])), all[i].front().kernel,
                all[i].size() == 1 ? fmt::format("core {}", all[i].front().core)
                                   : fmt::format("{} cores", all[i].size()));
    }
    if (all.size() > listed) page.line("  {:>12}  {} more", "", all.size() - listed);
    page.line("The longest:");
  }
  const std::size_t slowest = slowest_core(longest);
  if (longest.size() > 1) page.cores(longest, slowest);
  const Summary summary = summarize(longest, slowest);
  const Verdict verdict = judge(longest, summary);
  page.heading(summary, verdict);
  page.losses(summary, verdict, all.size() + longest.size() > 2 ? 0 : 2);
  page.work(summary);
  page.queues(summary);
  if (page.line_count() + 1 < kLines)
    page.lines(summary, std::min<std::size_t>(10, kLines - 1 - page.line_count()));
  return page.take();
}

}  // namespace trnsim::report
