/// Protocol buffer messages, field by field, without believing their lengths. The only header that includes protozero;
/// what it throws is caught by `guarded`, which reader.cc and tensor_data.cc put around their work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace kiln::onnx {

/// A rule of the format or of ONNX is broken; becomes an Error in `guarded`.
struct Malformed {
  Code code;
  std::string message;
};

/// protozero's preconditions would abort in debug builds.
[[noreturn]] inline void misused_reader() { throw Malformed{Code::kInternal, "the field reader was misused"}; }

}  // namespace kiln::onnx

#define protozero_assert(condition) ((condition) ? static_cast<void>(0) : ::kiln::onnx::misused_reader())
#include <protozero/pbf_reader.hpp>

namespace kiln::onnx {

template <class... Parts>
[[noreturn]] void malformed(Code code, const Parts&... parts) {
  throw Malformed{code, str(parts...)};
}

/// The position of the reader, for errors: the messages around, and the byte where the current field begins.
struct Trace {
  const std::byte* base = nullptr;
  int64_t at = 0;
  std::string path;
};

/// One level of the path while an error travels up through it: "graph 'main': ", "node 12 'conv1': ".
class Level {
 public:
  /// `name` is looked at when the error passes: it may be read after the level began.
  Level(Trace& trace, std::string_view what, int64_t index, const std::string_view& name)
      : trace_(trace), what_(what), index_(index), name_(name) {}
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  ~Level() {
    if (std::uncaught_exceptions() == pending_) return;
    std::string label(what_);
    if (index_ >= 0) label += str(' ', index_);
    if (!name_.empty()) label += str(" '", name_, '\'');
    trace_.path = str(label, ": ", trace_.path);
  }

 private:
  Trace& trace_;
  std::string_view what_;
  int64_t index_;
  const std::string_view& name_;
  int pending_ = std::uncaught_exceptions();
};

/// The fields of one message.
class Fields {
 public:
  Fields(std::span<const std::byte> message, Trace& trace)
      : reader_(reinterpret_cast<const char*>(message.data()), message.size()), trace_(trace) {}

  bool next() {
    trace_.at = reinterpret_cast<const std::byte*>(reader_.data().data()) - trace_.base;
    if (!reader_.next()) return false;
    tag_ = reader_.tag();
    if (reader_.wire_type() == protozero::pbf_wire_type::length_delimited) check_length();
    return true;
  }
  uint32_t tag() const { return tag_; }
  void skip() { reader_.skip(); }

  std::span<const std::byte> bytes() {
    need(protozero::pbf_wire_type::length_delimited);
    const auto view = reader_.get_view();
    return {reinterpret_cast<const std::byte*>(view.data()), view.size()};
  }
  std::string_view text() {
    const auto view = bytes();
    return {reinterpret_cast<const char*>(view.data()), view.size()};
  }
  int64_t integer() {
    need(protozero::pbf_wire_type::varint);
    return reader_.get_int64();
  }
  float single() {
    need(protozero::pbf_wire_type::fixed32);
    return reader_.get_float();
  }

  bool is_packed() const { return reader_.wire_type() == protozero::pbf_wire_type::length_delimited; }
  /// Repeated scalars are written packed or one field each; a reader must take both.
  template <class Take>
  void integers(Take take) {
    if (!is_packed()) return take(integer());
    const auto packed = bytes();
    const char* from = reinterpret_cast<const char*>(packed.data());
    const char* end = from + packed.size();
    while (from != end) take(static_cast<int64_t>(protozero::decode_varint(&from, end)));
  }
  void singles(std::vector<float>& out) {
    if (!is_packed()) return out.push_back(single());
    for (const float value : reader_.get_packed_float()) out.push_back(value);
  }
  /// The little-endian bytes of packed or single fixed-width scalars.
  std::span<const std::byte> fixed(size_t width) {
    if (is_packed()) return bytes();
    need(width == 4 ? protozero::pbf_wire_type::fixed32 : protozero::pbf_wire_type::fixed64);
    const auto* start = reinterpret_cast<const std::byte*>(reader_.data().data());
    reader_.skip();
    return {start, width};
  }

 private:
  void need(protozero::pbf_wire_type type) const {
    if (reader_.wire_type() != type)
      malformed(Code::kCorrupt, "field ", tag_, " has wire type ", static_cast<uint32_t>(reader_.wire_type()), "; ",
                static_cast<uint32_t>(type), " is needed");
  }
  /// protozero keeps only the low 32 bits of a length: what does not fit must be refused before it sees it.
  void check_length() const {
    const auto rest = reader_.data();
    const char* from = rest.data();
    const char* end = from + rest.size();
    const uint64_t length = protozero::decode_varint(&from, end);
    const auto left = static_cast<uint64_t>(end - from);
    if (length > left)
      malformed(Code::kCorrupt, "field ", tag_, " is ", length, " bytes long, ", left,
                " are left; the file is truncated or damaged");
    if (length > UINT32_MAX)
      malformed(Code::kUnsupported, "field ", tag_, " is ", length,
                " bytes long; at most 4 GiB are read inline, save larger weights as external data");
  }

  protozero::pbf_reader reader_;
  Trace& trace_;
  uint32_t tag_ = 0;
};

/// Runs `read` and turns what it throws into an Error that says where.
template <class F>
Status guarded(const Trace& trace, F read) {
  const auto fail = [&](Code code, std::string_view message) -> Status {
    return error(code, trace.path, "at byte ", trace.at, ": ", message);
  };
  try {
    read();
    return {};
  } catch (const Malformed& broken) {
    return fail(broken.code, broken.message);
  } catch (const protozero::end_of_buffer_exception&) {
    return fail(Code::kCorrupt, "the bytes end inside a field; the file is truncated or damaged");
  } catch (const protozero::varint_too_long_exception&) {
    return fail(Code::kCorrupt, "a number takes more than 10 bytes; the file is damaged");
  } catch (const protozero::invalid_length_exception&) {
    return fail(Code::kCorrupt, "a packed array's length is not a multiple of its elements' size; the file is damaged");
  } catch (const protozero::exception&) {
    return fail(Code::kCorrupt, "this is not a protocol buffer field; the file is damaged, or not an ONNX model");
  } catch (const std::bad_alloc&) {
    return fail(Code::kOutOfMemory, "out of memory");
  }
}

}  // namespace kiln::onnx
