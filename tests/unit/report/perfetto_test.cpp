// The trace, decoded again: tracks are declared, slices nest, arrows have two ends, memory goes up
// and down.
#include "report/perfetto.h"

#include <gmock/gmock.h>

#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>

#include "base/error.h"
#include "examples.h"
#include "report/perfetto_protos.h"

namespace trnsim::report {
namespace {

using protozero::pbf_reader;

struct Event {
  std::uint64_t track = 0, name = 0;
  std::int64_t at = 0;
  int type = 0, annotations = 0;
  std::vector<std::uint64_t> flows_out, flows_in;
  std::int64_t value = 0;
};

struct Decoded {
  std::map<std::uint64_t, std::string> tracks;  // by uuid
  std::map<std::uint64_t, std::uint64_t> parents;
  std::map<std::uint64_t, std::string> names;  // interned event names
  std::vector<Event> events;
};

void read_descriptor(pbf_reader message, Decoded& trace) {
  std::uint64_t uuid = 0, parent = 0;
  std::string name;
  while (message.next()) {
    switch (message.tag()) {
      case perfetto::track_descriptor::kUuid:
        uuid = message.get_uint64();
        break;
      case perfetto::track_descriptor::kParentUuid:
        parent = message.get_uint64();
        break;
      case perfetto::track_descriptor::kName:
        name = message.get_string();
        break;
      case perfetto::track_descriptor::kProcess: {
        pbf_reader process = message.get_message();
        while (process.next()) {
          if (process.tag() == perfetto::process_descriptor::kProcessName) {
            name = process.get_string();
          } else {
            process.skip();
          }
        }
        break;
      }
      default:
        message.skip();
    }
  }
  EXPECT_TRUE(trace.tracks.emplace(uuid, name).second) << "track declared twice: " << name;
  if (parent) trace.parents[uuid] = parent;
}

Event read_event(pbf_reader message) {
  Event event;
  while (message.next()) {
    switch (message.tag()) {
      case perfetto::track_event::kType:
        event.type = message.get_enum();
        break;
      case perfetto::track_event::kTrackUuid:
        event.track = message.get_uint64();
        break;
      case perfetto::track_event::kNameIid:
        event.name = message.get_uint64();
        break;
      case perfetto::track_event::kFlowIds:
        event.flows_out.push_back(message.get_fixed64());
        break;
      case perfetto::track_event::kTerminatingFlowIds:
        event.flows_in.push_back(message.get_fixed64());
        break;
      case perfetto::track_event::kCounterValue:
        event.value = message.get_int64();
        break;
      case perfetto::track_event::kDebugAnnotations:
        ++event.annotations;
        [[fallthrough]];
      default:
        message.skip();
    }
  }
  return event;
}

void read_names(pbf_reader message, Decoded& trace) {
  while (message.next()) {
    if (message.tag() != perfetto::interned_data::kEventNames) {
      message.skip();
      continue;
    }
    pbf_reader entry = message.get_message();
    std::uint64_t iid = 0;
    while (entry.next()) {
      if (entry.tag() == perfetto::interned_string::kIid) {
        iid = entry.get_uint64();
      } else {
        trace.names[iid] = entry.get_string();
      }
    }
  }
}

Decoded decode(const std::string& bytes) {
  Decoded trace;
  pbf_reader reader(bytes);
  while (reader.next(perfetto::trace::kPacket)) {
    pbf_reader packet = reader.get_message();
    std::int64_t at = 0;
    while (packet.next()) {
      switch (packet.tag()) {
        case perfetto::trace_packet::kTimestamp:
          at = static_cast<std::int64_t>(packet.get_uint64());
          break;
        case perfetto::trace_packet::kTrackDescriptor:
          read_descriptor(packet.get_message(), trace);
          break;
        case perfetto::trace_packet::kInternedData:
          read_names(packet.get_message(), trace);
          break;
        case perfetto::trace_packet::kTrackEvent:
          trace.events.push_back(read_event(packet.get_message()));
          trace.events.back().at = at;
          break;
        default:
          packet.skip();
      }
    }
  }
  return trace;
}

// What a viewer relies on.
void expect_well_formed(const Decoded& trace) {
  std::map<std::uint64_t, std::vector<std::int64_t>> open;
  std::map<std::uint64_t, std::int64_t> reached;
  std::multiset<std::uint64_t> flows_out, flows_in;
  for (const Event& event : trace.events) {
    ASSERT_TRUE(trace.tracks.contains(event.track));
    EXPECT_TRUE(trace.parents.contains(event.track));
    EXPECT_GE(event.at, reached[event.track]);
    if (event.type == perfetto::track_event::kSliceBegin) {
      EXPECT_TRUE(trace.names.contains(event.name));
      open[event.track].push_back(event.at);
      reached[event.track] = event.at;
    } else if (event.type == perfetto::track_event::kSliceEnd) {
      ASSERT_FALSE(open[event.track].empty());
      open[event.track].pop_back();
      reached[event.track] = event.at;
    }
    flows_out.insert(event.flows_out.begin(), event.flows_out.end());
    flows_in.insert(event.flows_in.begin(), event.flows_in.end());
  }
  for (const auto& [track, slices] : open) EXPECT_TRUE(slices.empty());
  EXPECT_EQ(flows_out, flows_in);
  EXPECT_EQ(std::set(flows_out.begin(), flows_out.end()).size(), flows_out.size());
}

int count_slices(const Decoded& trace) {
  int slices = 0;
  for (const Event& event : trace.events)
    slices += event.type == perfetto::track_event::kSliceBegin;
  return slices;
}

TEST(Perfetto, a_chain_has_a_track_per_queue_and_an_arrow_per_wait) {
  Scene scene;
  load_multiply_store(scene);
  scene.program.name_last("store result");
  const Decoded trace = decode(perfetto_trace(std::vector{run_of(scene, "k")}));
  expect_well_formed(trace);
  std::vector<std::string> tracks;
  for (const auto& [uuid, name] : trace.tracks) tracks.push_back(name);
  EXPECT_THAT(tracks, testing::IsSupersetOf({"k (launch 0, core 0)", "Tensor", "Scalar",
                                             "DMA loads", "DMA stores", "DMA bandwidth"}));
  EXPECT_EQ(count_slices(trace), 5);  // four instructions and a table load
  int arrows = 0;
  std::set<std::string> names;
  for (const Event& event : trace.events) {
    arrows += static_cast<int>(event.flows_in.size());
    if (event.name) names.insert(trace.names.at(event.name));
  }
  EXPECT_EQ(arrows, 3);
  EXPECT_THAT(
      names, testing::IsSupersetOf({"nc_matmul 128x512", "store result", "activation table load"}));
}

TEST(Perfetto, any_program_gives_a_well_formed_trace) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    Scene scene(seed % 2 ? "trainium1" : "trainium2");
    jumble(scene, seed, 200);
    expect_well_formed(decode(perfetto_trace(std::vector{run_of(scene)})));
  }
}

TEST(Perfetto, slices_that_touch_in_picoseconds_touch_in_nanoseconds) {
  Scene scene;
  const auto first = scene.copy(sbuf(0, 77), sbuf(32768, 77));
  const auto second = scene.copy(sbuf(4096, 77), sbuf(65536, 77));
  ASSERT_NE(scene.at(second).start.count % 1000, 0);
  const Decoded trace = decode(perfetto_trace(std::vector{run_of(scene)}));
  ASSERT_EQ(trace.events.size(), 4u);
  EXPECT_EQ(trace.events[1].at, scene.at(first).busy_end.count / 1000);
  EXPECT_EQ(trace.events[2].at, trace.events[1].at);
}

TEST(Perfetto, launches_are_laid_end_to_end_and_their_cores_side_by_side) {
  Scene scene;
  load_multiply_store(scene);
  const std::vector runs{run_of(scene, "a", 0), run_of(scene, "a", 1), run_of(scene, "b", 0)};
  const Decoded trace = decode(perfetto_trace(runs));
  expect_well_formed(trace);
  std::map<std::uint64_t, std::int64_t> first;  // by process
  for (const Event& event : trace.events) {
    const auto [it, added] = first.emplace(trace.parents.at(event.track), event.at);
    it->second = std::min(it->second, event.at);
  }
  ASSERT_EQ(first.size(), 3u);
  std::vector<std::int64_t> starts;
  for (const auto& [process, at] : first) starts.push_back(at);
  EXPECT_EQ(starts[0], starts[1]);
  EXPECT_EQ(starts[2] - starts[0], scene.timeline().total.count / 1000);
}

TEST(Perfetto, a_program_that_broke_off_still_loads) {
  Scene whole;
  jumble(whole, 5, 60);
  for (std::size_t kept = 0; kept < 60; kept += 13) {
    Scene part;
    jumble(part, 5, static_cast<int>(kept));
    const Decoded trace = decode(perfetto_trace(std::vector{run_of(part)}));
    expect_well_formed(trace);
    EXPECT_GE(count_slices(trace), static_cast<int>(kept));
  }
}

TEST(Perfetto, a_path_that_cannot_be_written_is_the_users_error) {
  Scene scene;
  load_multiply_store(scene);
  try {
    write_perfetto(std::vector{run_of(scene)}, "/no/such/folder/out.pftrace");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kConfig);
    EXPECT_THAT(error.message(),
                testing::HasSubstr("/no/such/folder/out.pftrace: No such file or directory"));
  }
}

}  // namespace
}  // namespace trnsim::report
