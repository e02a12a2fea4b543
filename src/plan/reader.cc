#include "plan/reader.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/hash.h"
#include "base/mapped_pages.h"
#include "plan/cbor.h"
#include "plan/checksum.h"
#include "plan/layout.h"
#include "plan/loaded_bytes.h"
#include "plan/metadata.h"
#include "plan/validate.h"

namespace kiln::plan {
namespace {

struct Section {
  uint64_t offset = 0, size = 0, checksum = 0;
};

class Reader {
 public:
  explicit Reader(Source& source) : source_(source), memory_(source.memory()) {}
  Result<std::shared_ptr<const Plan>> run();

 private:
  Status read_header();
  Status check_identity(std::span<const std::byte> header) const;
  Status read_table(std::span<const std::byte, kHeaderBytes> header);
  Status check_gap(uint64_t begin, uint64_t end);
  Status begin_section(size_t section);
  bool borrows() const;
  Result<LoadedBytes> load_section(size_t section);
  Result<std::vector<uint64_t>> offsets_of(const std::vector<Weight>& weights, size_t section) const;
  Status copy(std::vector<Weight>& weights, size_t section, std::span<const uint64_t> offsets);
  Status attach(std::vector<Weight>& weights, size_t section);

  Source& source_;
  const std::optional<Source::Memory> memory_;
  uint64_t total_ = 0;
  std::array<Section, kNumSections> sections_;
};

std::string version_text(const std::byte* at) {
  return str(static_cast<int>(at[0]), '.', static_cast<int>(at[1]), '.', static_cast<int>(at[2]), '.',
             static_cast<int>(at[3]));
}

/// A number's bytes as a file has them: "66 74 72 74".
std::string hex_text(uint32_t number) {
  char text[12];
  std::snprintf(text, sizeof text, "%02x %02x %02x %02x", number & 0xff, number >> 8 & 0xff, number >> 16 & 0xff,
                number >> 24);
  return text;
}

/// Checks whose bytes these are, before anything else is believed of them.
Status Reader::check_identity(std::span<const std::byte> bytes) const {
  const std::byte* const at = bytes.data();
  if (const auto magic = load<uint32_t>(at + header::kMagic); magic != kMagic)
    return error(Code::kCorrupt, "this is not a plan file: a plan begins with the bytes ", hex_text(kMagic),
                 ", this with ", hex_text(magic));
  if (std::memcmp(at + header::kTag, kTag.data(), kTag.size()) != 0)
    return error(Code::kVersion, "a plan of NVIDIA TensorRT ", version_text(at + header::kApiVersion),
                 ", whose machine code only TensorRT can run; build the network again with Kiln");
  if (const auto version = load<uint32_t>(at + header::kFormatVersion); version != kFormatVersion)
    return error(Code::kVersion, "plan format version ", version, "; this Kiln reads version ", kFormatVersion,
                 ": build the network again, or load the plan with the Kiln that built it");
  return {};
}

Status Reader::read_table(std::span<const std::byte, kHeaderBytes> bytes) {
  std::array<std::byte, kTableEnd> front;
  std::copy(bytes.begin(), bytes.end(), front.begin());
  TRY(in_context(source_.read(kHeaderBytes, std::span(front).subspan(kHeaderBytes)), [] { return "section table"; }));
  const auto checksum = load<uint64_t>(front.data() + header::kChecksum);
  store(front.data() + header::kChecksum, uint64_t{0});
  if (const uint64_t actual = hash64(front); actual != checksum)
    return error(Code::kCorrupt, "header: checksum ", actual, " of header and section table, ", checksum,
                 " recorded; they are damaged");
  uint64_t end = kTableEnd;
  for (size_t i = 0; i < kNumSections; ++i) {
    const std::byte* const row = front.data() + kHeaderBytes + i * kEntryBytes;
    char name[kNameBytes] = {};
    kSectionNames[i].copy(name, kNameBytes);
    if (std::memcmp(row + entry::kName, name, kNameBytes) != 0)
      return error(Code::kCorrupt, "section ", i, " is not called '", kSectionNames[i], "'");
    const Section section{load<uint64_t>(row + entry::kOffset), load<uint64_t>(row + entry::kSize),
                          load<uint64_t>(row + entry::kChecksum)};
    const auto where = [&] { return str("section '", kSectionNames[i], "': "); };
    if (section.offset != round_up(end, kSectionAlign))
      return error(Code::kCorrupt, where(), "offset ", section.offset, "; ", round_up(end, kSectionAlign), " expected");
    if (section.offset > total_ || section.size > total_ - section.offset)
      return error(Code::kCorrupt, where(), "offset ", section.offset, " + size ", section.size, " exceeds the plan's ",
                   total_, " bytes");
    end = section.offset + section.size;
    sections_[i] = section;
  }
  if (end != total_) return error(Code::kCorrupt, "sections end at ", end, " of ", total_, " bytes");
  if (sections_[0].size > kMaxMetadataBytes)
    return error(Code::kCorrupt, "section 'metadata': size ", sections_[0].size, " exceeds ", kMaxMetadataBytes);
  return {};
}

Status Reader::read_header() {
  std::array<std::byte, kHeaderBytes> bytes;
  const std::optional<uint64_t> size = source_.size();
  if (size == 0u) return error(Code::kCorrupt, "this is not a plan file: it is empty");
  if (size && *size < kTableEnd) {
    const std::span<std::byte> begin = std::span(bytes).first(std::min<uint64_t>(*size, sizeof kMagic));
    TRY(in_context(source_.read(0, begin), [] { return "header"; }));
    uint32_t magic = 0;
    std::memcpy(&magic, begin.data(), begin.size());
    return error(Code::kCorrupt, magic == kMagic ? "truncated: " : "this is not a plan file: ", *size,
                 " bytes; a plan's header and section table alone take ", kTableEnd);
  }
  TRY(in_context(source_.read(0, bytes), [] { return "header"; }));
  TRY(check_identity(bytes));
  if (const auto count = load<uint32_t>(bytes.data() + header::kNumSections); count != kNumSections)
    return error(Code::kCorrupt, "header: ", count, " sections; version ", kFormatVersion, " has ", kNumSections);
  total_ = load<uint64_t>(bytes.data() + header::kTotalBytes);
  if (total_ > kMaxPlanBytes)
    return error(Code::kCorrupt, "header: a size of ", total_, " bytes; at most ", kMaxPlanBytes, " are possible");
  if (size && total_ > *size)
    return error(Code::kCorrupt, "truncated: the header says ", total_, " bytes, there are ", *size);
  if (size && total_ < *size)
    return error(Code::kCorrupt, "the header says ", total_, " bytes, there are ", *size, ": the ", *size - total_,
                 " behind the plan's end do not belong to it");
  return read_table(bytes);
}

/// Between sections there are zeros: every byte of a plan means something, so that damage never goes unseen.
Status Reader::check_gap(uint64_t begin, uint64_t end) {
  std::array<std::byte, kSectionAlign> bytes;
  const auto gap = std::span(bytes).first(end - begin);
  TRY(source_.read(begin, gap));
  for (size_t i = 0; i < gap.size(); ++i)
    if (gap[i] != std::byte{0}) return error(Code::kCorrupt, "byte ", begin + i, ", between sections, is not 0");
  return {};
}

Status Reader::begin_section(size_t i) {
  return check_gap(i == 0 ? kTableEnd : sections_[i - 1].offset + sections_[i - 1].size, sections_[i].offset);
}

/// Whether somebody keeps the bytes, and kernels can load vectors from them.
bool Reader::borrows() const {
  return memory_ && memory_->keep_alive && reinterpret_cast<uintptr_t>(memory_->bytes.data()) % 64 == 0;
}

Status check(uint64_t checksum, const Section& section) {
  if (checksum == section.checksum) return {};
  return error(Code::kCorrupt, "checksum ", checksum, ", ", section.checksum, " recorded; the section is damaged");
}

/// Brings a mapped file into memory a piece at a time.
uint64_t checksum_of(std::span<const std::byte> bytes) {
  constexpr size_t kPiece = 8 << 20;
  Checksum checksum;
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    checksum.add(piece);
    release_pages(piece);
  }
  return checksum.value();
}

Result<LoadedBytes> Reader::load_section(size_t i) {
  const Section& section = sections_[i];
  TRY(begin_section(i));
  LoadedBytes block;
  if (borrows() || (memory_ && i == 0))  // metadata is parsed where it is
    block = {memory_->bytes.subspan(section.offset, section.size), memory_->keep_alive};
  else
    block = TRY(load_bytes(source_, section.offset, section.size));
  TRY(check(checksum_of(block.bytes), section));
  return block;
}

size_t bytes_of(const Weight& weight) {
  return static_cast<size_t>(size_bytes(weight.value.dtype(), weight.value.volume()));
}

/// Gives a weight its bytes, at `offset` of the section of which `block` has those from `begin` on, or those of the
/// earlier weight that it is the same as.
void borrow(const LoadedBytes& block, uint64_t begin, std::vector<Weight>& weights, size_t w, uint64_t offset) {
  Weight& weight = weights[w];
  HostTensor& value = weight.value;
  if (weight.same_as >= 0) {
    value = weights[static_cast<size_t>(weight.same_as)].value;
    return;
  }
  value =
      HostTensor(value.dtype(), value.extents(), block.bytes.subspan(offset - begin, bytes_of(weight)), block.owner);
}

/// Where the weights (or binaries) stand in their section, which they fill.
Result<std::vector<uint64_t>> Reader::offsets_of(const std::vector<Weight>& weights, size_t at) const {
  TRY(validate_shared(weights));
  const Section& section = sections_[at];
  uint64_t end = 0;
  std::vector<uint64_t> offsets;
  for (size_t w = 0; w < weights.size(); ++w) {
    const HostTensor& value = weights[w].value;
    const Result<int64_t> count = checked_volume(value.extents());
    const auto where = [&] { return str("entry ", w, " '", weights[w].name, "': "); };
    if (!count) return error(Code::kCorrupt, where(), count.error().message);
    if (*count > kMaxElements) return error(Code::kCorrupt, where(), value.extents(), " exceeds ", kMaxElements);
    if (weights[w].same_as >= 0) {
      offsets.push_back(end);
      continue;
    }
    const auto size = static_cast<uint64_t>(size_bytes(value.dtype(), *count));
    offsets.push_back(weight_offset(end, size));
    if (offsets.back() > section.size || size > section.size - offsets.back())
      return error(Code::kCorrupt, where(), "offset ", offsets.back(), " + size ", size, " exceeds the section's ",
                   section.size, " bytes");
    end = offsets.back() + size;
  }
  if (end != section.size) return error(Code::kCorrupt, "entries end at ", end, " of ", section.size, " bytes");
  return offsets;
}

/// Large weights get memory of their own, so that an engine that has packed one can give it back.
Status Reader::copy(std::vector<Weight>& weights, size_t at, std::span<const uint64_t> offsets) {
  constexpr size_t kLarge = size_t{1} << 16;
  const Section& section = sections_[at];
  TRY(begin_section(at));
  Checksum checksum;
  for (size_t first = 0, last = 0; first < weights.size(); first = last) {
    const auto is_large = [&](size_t w) { return weights[w].same_as < 0 && bytes_of(weights[w]) >= kLarge; };
    last = first + 1;
    while (!is_large(first) && last < weights.size() && !is_large(last)) ++last;
    const uint64_t begin = offsets[first], end = last < weights.size() ? offsets[last] : section.size;
    const LoadedBytes block = TRY(load_bytes(source_, section.offset + begin, end - begin));
    checksum.add(block.bytes);
    for (size_t w = first; w < last; ++w) borrow(block, begin, weights, w, offsets[w]);
  }
  return check(checksum.value(), section);
}

/// Finds out that the weights (or binaries) fill their section before a byte of it is read, then reads it.
Status Reader::attach(std::vector<Weight>& weights, size_t at) {
  const std::vector<uint64_t> offsets = TRY(offsets_of(weights, at));
  if (!borrows()) return copy(weights, at, offsets);
  const LoadedBytes block = TRY(load_section(at));
  for (size_t w = 0; w < weights.size(); ++w) borrow(block, 0, weights, w, offsets[w]);
  return {};
}

Result<std::shared_ptr<const Plan>> Reader::run() {
  TRY(read_header());
  const auto in_metadata = [] { return "section 'metadata'"; };
  auto plan = std::make_shared<Plan>();
  {
    const LoadedBytes metadata = TRY(in_context(load_section(0), in_metadata));
    const Record record = TRY(in_context(from_cbor(metadata.bytes), in_metadata));
    *plan = TRY(in_context(plan_from_record(record), in_metadata));
  }
  for (size_t section = 1; std::vector<Weight>* const list : stored_lists(*plan)) {
    TRY(in_context(attach(*list, section), [&] { return str("section '", kSectionNames[section], "'"); }));
    ++section;
  }
  TRY(in_context(validate(*plan), in_metadata));
  return plan;
}

/// A damaged text can be as long as the plan; an error is for people.
Error shortened(Error error) {
  constexpr size_t kMost = 2000;
  if (error.message.size() > kMost) error.message = str(error.message.substr(0, kMost), " ...");
  return error;
}

}  // namespace

Result<std::shared_ptr<const Plan>> read_plan(Source& source) {
  try {
    auto plan = in_context(Reader(source).run(), [] { return "plan"; });
    if (!plan) return std::unexpected(shortened(std::move(plan).error()));
    return plan;
  } catch (const std::bad_alloc&) {
    return error(Code::kOutOfMemory, "plan: no memory to read it");
  }
}

Result<std::shared_ptr<const Plan>> read_plan(std::span<const std::byte> bytes,
                                              std::shared_ptr<const void> keep_alive) {
  MemorySource source(bytes, std::move(keep_alive));
  return read_plan(source);
}

}  // namespace kiln::plan
