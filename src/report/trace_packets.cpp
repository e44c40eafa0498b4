#include "report/trace_packets.h"

#include <protozero/pbf_writer.hpp>

#include "report/perfetto_protos.h"

namespace trnsim::report::perfetto {
namespace {

using protozero::pbf_writer;

constexpr std::uint32_t kSequence = 1;  // all packets come from one writer

void add_text(pbf_writer& writer, Tag tag, std::string_view text) {
  writer.add_bytes(tag, text.data(), text.size());
}

pbf_writer described(std::string& body, std::uint64_t track, std::uint64_t parent, int rank,
                     std::string_view name) {
  pbf_writer writer(body);
  writer.add_uint64(track_descriptor::kUuid, track);
  writer.add_uint64(track_descriptor::kParentUuid, parent);
  writer.add_int32(track_descriptor::kSiblingOrderRank, rank);
  add_text(writer, track_descriptor::kName, name);
  return writer;
}

pbf_writer event_body(std::string& body, std::uint64_t track, track_event::Type type) {
  pbf_writer writer(body);
  writer.add_enum(track_event::kType, type);
  writer.add_uint64(track_event::kTrackUuid, track);
  return writer;
}

}  // namespace

std::uint64_t TracePackets::Interned::number(std::string_view text) {
  const auto known = numbers.find(text);
  if (known != numbers.end()) return known->second;
  const std::uint64_t iid = numbers.size() + 1;
  numbers.emplace(text, iid);
  pbf_writer writer(unsent);
  pbf_writer entry(writer, tag);
  entry.add_uint64(interned_string::kIid, iid);
  add_text(entry, interned_string::kText, text);
  return iid;
}

TracePackets::TracePackets()
    : event_names_{{}, {}, interned_data::kEventNames},
      annotation_names_{{}, {}, interned_data::kDebugAnnotationNames},
      annotation_values_{{}, {}, interned_data::kDebugAnnotationStringValues} {
  std::string body;
  pbf_writer writer(body);
  writer.add_uint32(trace_packet::kTrustedPacketSequenceId, kSequence);
  writer.add_uint32(trace_packet::kSequenceFlags, trace_packet::kSeqIncrementalStateCleared);
  packet(body);
}

void TracePackets::packet(std::string_view body) {
  pbf_writer writer(out_);
  writer.add_message(trace::kPacket, body.data(), body.size());
}

void TracePackets::descriptor(std::string_view body) {
  std::string text;
  pbf_writer writer(text);
  writer.add_uint32(trace_packet::kTrustedPacketSequenceId, kSequence);
  writer.add_message(trace_packet::kTrackDescriptor, body.data(), body.size());
  packet(text);
}

void TracePackets::event(Picoseconds at, std::string_view body) {
  std::string text;
  pbf_writer writer(text);
  writer.add_uint64(trace_packet::kTimestamp, static_cast<std::uint64_t>(at.count / 1000));
  writer.add_uint32(trace_packet::kTrustedPacketSequenceId, kSequence);
  writer.add_uint32(trace_packet::kSequenceFlags, trace_packet::kSeqNeedsIncrementalState);
  std::string interned;
  for (Interned* kind : {&event_names_, &annotation_names_, &annotation_values_}) {
    interned += kind->unsent;
    kind->unsent.clear();
  }
  if (!interned.empty()) writer.add_message(trace_packet::kInternedData, interned);
  writer.add_message(trace_packet::kTrackEvent, body.data(), body.size());
  packet(text);
}

void TracePackets::process(std::uint64_t track, int pid, std::string_view name) {
  std::string body;
  pbf_writer writer(body);
  writer.add_uint64(track_descriptor::kUuid, track);
  writer.add_enum(track_descriptor::kChildOrdering, track_descriptor::kExplicit);
  {
    pbf_writer process(writer, track_descriptor::kProcess);
    process.add_int32(process_descriptor::kPid, pid);
    add_text(process, process_descriptor::kProcessName, name);
  }
  descriptor(body);
}

void TracePackets::track(std::uint64_t track, std::uint64_t parent, int rank,
                         std::string_view name) {
  std::string body;
  described(body, track, parent, rank, name);
  descriptor(body);
}

void TracePackets::counter_track(std::uint64_t track, std::uint64_t parent, int rank,
                                 std::string_view name, std::string_view unit) {
  std::string body;
  pbf_writer writer = described(body, track, parent, rank, name);
  {
    pbf_writer counter(writer, track_descriptor::kCounter);
    if (unit == "bytes") {
      counter.add_enum(counter_descriptor::kUnit, counter_descriptor::kUnitSizeBytes);
    } else {
      add_text(counter, counter_descriptor::kUnitName, unit);
    }
  }
  descriptor(body);
}

void TracePackets::begin(std::uint64_t track, Picoseconds at, std::string_view name,
                         std::span<const Annotation> annotations,
                         std::span<const std::uint64_t> flows_out,
                         std::span<const std::uint64_t> flows_in) {
  std::string body;
  pbf_writer writer = event_body(body, track, track_event::kSliceBegin);
  writer.add_uint64(track_event::kNameIid, event_names_.number(name));
  for (const Annotation& annotation : annotations) {
    pbf_writer one(writer, track_event::kDebugAnnotations);
    one.add_uint64(debug_annotation::kNameIid, annotation_names_.number(annotation.name));
    if (const auto* number = std::get_if<std::int64_t>(&annotation.value)) {
      one.add_int64(debug_annotation::kIntValue, *number);
    } else {
      one.add_uint64(debug_annotation::kStringValueIid,
                     annotation_values_.number(std::get<std::string>(annotation.value)));
    }
  }
  for (const std::uint64_t flow : flows_out) writer.add_fixed64(track_event::kFlowIds, flow);
  for (const std::uint64_t flow : flows_in)
    writer.add_fixed64(track_event::kTerminatingFlowIds, flow);
  event(at, body);
}

void TracePackets::end(std::uint64_t track, Picoseconds at) {
  std::string body;
  event_body(body, track, track_event::kSliceEnd);
  event(at, body);
}

void TracePackets::count(std::uint64_t track, Picoseconds at, std::int64_t value) {
  std::string body;
  event_body(body, track, track_event::kCounter).add_int64(track_event::kCounterValue, value);
  event(at, body);
}

void TracePackets::count(std::uint64_t track, Picoseconds at, double value) {
  std::string body;
  event_body(body, track, track_event::kCounter)
      .add_double(track_event::kDoubleCounterValue, value);
  event(at, body);
}

}  // namespace trnsim::report::perfetto
