#include "tensor_files.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>

#include "cli/json.h"
#include "cli/text.h"
#include "values.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::DataType;

constexpr size_t kLongestName = 200;  // of a file's name, which most systems let have 255 bytes
constexpr int64_t kShownAtAnEnd = 5;  // elements in the summary

/// numpy's name of a type; empty where it has none.
std::string_view numpy_type(DataType type) {
  switch (type) {
    case DataType::kFLOAT: return "<f4";
    case DataType::kHALF: return "<f2";
    case DataType::kINT8: return "|i1";
    case DataType::kUINT8: return "|u1";
    case DataType::kINT32: return "<i4";
    case DataType::kINT64: return "<i8";
    case DataType::kBOOL: return "|b1";
    case DataType::kBF16:
    case DataType::kFP8:
    case DataType::kINT4:
    case DataType::kFP4:
    case DataType::kE8M0: break;
  }
  return {};
}

/// The elements as float32, or int8 for int4.
template <class T>
std::string converted(const TensorData& tensor) {
  std::string bytes(static_cast<size_t>(tensor.count()) * sizeof(T), '\0');
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const auto value = static_cast<T>(number_of(tensor.bytes.data(), tensor.type, i));
    std::memcpy(bytes.data() + i * static_cast<int64_t>(sizeof(T)), &value, sizeof value);
  }
  return bytes;
}

std::string joined(const std::vector<int64_t>& extents, std::string_view separator) {
  std::string text;
  for (const int64_t extent : extents) {
    if (!text.empty()) text += separator;
    text += std::to_string(extent);
  }
  return text;
}

/// Rows from `first` on of axis `axis`, whose slices have `count` elements.
void append_rows(std::string& out, const TensorData& tensor, size_t axis, int64_t first, int64_t count) {
  const int64_t extent = tensor.extents[axis];
  out.append(axis, ' ');
  out += '[';
  if (axis + 1 == tensor.extents.size()) {
    append_values(out, tensor.bytes.data(), tensor.type, first, first + extent, " ");
    out += "]\n";
    return;
  }
  out += '\n';
  for (int64_t i = 0; i < extent; ++i)
    append_rows(out, tensor, axis + 1, first + i * count, count / tensor.extents[axis + 1]);
  out.append(axis, ' ');
  out += "]\n";
}

}  // namespace

int64_t TensorData::count() const {
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  return count;
}

std::string numpy_file(const TensorData& tensor) {
  static_assert(std::endian::native == std::endian::little, "types are written as little-endian ones");
  std::string_view type = numpy_type(tensor.type);
  std::string elements;
  if (!type.empty()) {
    elements.assign(tensor.bytes.data(), tensor.bytes.size());
  } else if (tensor.type == DataType::kINT4) {
    type = "|i1", elements = converted<int8_t>(tensor);
  } else {
    type = "<f4", elements = converted<float>(tensor);
  }
  std::string header = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (" +
                       joined(tensor.extents, ", ") + (tensor.extents.size() == 1 ? ",), }" : "), }");
  constexpr size_t kBefore = 10, kAlignment = 64;  // magic, version and the header's length
  header.append(kAlignment - 1 - (kBefore + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  return file + header + elements;
}

std::string text_file(const TensorData& tensor) {
  std::string out;
  const int64_t count = tensor.count();
  if (tensor.extents.empty()) {
    append_values(out, tensor.bytes.data(), tensor.type, 0, 1, " ");
    return out + '\n';
  }
  if (count == 0) return "[]\n";
  append_rows(out, tensor, 0, 0, count / tensor.extents[0]);
  return out;
}

std::string summary_entry(const TensorData& tensor, const std::vector<std::pair<std::string, std::string>>& files) {
  const int64_t count = tensor.count();
  double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
  int64_t num_nan = 0, num_infinite = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = number_of(tensor.bytes.data(), tensor.type, i);
    num_nan += std::isnan(value), num_infinite += std::isinf(value);
    sum += value;
    if (std::isnan(value)) continue;
    least = std::min(least, value), most = std::max(most, value);
  }
  const int64_t num_numbers = count - num_nan;
  std::string elements;
  const int64_t first_end = std::min(count, kShownAtAnEnd), last_begin = std::max(first_end, count - kShownAtAnEnd);
  append_values(elements, tensor.bytes.data(), tensor.type, 0, first_end, ", ");
  if (last_begin > first_end) elements += ", ...";
  if (last_begin < count) elements += ", ";
  append_values(elements, tensor.bytes.data(), tensor.type, last_begin, count, ", ");
  const auto number = [](bool is_there, double value) { return is_there ? json_number(value) : std::string("null"); };
  std::string out = "    {\"name\": " + json_string(tensor.name) + ", \"shape\": [" + joined(tensor.extents, ", ") +
                    "], \"type\": \"" + std::string(type_name(tensor.type)) +
                    "\",\n     \"statistics\": {\"min\": " + number(num_numbers > 0, least) +
                    ", \"max\": " + number(num_numbers > 0, most) +
                    ", \"avg\": " + number(count > 0, sum / static_cast<double>(count)) +
                    ", \"nan\": " + std::to_string(num_nan) + ", \"inf\": " + std::to_string(num_infinite) +
                    ", \"elements\": " + json_string(elements) + "}";
  std::string list;
  for (const auto& [kind, path] : files)
    list += (list.empty() ? "" : ", ") + json_string(kind) + ": " + json_string(path);
  if (!list.empty()) out += ",\n     \"files\": {" + list + "}";
  return out + "}";
}

std::string numbered_file(int index, std::string_view name, std::string_view ending) {
  std::string number = std::to_string(index);
  if (number.size() < 4) number.insert(0, 4 - number.size(), '0');
  std::string file = number + "_" + std::string(name.substr(0, kLongestName));
  for (char& c : file)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.' && c != '_') c = '_';
  return file + std::string(ending);
}

}  // namespace kiln::cli::trtexec
