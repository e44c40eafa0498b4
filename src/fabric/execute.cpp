#include "fabric/execute.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "base/error.h"
#include "numerics/convert.h"

namespace trnsim::fabric {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
T combine(Operator op, T a, T b) {
  if (op == Operator::kAdd) return static_cast<T>(a + b);
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  return op == Operator::kMinimum ? std::min(a, b) : std::max(a, b);
}

// Elements in the form in which they are combined: fp32, or 64-bit integers.
template <class T>
class Elements {
 public:
  explicit Elements(numerics::Dtype dtype) : dtype_(dtype), info_(numerics::info(dtype)) {}

  std::vector<T> read(const std::byte* bytes, std::int64_t count) const {
    std::vector<T> values(static_cast<std::size_t>(count));
    if constexpr (std::is_same_v<T, float>) {
      numerics::to_float(dtype_, bytes, info_.bytes, values.data(), values.size());
    } else {
      for (T& value : values) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes, static_cast<std::size_t>(info_.bytes));
        const int unused = 64 - 8 * info_.bytes;
        value = info_.is_signed ? static_cast<std::int64_t>(bits << unused) >> unused
                                : static_cast<std::int64_t>(bits);
        bytes += info_.bytes;
      }
    }
    return values;
  }

  void write(const std::vector<T>& values, std::byte* bytes) const {
    if constexpr (std::is_same_v<T, float>) {
      numerics::from_float(dtype_, values.data(), bytes, info_.bytes, values.size());
    } else {
      for (const T value : values) {
        std::memcpy(bytes, &value, static_cast<std::size_t>(info_.bytes));
        bytes += info_.bytes;
      }
    }
  }

 private:
  numerics::Dtype dtype_;
  numerics::DtypeInfo info_;
};

template <class T>
class Reduction {
 public:
  Reduction(const Plan& plan, numerics::Dtype dtype, Operator op, std::vector<Bytes>* buffers)
      : plan_(plan),
        elements_(dtype),
        op_(op),
        width_(numerics::info(dtype).bytes),
        buffers_(*buffers),
        inbox_(buffers->size()) {}

  void run() {
    for (const Stage& stage : plan_.stages)
      if (stage.phase == Phase::kReduce)
        reduce_stage(stage);
      else if (stage.phase == Phase::kWhole)
        everyone_reduces();
  }

 private:
  struct Arrived {
    std::int64_t from;
    Bytes bytes;
  };

  std::byte* at(std::int64_t number, Range range) {
    return buffers_[static_cast<std::size_t>(number)].data() + range.begin * width_;
  }

  // What a member would write of a piece: arrivals and its own in the order of members, then the
  // others of the block.
  Bytes value(const Stage& stage, std::int64_t number, Range piece, int block_first,
              int block_count) {
    std::vector<T> sum;
    const auto take = [&](const std::byte* bytes) {
      const std::vector<T> more = elements_.read(bytes, piece.size());
      if (sum.empty()) {
        sum = more;
        return;
      }
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = combine(op_, sum[i], more[i]);
    };
    const auto found = inbox_[static_cast<std::size_t>(number)].find(piece.begin);
    bool own = false;
    if (found != inbox_[static_cast<std::size_t>(number)].end()) {
      std::stable_sort(found->second.begin(), found->second.end(),
                       [](const Arrived& a, const Arrived& b) { return a.from < b.from; });
      for (const Arrived& arrived : found->second) {
        if (!own && arrived.from > number) {
          take(at(number, piece));
          own = true;
        }
        take(arrived.bytes.data());
      }
    }
    if (!own) take(at(number, piece));
    const int member = plan_.member(stage, number);
    for (int other = block_first; other < block_first + block_count; ++other)
      if (other != member) take(at(plan_.peer(stage, number, other), piece));
    Bytes result(static_cast<std::size_t>(piece.size() * width_));
    elements_.write(sum, result.data());
    return result;
  }

  struct Letter {
    std::int64_t from, to;
    Range piece;
    Bytes bytes;
  };

  void reduce_stage(const Stage& stage) {
    const Algorithm& schedule = *stage.schedule;
    const auto ranks = static_cast<std::int64_t>(buffers_.size());
    std::vector<Send> sends;
    for (int channel = 0; channel < schedule.channels(); ++channel) {
      for (auto& box : inbox_) box.clear();
      for (int round = 0; round < schedule.rounds(); ++round) {
        std::vector<Letter> letters;
        for (std::int64_t number = 0; number < ranks; ++number) {
          sends.clear();
          schedule.sends(plan_.member(stage, number), channel, round, sends);
          for (const Send& send : sends)
            for (const Range& piece : plan_.pieces(stage, number, channel, send.chunks))
              if (piece.size() > 0)
                letters.push_back(
                    {number, plan_.peer(stage, number, send.to), piece,
                     value(stage, number, piece, send.block_first, send.block_count)});
        }
        for (Letter& letter : letters)
          inbox_[static_cast<std::size_t>(letter.to)][letter.piece.begin].push_back(
              {letter.from, std::move(letter.bytes)});
        if (!schedule.reduces_late()) write_arrivals(stage, letters);
      }
      if (schedule.reduces_late()) write_owned(stage, channel);
    }
  }

  void write_arrivals(const Stage& stage, const std::vector<Letter>& letters) {
    std::map<std::pair<std::int64_t, std::int64_t>, Range> touched;
    for (const Letter& letter : letters) touched[{letter.to, letter.piece.begin}] = letter.piece;
    for (const auto& [key, piece] : touched) {
      const Bytes bytes = value(stage, key.first, piece, 0, 0);
      std::memcpy(at(key.first, piece), bytes.data(), bytes.size());
      inbox_[static_cast<std::size_t>(key.first)].erase(piece.begin);
    }
  }

  // Where a block shares chunks, the member to which something has come holds them for all.
  void write_owned(const Stage& stage, int channel) {
    const Algorithm& schedule = *stage.schedule;
    const int width = schedule.block();
    std::vector<Letter> results;
    for (std::int64_t number = 0; number < static_cast<std::int64_t>(buffers_.size()); ++number) {
      const int member = plan_.member(stage, number);
      const int first = member / width * width;
      for (const Range& piece :
           plan_.pieces(stage, number, channel, {schedule.owned(member), 1, schedule.members()})) {
        if (piece.size() == 0) continue;
        std::int64_t holder = number;
        for (int other = first; other < first + width; ++other) {
          const std::int64_t mate = plan_.peer(stage, number, other);
          if (inbox_[static_cast<std::size_t>(mate)].contains(piece.begin)) holder = mate;
        }
        if (inbox_[static_cast<std::size_t>(number)].contains(piece.begin)) holder = number;
        results.push_back({holder, number, piece, value(stage, holder, piece, first, width)});
      }
    }
    for (const Letter& result : results)
      std::memcpy(at(result.to, result.piece), result.bytes.data(), result.bytes.size());
  }

  // Everybody has everything: one sum, in the order of ranks.
  void everyone_reduces() {
    const Range all{0, plan_.request.elements};
    std::vector<T> sum = elements_.read(at(0, all), all.size());
    for (std::size_t number = 1; number < buffers_.size(); ++number) {
      const std::vector<T> more =
          elements_.read(at(static_cast<std::int64_t>(number), all), all.size());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = combine(op_, sum[i], more[i]);
    }
    for (Bytes& buffer : buffers_) elements_.write(sum, buffer.data());
  }

  const Plan& plan_;
  Elements<T> elements_;
  Operator op_;
  std::int64_t width_;
  std::vector<Bytes>& buffers_;
  std::vector<std::map<std::int64_t, std::vector<Arrived>>> inbox_;  // by where a piece begins
};

// The scheduled place of each rank's part: levels may leave it elsewhere than in the order of
// ranks.
std::vector<Range> places(const Plan& plan) {
  std::vector<Range> places;
  for (std::int64_t number = 0; number < plan.request.size; ++number)
    places.push_back(plan.region(number, static_cast<int>(plan.levels.size())));
  return places;
}

}  // namespace

Operator operator_from_name(std::string_view name) {
  if (name == "add") return Operator::kAdd;
  if (name == "minimum") return Operator::kMinimum;
  if (name == "maximum") return Operator::kMaximum;
  config_error("collectives reduce by add, minimum or maximum, not by \"{}\"", name);
}

void reduce(const Plan& plan, numerics::Dtype dtype, Operator op, std::vector<Bytes>* buffers) {
  const numerics::DtypeInfo& info = numerics::info(dtype);
  if (info.packed > 1 || dtype == numerics::Dtype::kFloat8E8M0FNU)
    unsupported("reducing {} between ranks, because it is no type that the fabric adds", info.name);
  const auto bytes =
      static_cast<std::size_t>(plan.request.elements) * static_cast<std::size_t>(info.bytes);
  for (const Bytes& buffer : *buffers)
    if (buffer.size() != bytes || static_cast<std::int64_t>(buffers->size()) != plan.request.size)
      internal_error("buffers do not fit the collective");
  if (bytes == 0 || buffers->size() < 2) return;
  const bool scatters = plan.request.collective == Collective::kReduceScatter;
  const std::vector<Range> places_of = places(plan);
  const auto width = static_cast<std::size_t>(info.bytes);
  if (scatters) {  // the part of rank r goes to where the schedule leaves rank r's result
    for (Bytes& buffer : *buffers) {
      Bytes moved(buffer.size());
      for (std::size_t r = 0; r < places_of.size(); ++r) {
        const Range from = part({0, plan.request.elements},
                                {static_cast<int>(r), 1, static_cast<int>(places_of.size())});
        std::memcpy(moved.data() + static_cast<std::size_t>(places_of[r].begin) * width,
                    buffer.data() + static_cast<std::size_t>(from.begin) * width,
                    static_cast<std::size_t>(from.size()) * width);
      }
      buffer = std::move(moved);
    }
  }
  if (info.is_float)
    Reduction<float>(plan, dtype, op, buffers).run();
  else
    Reduction<std::int64_t>(plan, dtype, op, buffers).run();
  if (!scatters && plan.levels.empty()) return;  // everyone has it already
  Bytes whole((*buffers)[0].size());
  for (std::size_t r = 0; r < places_of.size(); ++r) {
    const auto begin = static_cast<std::size_t>(places_of[r].begin) * width;
    const auto size = static_cast<std::size_t>(places_of[r].size()) * width;
    const std::byte* own = (*buffers)[r].data() + begin;
    if (scatters)
      (*buffers)[r] = Bytes(own, own + size);
    else
      std::memcpy(whole.data() + begin, own, size);
  }
  if (!scatters)
    for (Bytes& buffer : *buffers) buffer = whole;
}

}  // namespace trnsim::fabric
