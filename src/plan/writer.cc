#include "plan/writer.h"

#include <array>
#include <bit>
#include <new>

#include "base/hash.h"
#include "base/mapped_pages.h"
#include "plan/cbor.h"
#include "plan/checksum.h"
#include "plan/layout.h"
#include "plan/metadata.h"
#include "plan/validate.h"

namespace kiln::plan {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers and weights are written as they lie in memory");

constexpr std::byte kZeros[kSectionAlign] = {};

/// Hands a section of weights, binaries or libraries to `consume`, piece by piece.
template <class Consume>
Status for_each_piece(std::span<const Weight> weights, Consume consume) {
  uint64_t end = 0;
  for (const Weight& weight : weights) {
    if (weight.same_as >= 0) continue;
    const auto bytes = weight.value.bytes();
    const uint64_t offset = weight_offset(end, bytes.size());
    TRY(consume(std::span(kZeros, offset - end)));
    TRY(consume(bytes));
    release_pages(bytes);
    end = offset + bytes.size();
  }
  return {};
}

struct WrittenSection {
  std::string_view name;
  uint64_t offset = 0, size = 0, checksum = 0;
  uint64_t end() const { return offset + size; }
};

Result<WrittenSection> measure(std::string_view name, std::span<const Weight> weights, const WrittenSection& before) {
  WrittenSection section{name, round_up(before.end(), kSectionAlign)};
  Checksum checksum;
  TRY(for_each_piece(weights, [&](std::span<const std::byte> piece) -> Status {
    checksum.add(piece);
    section.size += piece.size();
    return {};
  }));
  section.checksum = checksum.value();
  return section;
}

/// The end of a message that names the step which takes most of the metadata; a plugin's fields may have any size.
std::string largest_step(const Plan& plan) {
  const Step* largest = nullptr;
  size_t most = 0;
  const auto look_at = [&](const Block& block) {
    for (const Step& step : block.steps)
      if (const auto document = to_cbor(kiln::to_record(step)); document && document->size() > most)
        most = document->size(), largest = &step;
  };
  for (const Profile& profile : plan.profiles) look_at(profile);
  for (const Body& body : plan.bodies) look_at(body);
  return largest ? str("; of its steps '", largest->name, "' takes most, ", most, " bytes") : std::string();
}

/// Header and table.
std::vector<std::byte> front_matter(std::span<const WrittenSection> sections, uint64_t total) {
  std::vector<std::byte> out(kTableEnd);
  std::byte* const at = out.data();
  store(at + header::kMagic, kMagic);
  std::memcpy(at + header::kApiVersion, kApiVersion, sizeof kApiVersion);
  std::memcpy(at + header::kTag, kTag.data(), kTag.size());
  store(at + header::kFormatVersion, kFormatVersion);
  store(at + header::kNumSections, static_cast<uint32_t>(sections.size()));
  store(at + header::kTotalBytes, total);
  for (size_t i = 0; i < sections.size(); ++i) {
    std::byte* const row = at + kHeaderBytes + i * kEntryBytes;
    std::memcpy(row + entry::kName, sections[i].name.data(), sections[i].name.size());
    store(row + entry::kOffset, sections[i].offset);
    store(row + entry::kSize, sections[i].size);
    store(row + entry::kChecksum, sections[i].checksum);
  }
  store(at + header::kChecksum, hash64(out));
  return out;
}

class MemorySink final : public Sink {
 public:
  std::vector<std::byte> bytes;
  Status expect(uint64_t size_bytes) override {
    try {
      bytes.reserve(size_bytes);
    } catch (const std::exception&) {
      return error(Code::kOutOfMemory, "no memory for a plan of ", size_bytes, " bytes");
    }
    return {};
  }
  Status write(std::span<const std::byte> more) override {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return {};
  }
};

}  // namespace

Status write_plan(const Plan& plan, Sink& sink) {
  TRY(in_context(validate(plan), [] { return "a plan that is not valid cannot be written"; }));
  std::array<WrittenSection, kNumSections> sections;
  WrittenSection& metadata = sections[0];
  metadata.name = kMetadataSection;
  const Bytes document = TRY(to_cbor(to_record(plan)));
  if (document.size() > kMaxMetadataBytes)
    return error(Code::kUnsupported, "the plan's metadata takes ", document.size(), " bytes; at most ",
                 kMaxMetadataBytes, " can be written", largest_step(plan));
  metadata.offset = round_up(kTableEnd, kSectionAlign);
  metadata.size = document.size();
  metadata.checksum = hash64(document);

  const auto lists = stored_lists(plan);
  static_assert(lists.size() + 1 == kNumSections);
  for (size_t i = 1; i < kNumSections; ++i)
    sections[i] = TRY(measure(kSectionNames[i], *lists[i - 1], sections[i - 1]));
  const uint64_t total = sections.back().end();
  if (total > kMaxPlanBytes)
    return error(Code::kUnsupported, "the plan takes ", total, " bytes; at most ", kMaxPlanBytes, " can be written");
  TRY(sink.expect(total));
  TRY(sink.write(front_matter(sections, total)));
  TRY(sink.write(std::span(kZeros, metadata.offset - kTableEnd)));
  TRY(sink.write(document));
  const auto write = [&](std::span<const std::byte> piece) -> Status {
    return piece.empty() ? Status() : sink.write(piece);
  };
  for (size_t i = 1; i < kNumSections; ++i) {
    TRY(write(std::span(kZeros, sections[i].offset - sections[i - 1].end())));
    TRY(for_each_piece(*lists[i - 1], write));
  }
  return {};
}

Result<std::vector<std::byte>> write_plan(const Plan& plan) {
  MemorySink sink;
  TRY(write_plan(plan, sink));
  return std::move(sink.bytes);
}

}  // namespace kiln::plan
