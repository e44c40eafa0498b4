// The best layout that fits: every legal combination of what a request leaves open.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fleet/request.h"
#include "fleet/step.h"

namespace trnsim::fleet {

struct Candidate {
  Layout layout;
  double seconds = 0, tokens_per_second = 0, memory = 0;
  bool fits = false;
};

struct Loser {
  std::string choice, reason;  // "tp 32", "1.8 times as long: 41 % are tensor transfers"
};

struct Search {
  std::vector<Candidate> best;  // that fit, fastest first, at most ten
  Candidate smallest;           // needs least memory, whether it fits or not
  std::int64_t tried = 0, fitting = 0;
  std::vector<Loser> losers;
};

// Layouts that the request allows on this machine; legal ones only, and unless `any_batch` those
// whose batch is of a size that training profits from.
void for_each_layout(const Request& request, const Model& model, const Machine& machine,
                     bool any_batch, const std::function<void(const Layout&)>& fn);

// `progress(done, total)` is called now and then. Throws ConfigError where nothing is legal.
Search search(const Request& request, Evaluator& evaluator,
              const std::function<void(std::int64_t)>& progress = {});

// The one layout of a request that leaves nothing of consequence open.
std::optional<Layout> given_layout(const Request& request, const Model& model,
                                   const Machine& machine);

}  // namespace trnsim::fleet
