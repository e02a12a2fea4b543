#include "onnx/tensor_data.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "onnx/field_numbers.h"
#include "onnx/wire.h"

namespace kiln::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "bytes of the file are used as they are");

using Bytes = std::span<const std::byte>;

/// The typed array that ONNX stores elements of `type` in.
uint32_t array_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat: return field::tensor::kFloatData;
    case ElementType::kDouble: return field::tensor::kDoubleData;
    case ElementType::kInt64: return field::tensor::kInt64Data;
    case ElementType::kUint32:
    case ElementType::kUint64: return field::tensor::kUint64Data;
    case ElementType::kString: return field::tensor::kStringData;
    default: return field::tensor::kInt32Data;
  }
}

std::string_view array_name(uint32_t tag) {
  switch (tag) {
    case field::tensor::kFloatData: return "float_data";
    case field::tensor::kInt32Data: return "int32_data";
    case field::tensor::kStringData: return "string_data";
    case field::tensor::kInt64Data: return "int64_data";
    case field::tensor::kDoubleData: return "double_data";
    case field::tensor::kUint64Data: return "uint64_data";
    default: return {};
  }
}

/// Elements of two or four bits share an entry of int32_data, which has eight; else an entry is an element.
int bits_of_entry(ElementType type) { return std::max(bits_of(type), 8); }

/// Calls `take` with each field of the typed array `tag`. An array of another type that holds anything is an error.
template <class Take>
void for_each_chunk(const TensorDef& tensor, uint32_t tag, Trace& trace, Take take) {
  for (Fields f(tensor.message, trace); f.next();) {
    if (f.tag() == tag) {
      take(f);
    } else if (const std::string_view other = array_name(f.tag()); !other.empty()) {
      if (!f.is_packed() || !f.bytes().empty() || f.tag() == field::tensor::kStringData)
        malformed(Code::kCorrupt, "elements are in ", other, "; those of a ", tensor.type, " tensor belong in ",
                  array_name(tag));
    } else {
      f.skip();
    }
  }
}

/// Keeps the low `bits` of `value`; what they cannot hold, read as signed or as unsigned, is an error.
uint64_t narrow(int64_t value, int bits, ElementType type) {
  if (type == ElementType::kBool) return value != 0;
  if (bits < 64 && (value < -(int64_t{1} << (bits - 1)) || value >= int64_t{1} << bits))
    malformed(Code::kCorrupt, "the number ", value, " does not fit ", type);
  return static_cast<uint64_t>(value);
}

/// Converts a varint array. Never makes more than `need` bytes, whatever the file holds.
std::vector<std::byte> convert_integers(const TensorDef& tensor, size_t need, Trace& trace) {
  const int bits = bits_of_entry(tensor.type);
  const auto width = static_cast<size_t>(bits / 8);
  std::vector<std::byte> out;
  for_each_chunk(tensor, array_of(tensor.type), trace, [&](Fields& f) {
    // An entry takes a byte of the file or more, so that a small file never makes a large allocation.
    if (f.is_packed() && out.capacity() == 0) out.reserve(std::min(need, tensor.message.size() * width));
    f.integers([&](int64_t value) {
      const uint64_t low = narrow(value, bits, tensor.type);
      if (out.size() + width > need)
        malformed(Code::kCorrupt, array_name(array_of(tensor.type)), " holds more elements than the dims ", tensor.dims,
                  " have");
      const size_t at = out.size();
      out.resize(at + width);
      std::memcpy(out.data() + at, &low, width);
    });
  });
  return out;
}

/// The elements that a tensor needs, by its dims and type.
struct Need {
  int64_t elements = 0;
  size_t bytes = 0;
};

Result<Need> need_of(const TensorDef& tensor) {
  const int64_t elements = TRY(count_elements(tensor.dims));
  const int64_t bits = bits_of(tensor.type);
  if (elements > (INT64_MAX - 7) / bits)
    return error(Code::kCorrupt, "dims ", tensor.dims, " of ", tensor.type, " exceed 2^63 bits");
  return Need{elements, static_cast<size_t>((elements * bits + 7) / 8)};
}

std::unexpected<Error> wrong_size(const TensorDef& tensor, std::string_view where, size_t found, size_t need) {
  return error(Code::kCorrupt, where, " holds ", found, " bytes; dims ", tensor.dims, " of ", tensor.type, " need ",
               need);
}

Result<Bytes> external_bytes(const MappedFile& file, const TensorDef& tensor, size_t need) {
  const ExternalData& data = *tensor.external;
  const Bytes all = file.bytes();
  const auto offset = static_cast<uint64_t>(data.offset);
  const uint64_t length = data.length ? static_cast<uint64_t>(*data.length) : need;
  if (length != need) return wrong_size(tensor, str("external data '", data.location, "'"), length, need);
  if (offset > all.size() || length > all.size() - offset)
    return error(Code::kCorrupt, "external data '", data.location, "': offset ", offset, " + length ", length,
                 " exceeds the file's ", all.size(), " bytes; it is truncated, or belongs to another model");
  return all.subspan(offset, length);
}

/// Fills bytes and owner of `out` from the typed array.
Status read_array(const Model& model, const TensorDef& tensor, size_t need, TensorData& out) {
  const uint32_t tag = array_of(tensor.type);
  std::vector<std::byte> made;
  std::vector<Bytes> chunks;
  Trace trace{.base = tensor.message.data(), .at = 0, .path = {}};
  TRY(guarded(trace, [&] {
    if (tag != field::tensor::kFloatData && tag != field::tensor::kDoubleData)
      return static_cast<void>(made = convert_integers(tensor, need, trace));
    const size_t width = static_cast<size_t>(bits_of(tensor.type)) / 8;
    for_each_chunk(tensor, tag, trace, [&](Fields& f) { chunks.push_back(f.fixed(width)); });
    if (chunks.size() <= 1) return;
    for (const Bytes& chunk : chunks) made.insert(made.end(), chunk.begin(), chunk.end());
  }));
  if (chunks.size() == 1) {
    out.bytes = chunks[0];
    out.owner = model.owner;
  } else {
    auto kept = std::make_shared<const std::vector<std::byte>>(std::move(made));
    out.bytes = *kept;
    out.owner = std::move(kept);
  }
  if (out.bytes.size() != need) return wrong_size(tensor, array_name(tag), out.bytes.size(), need);
  return {};
}

/// Kernels may rely on a BOOL being 0 or 1; files need not.
void normalise_bools(TensorData& data) {
  if (std::all_of(data.bytes.begin(), data.bytes.end(), [](std::byte b) { return b <= std::byte{1}; })) return;
  auto kept = std::make_shared<std::vector<std::byte>>(data.bytes.begin(), data.bytes.end());
  for (std::byte& b : *kept) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
  data.bytes = *kept;
  data.owner = std::move(kept);
}

Status check_readable(const TensorDef& tensor) {
  if (tensor.is_segment) return error(Code::kUnsupported, "is a segment of a larger tensor; save it whole");
  if (!is_known(tensor.type))
    return error(Code::kUnsupported, "its elements are ", tensor.type, ", which is not known");
  if (tensor.type == ElementType::kComplex64 || tensor.type == ElementType::kComplex128)
    return error(Code::kUnsupported, "its elements are ", tensor.type, "; complex numbers are not in Kiln");
  return {};
}

Result<TensorData> read_data(const Model& model, const TensorDef& tensor) {
  TRY(check_readable(tensor));
  if (tensor.type == ElementType::kString)
    return error(Code::kInvalidArgument, "is a STRING tensor; numbers are needed");
  const Need need = TRY(need_of(tensor));
  TensorData out{.type = tensor.type, .dims = tensor.dims, .num_elements = need.elements, .bytes = {}, .owner = {}};
  if (tensor.external) {
    if (!model.external) return error(Code::kInternal, "the model has no external files");
    const auto file = TRY(model.external->file(tensor.external->location));
    out.bytes = TRY(external_bytes(*file, tensor, need.bytes));
    out.owner = file;
  } else if (tensor.raw_data && (!tensor.raw_data->empty() || need.bytes == 0)) {
    out.bytes = *tensor.raw_data;
    out.owner = tensor.owner ? tensor.owner : model.owner;
    if (out.bytes.size() != need.bytes) return wrong_size(tensor, "raw_data", out.bytes.size(), need.bytes);
  } else {
    TRY(read_array(model, tensor, need.bytes, out));
  }
  if (tensor.type == ElementType::kBool) normalise_bools(out);
  return out;
}

Result<std::vector<std::string_view>> read_strings(const TensorDef& tensor) {
  TRY(check_readable(tensor));
  if (tensor.type != ElementType::kString)
    return error(Code::kInvalidArgument, "is a ", tensor.type, " tensor; STRING is needed");
  if (tensor.external || tensor.raw_data)
    return error(Code::kCorrupt, "is a STRING tensor with raw bytes; strings belong in string_data");
  const int64_t need = TRY(count_elements(tensor.dims));
  std::vector<std::string_view> out;
  Trace trace{.base = tensor.message.data(), .at = 0, .path = {}};
  TRY(guarded(trace, [&] {
    for_each_chunk(tensor, field::tensor::kStringData, trace, [&](Fields& f) { out.push_back(f.text()); });
  }));
  if (static_cast<int64_t>(out.size()) != need)
    return error(Code::kCorrupt, "string_data holds ", out.size(), " strings; dims ", tensor.dims, " need ", need);
  return out;
}

std::string describe(const TensorDef& tensor) {
  return tensor.name.empty() ? std::string("tensor without a name") : str("tensor '", tensor.name, "'");
}

}  // namespace

Result<int64_t> count_elements(std::span<const int64_t> dims) {
  int64_t count = 1;
  bool overflows = false;
  for (const int64_t extent : dims) {
    if (extent < 0) return error(Code::kCorrupt, "dims ", dims, " have the negative extent ", extent);
    overflows |= __builtin_mul_overflow(count, extent, &count);
  }
  // A zero anywhere makes the product zero, however large the other extents are.
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  if (overflows) return error(Code::kCorrupt, "dims ", dims, " have more than 2^63 elements");
  return count;
}

Result<TensorData> tensor_data(const Model& model, const TensorDef& tensor) {
  return in_context(read_data(model, tensor), [&] { return describe(tensor); });
}

Result<std::vector<std::string_view>> tensor_strings(const TensorDef& tensor) {
  return in_context(read_strings(tensor), [&] { return describe(tensor); });
}

}  // namespace kiln::onnx
