#include "api/run/plan_bytes.h"

#include <KilnFileReader.h>

#include <cstring>

#include "base/address_of.h"
#include "plan/reader.h"
#include "plan/writer.h"

namespace kiln::api {

namespace {

/// A program's stream reader. `Read` is called with a destination and a number of bytes, and answers how many it gave:
/// 0 at the end, negative on an error.
template <class Read>
class ProgramSource final : public plan::ForwardSource {
 public:
  explicit ProgramSource(Read read) : read_(std::move(read)) {}

 private:
  Result<size_t> read_some(std::span<std::byte> into) override {
    const auto asked = static_cast<int64_t>(into.size());
    const int64_t got = read_(into.data(), asked);
    if (got < 0 || got > asked)
      return error(Code::kIo, "the stream reader answered ", got, " when asked for ", asked, " bytes");
    return static_cast<size_t>(got);
  }
  Read read_;
};

/// The file of a reader that names one; else null.
const char* path_of(const nvinfer1::IStreamReaderV2& reader) {
  const nvinfer1::InterfaceInfo info = reader.getInterfaceInfo();
  const bool is_file = info.kind && std::strcmp(info.kind, IFileReader::kKind) == 0 && info.major == 1;
  return is_file ? static_cast<const IFileReader&>(reader).path() : nullptr;
}

}  // namespace

Result<std::shared_ptr<const plan::Plan>> read_plan_bytes(std::span<const std::byte> bytes) {
  return plan::read_plan(bytes);
}

Result<std::shared_ptr<const plan::Plan>> read_plan_stream(nvinfer1::IStreamReader& reader) {
  TRY(require(address_of(reader) != nullptr, "the stream reader is null"));
  ProgramSource source([&](void* to, int64_t count) { return reader.read(to, count); });
  return plan::read_plan(source);
}

Result<std::shared_ptr<const plan::Plan>> read_plan_stream(nvinfer1::IStreamReaderV2& reader) {
  TRY(require(address_of(reader) != nullptr, "the stream reader is null"));
  if (const char* const path = path_of(reader)) return plan::read_plan(*TRY(plan::open_file(path)));
  ProgramSource source([&](void* to, int64_t count) { return reader.read(to, count, nullptr); });
  return plan::read_plan(source);
}

Result<std::vector<std::byte>> write_plan_bytes(const plan::Plan& plan) { return plan::write_plan(plan); }

}  // namespace kiln::api
