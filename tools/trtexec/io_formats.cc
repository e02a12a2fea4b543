#include "io_formats.h"

#include "cli/text.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::DataType;
using nvinfer1::TensorFormat;

template <class E>
struct Named {
  std::string_view name;
  E value;
};
constexpr Named<DataType> kTypes[] = {
    {"fp32", DataType::kFLOAT},  {"fp16", DataType::kHALF}, {"bf16", DataType::kBF16},   {"int32", DataType::kINT32},
    {"int64", DataType::kINT64}, {"int8", DataType::kINT8}, {"uint8", DataType::kUINT8}, {"bool", DataType::kBOOL},
    {"fp8", DataType::kFP8},     {"int4", DataType::kINT4}};
constexpr Named<TensorFormat> kFormats[] = {
    {"chw", TensorFormat::kLINEAR},       {"chw2", TensorFormat::kCHW2},     {"hwc8", TensorFormat::kHWC8},
    {"chw4", TensorFormat::kCHW4},        {"chw16", TensorFormat::kCHW16},   {"chw32", TensorFormat::kCHW32},
    {"dhwc8", TensorFormat::kDHWC8},      {"cdhw32", TensorFormat::kCDHW32}, {"hwc", TensorFormat::kHWC},
    {"dhwc", TensorFormat::kDHWC},        {"hwc16", TensorFormat::kHWC16},   {"dla_linear", TensorFormat::kDLA_LINEAR},
    {"dla_hwc4", TensorFormat::kDLA_HWC4}};

template <class E, size_t N>
E value_of(const Named<E> (&rows)[N], std::string_view name, std::string_view flag, std::string_view what) {
  std::string all;
  for (const Named<E>& row : rows) {
    if (row.name == name) return row.value;
    all += str(all.empty() ? "" : ", ", row.name);
  }
  fail(flag, ": '", name, "' is not a ", what, "; there are ", all);
}

}  // namespace

DataType parse_type(std::string_view name, std::string_view flag) { return value_of(kTypes, name, flag, "type"); }

std::vector<IoFormat> parse_io_formats(std::string_view list, std::string_view flag) {
  std::vector<IoFormat> result;
  for (const std::string& entry : split(list, ',')) {
    const std::vector<std::string> parts = split(entry, ':');
    require(parts.size() == 2, flag, ": '", entry, "' is not TYPE:FORMAT, such as fp16:chw");
    IoFormat format{value_of(kTypes, parts[0], flag, "type"), 0};
    for (const std::string& name : split(parts[1], '+'))
      format.formats |= 1U << static_cast<uint32_t>(value_of(kFormats, name, flag, "format"));
    require(format.formats != 0, flag, ": '", entry, "' names no format");
    result.push_back(format);
  }
  require(!result.empty(), flag, ": no TYPE:FORMAT is given");
  return result;
}

const IoFormat& format_of(const std::vector<IoFormat>& formats, int index, int count, std::string_view flag) {
  require(formats.size() == 1 || formats.size() == static_cast<size_t>(count), flag, ": ", formats.size(),
          " formats are given; the network has ", count, " such tensors, and one format would stand for all");
  return formats[formats.size() == 1 ? 0 : static_cast<size_t>(index)];
}

}  // namespace kiln::cli::trtexec
