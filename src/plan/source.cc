#include "plan/source.h"

#include <algorithm>
#include <cstring>

#include "base/mapped_file.h"

namespace kiln::plan {

Status MemorySource::read(uint64_t offset, std::span<std::byte> into) {
  const auto bytes = memory_.bytes;
  if (offset > bytes.size() || into.size() > bytes.size() - offset)
    return error(Code::kCorrupt, "bytes ", offset, " to ", offset, " + ", into.size(), " lie beyond the end at ",
                 bytes.size());
  if (!into.empty()) std::memcpy(into.data(), bytes.data() + offset, into.size());
  return {};
}

Result<std::unique_ptr<Source>> open_file(const std::string& path) {
  const auto file = TRY(MappedFile::open(path));
  return std::make_unique<MemorySource>(file->bytes(), file);
}

Status ForwardSource::fill(std::span<std::byte> into) {
  while (!into.empty()) {
    const size_t count = TRY(read_some(into));
    if (count == 0) return error(Code::kCorrupt, "the stream ends at byte ", position_, ", ", into.size(), " short");
    if (count > into.size())
      return error(Code::kIo, "the stream says it read ", count, " bytes; it was asked for ", into.size());
    position_ += count;
    into = into.subspan(count);
  }
  return {};
}

Status ForwardSource::read(uint64_t offset, std::span<std::byte> into) {
  if (offset < position_)
    return error(Code::kInternal, "byte ", offset, " of a stream that is at ", position_, " cannot be read again");
  std::byte skipped[256];
  while (position_ < offset) TRY(fill(std::span(skipped, std::min<uint64_t>(sizeof skipped, offset - position_))));
  return fill(into);
}

}  // namespace kiln::plan
