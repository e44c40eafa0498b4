// Field numbers of the messages of perfetto.protos that a trace uses, as published in
// github.com/google/perfetto, protos/perfetto/trace. Names are the proto's.
#pragma once

#include <protozero/types.hpp>

namespace trnsim::report::perfetto {

using Tag = protozero::pbf_tag_type;

namespace trace {
inline constexpr Tag kPacket = 1;
}

namespace trace_packet {
inline constexpr Tag kTimestamp = 8;  // ns
inline constexpr Tag kTrustedPacketSequenceId = 10;
inline constexpr Tag kTrackEvent = 11;
inline constexpr Tag kInternedData = 12;
inline constexpr Tag kSequenceFlags = 13;
inline constexpr Tag kTrackDescriptor = 60;
inline constexpr std::uint32_t kSeqIncrementalStateCleared = 1;
inline constexpr std::uint32_t kSeqNeedsIncrementalState = 2;
}  // namespace trace_packet

namespace track_descriptor {
inline constexpr Tag kUuid = 1;
inline constexpr Tag kName = 2;
inline constexpr Tag kProcess = 3;
inline constexpr Tag kParentUuid = 5;
inline constexpr Tag kCounter = 8;
inline constexpr Tag kChildOrdering = 11;
inline constexpr Tag kSiblingOrderRank = 12;
inline constexpr std::int32_t kExplicit = 3;  // ChildTracksOrdering
}  // namespace track_descriptor

namespace process_descriptor {
inline constexpr Tag kPid = 1;
inline constexpr Tag kProcessName = 6;
}  // namespace process_descriptor

namespace counter_descriptor {
inline constexpr Tag kUnit = 3;
inline constexpr Tag kUnitName = 6;
inline constexpr std::int32_t kUnitSizeBytes = 3;
}  // namespace counter_descriptor

namespace track_event {
inline constexpr Tag kDebugAnnotations = 4;
inline constexpr Tag kType = 9;
inline constexpr Tag kNameIid = 10;
inline constexpr Tag kTrackUuid = 11;
inline constexpr Tag kCounterValue = 30;
inline constexpr Tag kDoubleCounterValue = 44;
inline constexpr Tag kFlowIds = 47;             // fixed64
inline constexpr Tag kTerminatingFlowIds = 48;  // fixed64
enum Type : std::int32_t { kSliceBegin = 1, kSliceEnd = 2, kCounter = 4 };
}  // namespace track_event

namespace debug_annotation {
inline constexpr Tag kNameIid = 1;
inline constexpr Tag kIntValue = 4;
inline constexpr Tag kStringValueIid = 17;
}  // namespace debug_annotation

namespace interned_data {
inline constexpr Tag kEventNames = 2;
inline constexpr Tag kDebugAnnotationNames = 3;
inline constexpr Tag kDebugAnnotationStringValues = 29;
}  // namespace interned_data

// EventName, DebugAnnotationName and InternedString agree on these.
namespace interned_string {
inline constexpr Tag kIid = 1;
inline constexpr Tag kText = 2;
}  // namespace interned_string

}  // namespace trnsim::report::perfetto
