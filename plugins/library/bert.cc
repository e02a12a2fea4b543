#include "library/bert.h"

namespace kiln::plugins {

Status require_float_type(const Fields& fields) {
  const int64_t type = TRY(fields.integer("type_id"));
  return require(type == 0 || type == 1, "type_id is ", type, "; Kiln has 0 (FP32) and 1 (FP16)");
}

Result<std::vector<float>> hidden_numbers(const Fields& fields, std::string_view name) {
  std::vector<float> numbers = TRY(fields.floats(name));
  TRY(require(!numbers.empty(), "field '", name, "' is missing"));
  return numbers;
}

}  // namespace kiln::plugins
