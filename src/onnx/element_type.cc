#include "onnx/element_type.h"

#include <iterator>
#include <string_view>

#include "base/str.h"

namespace kiln::onnx {
namespace {

struct Row {
  std::string_view name;
  int bits;
};
constexpr Row kRows[] = {
    {"UNDEFINED", 0},      {"FLOAT", 32},    {"UINT8", 8},        {"INT8", 8},           {"UINT16", 16},
    {"INT16", 16},         {"INT32", 32},    {"INT64", 64},       {"STRING", 0},         {"BOOL", 8},
    {"FLOAT16", 16},       {"DOUBLE", 64},   {"UINT32", 32},      {"UINT64", 64},        {"COMPLEX64", 64},
    {"COMPLEX128", 128},   {"BFLOAT16", 16}, {"FLOAT8E4M3FN", 8}, {"FLOAT8E4M3FNUZ", 8}, {"FLOAT8E5M2", 8},
    {"FLOAT8E5M2FNUZ", 8}, {"UINT4", 4},     {"INT4", 4},         {"FLOAT4E2M1", 4},     {"FLOAT8E8M0", 8},
    {"UINT2", 2},          {"INT2", 2},
};

bool in_table(ElementType type) {
  const auto number = static_cast<int32_t>(type);
  return number >= 0 && number < static_cast<int32_t>(std::size(kRows));
}

}  // namespace

bool is_known(ElementType type) { return in_table(type) && type != ElementType::kUndefined; }
int bits_of(ElementType type) { return in_table(type) ? kRows[static_cast<int32_t>(type)].bits : 0; }

void append(std::string& out, ElementType type) {
  if (in_table(type))
    out += kRows[static_cast<int32_t>(type)].name;
  else
    out += kiln::str("type ", static_cast<int32_t>(type));
}

}  // namespace kiln::onnx
