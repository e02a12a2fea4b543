/// The bytes of a plan file. All numbers are little-endian.
///
///   0  u32  0x74727466, as in TensorRT's plans            40  u32  kFormatVersion
///   4  u32  0, a serialization version TensorRT has not   44  u32  number of sections
///   8  16 bytes 0                                         48  u64  size of the plan in bytes
///  24  4 bytes: 10, 16, patch and build of the API        56  u64  checksum of header and table, this field taken as 0
///  28  4 bytes 0                                          64  the table: an entry of 64 bytes a section
///  32  8 bytes: kTag
///
/// An entry: 32 bytes name, padded with zeros; u64 offset, u64 size, u64 checksum (XXH3 of the section), u64 0.
/// Sections follow in the table's order, each at the next multiple of 256; bytes between are zero.
///   metadata  one CBOR document (metadata.h)
///   weights   elements in the order of Plan::weights, each at `weight_offset`; one with `same_as` has that
///             one's
///   binaries  the same of Plan::binaries
///   plugin_libraries  the same of Plan::plugin_libraries
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kiln::plan {

inline constexpr uint32_t kMagic = 0x74727466;
inline constexpr std::string_view kTag = "KILNPLAN";
inline constexpr uint32_t kFormatVersion = 12;
inline constexpr uint8_t kApiVersion[4] = {10, 16, 0, 72};  ///< of include/NvInferVersion.h

inline constexpr size_t kHeaderBytes = 64, kEntryBytes = 64, kNameBytes = 32;
inline constexpr uint64_t kSectionAlign = 256;
inline constexpr uint64_t kMaxPlanBytes = uint64_t{1} << 46;

inline constexpr std::string_view kMetadataSection = "metadata", kWeightsSection = "weights",
                                  kBinariesSection = "binaries", kPluginLibrariesSection = "plugin_libraries";
/// Those behind the metadata are Plan's `stored_lists`.
inline constexpr std::string_view kSectionNames[] = {kMetadataSection, kWeightsSection, kBinariesSection,
                                                     kPluginLibrariesSection};
inline constexpr size_t kNumSections = std::size(kSectionNames);
inline constexpr uint64_t kMaxMetadataBytes = uint64_t{256} << 20;
inline constexpr size_t kTableEnd = kHeaderBytes + kNumSections * kEntryBytes;

namespace header {
inline constexpr size_t kMagic = 0, kSerializationVersion = 4, kApiVersion = 24, kTag = 32, kFormatVersion = 40,
                        kNumSections = 44, kTotalBytes = 48, kChecksum = 56;
}
namespace entry {
inline constexpr size_t kName = 0, kOffset = 32, kSize = 40, kChecksum = 48;
}

constexpr uint64_t round_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }
/// The offset of a weight of `size` bytes that follows one which ends at `end`, both from the section's start: small
/// ones packed tighter than those that are read in long runs.
constexpr uint64_t weight_offset(uint64_t end, uint64_t size) { return round_up(end, size < 4096 ? 64 : 256); }

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}
template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

}  // namespace kiln::plan
