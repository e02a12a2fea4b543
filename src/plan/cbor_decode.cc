#include <bit>
#include <cstring>
#include <new>

#include "plan/cbor.h"
#include "plan/cbor_format.h"

namespace kiln::plan {
namespace {

struct Head {
  Major major;
  uint8_t info;       // the first byte's low five bits
  uint64_t argument;  // of a float: its bits
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : bytes_(bytes) {}
  Result<Record> run();

 private:
  /// A container whose items are still coming. Containers are kept here rather than on the call stack.
  struct Frame {
    bool is_record;
    uint64_t items_left;  // of a record: entries
    Record record;
    std::string name;  // of the entry whose value comes next
    Datum::List list;
  };
  template <class... Parts>
  std::unexpected<Error> bad(const Parts&... parts) const {
    return error(Code::kCorrupt, "CBOR, byte ", start_, ": ", parts...);
  }
  uint64_t remaining() const { return bytes_.size() - at_; }
  Result<Head> head();
  Result<std::span<const std::byte>> take(uint64_t length, std::string_view what);
  Status name();
  Status open(const Head& head);
  Status item();
  Result<Datum> scalar(const Head& head);
  Result<Datum> typed_array(const Head& head);
  void add(Datum datum);
  template <class T, class To>
  static std::vector<To> elements_of(std::span<const std::byte> bytes);

  std::span<const std::byte> bytes_;
  size_t at_ = 0, start_ = 0;  // start_: of the item being read
  std::vector<Frame> frames_;
};

Result<Head> Decoder::head() {
  start_ = at_;
  if (remaining() == 0) return bad("the document ends where an item should begin");
  const auto first = static_cast<uint8_t>(bytes_[at_++]);
  Head result{static_cast<Major>(first >> 5), static_cast<uint8_t>(first & 31), 0};
  if (result.info < 24) {
    result.argument = result.info;
    return result;
  }
  if (result.info > 27) return bad("first byte ", first, " (indefinite or reserved) is not used here");
  const unsigned width = 1u << (result.info - 24);
  if (remaining() < width) return bad("a number of ", width, " bytes exceeds the ", remaining(), " left");
  for (unsigned i = 0; i < width; ++i) result.argument = result.argument << 8 | static_cast<uint8_t>(bytes_[at_++]);
  return result;
}

Result<std::span<const std::byte>> Decoder::take(uint64_t length, std::string_view what) {
  if (length > remaining()) return bad(what, " of ", length, " bytes exceeds the ", remaining(), " left");
  const auto taken = bytes_.subspan(at_, static_cast<size_t>(length));
  at_ += taken.size();
  return taken;
}

std::string text_of(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Status Decoder::name() {
  const Head head = TRY(this->head());
  if (head.major != Major::kText) return bad("the name of an entry is not text");
  std::string name = text_of(TRY(take(head.argument, "a name")));
  if (frames_.back().record.find(name)) return bad("two entries of a record are called '", name, "'");
  frames_.back().name = std::move(name);
  return {};
}

Status Decoder::open(const Head& head) {
  const bool is_record = head.major == Major::kMap;
  const std::string_view what = is_record ? "a record of " : "a list of ";
  if (head.argument > remaining() / (is_record ? 2 : 1))
    return bad(what, head.argument, " items exceeds the ", remaining(), " bytes left");
  if (is_record && head.argument > kMaxCborEntries)
    return bad(what, head.argument, " entries; at most ", kMaxCborEntries, " are allowed");
  if (frames_.size() == kMaxCborDepth) return bad("nested deeper than ", kMaxCborDepth, " levels");
  frames_.push_back({is_record, head.argument, {}, {}, {}});
  return {};
}

template <class T, class To>
std::vector<To> Decoder::elements_of(std::span<const std::byte> bytes) {
  std::vector<To> out(bytes.size() / sizeof(T));
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<To>(value);
  }
  return out;
}

Result<Datum> Decoder::typed_array(const Head& head) {
  const size_t start = start_;
  const Head content = TRY(this->head());
  if (content.major != Major::kBytes) return bad("a tag must precede a byte string");
  const auto data = TRY(take(content.argument, "a typed array"));
  start_ = start;
  const auto whole = [&](size_t width) { return data.size() % width == 0; };
  switch (head.argument) {
    case static_cast<uint64_t>(TypedArray::kI8): return Datum(elements_of<int8_t, int64_t>(data));
    case static_cast<uint64_t>(TypedArray::kI16):
      if (whole(2)) return Datum(elements_of<int16_t, int64_t>(data));
      break;
    case static_cast<uint64_t>(TypedArray::kI32):
      if (whole(4)) return Datum(elements_of<int32_t, int64_t>(data));
      break;
    case static_cast<uint64_t>(TypedArray::kI64):
      if (whole(8)) return Datum(elements_of<int64_t, int64_t>(data));
      break;
    case static_cast<uint64_t>(TypedArray::kF64):
      if (whole(8)) return Datum(elements_of<double, double>(data));
      break;
    default: return bad("tag ", head.argument, " is not used here");
  }
  return bad("a typed array of tag ", head.argument, " has ", data.size(),
             " bytes, which is not a whole number of elements");
}

Result<Datum> Decoder::scalar(const Head& head) {
  switch (head.major) {
    case Major::kUnsigned:
    case Major::kNegative: {
      if (head.argument > INT64_MAX) return bad("an integer exceeds 64 bits with a sign");
      const auto value = static_cast<int64_t>(head.argument);
      return Datum(head.major == Major::kUnsigned ? value : -1 - value);
    }
    case Major::kBytes: {
      const auto data = TRY(take(head.argument, "a byte string"));
      return Datum(Bytes(data.begin(), data.end()));
    }
    case Major::kText: return Datum(text_of(TRY(take(head.argument, "a text"))));
    case Major::kTag: return typed_array(head);
    default: break;
  }
  switch (head.info) {
    case kFalse: return Datum(false);
    case kTrue: return Datum(true);
    case kNull: return Datum();
    case kFloat32: return Datum(double{std::bit_cast<float>(static_cast<uint32_t>(head.argument))});
    case kFloat64: return Datum(std::bit_cast<double>(head.argument));
    default: return bad("simple value ", head.argument, " is not used here");
  }
}

void Decoder::add(Datum datum) {
  Frame& frame = frames_.back();
  if (frame.is_record)
    frame.record.set(frame.name, std::move(datum));
  else
    frame.list.push_back(std::move(datum));
}

/// Reads an item of the innermost container.
Status Decoder::item() {
  --frames_.back().items_left;
  if (frames_.back().is_record) TRY(name());
  const Head head = TRY(this->head());
  if (head.major == Major::kArray || head.major == Major::kMap) return open(head);
  add(TRY(scalar(head)));
  return {};
}

Result<Record> Decoder::run() {
  const Head first = TRY(head());
  if (first.major != Major::kMap) return bad("the document is not a record");
  TRY(open(first));
  while (true) {
    while (frames_.back().items_left > 0) TRY(item());
    Frame done = std::move(frames_.back());
    frames_.pop_back();
    if (frames_.empty()) {
      start_ = at_;
      if (remaining() > 0) return bad(remaining(), " bytes follow the document");
      return std::move(done.record);
    }
    add(done.is_record ? Datum(std::move(done.record)) : Datum(std::move(done.list)));
  }
}

}  // namespace

Result<Record> from_cbor(std::span<const std::byte> bytes) {
  try {
    return Decoder(bytes).run();
  } catch (const std::bad_alloc&) {
    return error(Code::kOutOfMemory, "no memory for a CBOR document of ", bytes.size(), " bytes");
  }
}

}  // namespace kiln::plan
