#include "library/bert.h"

namespace kiln::plugins {

Result<BertType> bert_type(const Fields& fields) {
  const int64_t type = TRY(fields.integer("type_id"));
  TRY(require(type >= 0 && type <= 2, "type_id is ", type, "; 0 is FP32, 1 FP16 and 2 INT8"));
  return static_cast<BertType>(type);
}

Status require_float_type(const Fields& fields) {
  const BertType type = TRY(bert_type(fields));
  return require(type != BertType::kBytes, "type_id is 2 (INT8); this plugin has 0 (FP32) and 1 (FP16)");
}

Status check_starts(const Value& starts, const Extent& tokens) {
  const auto known = known_integers(starts);
  if (!known) return {};
  TRY(require(!known->empty() && known->front() == 0, "the starts of sequences begin with ",
              known->empty() ? "nothing" : str(known->front()), "; the first sequence starts at 0"));
  for (size_t i = 1; i < known->size(); ++i)
    TRY(require((*known)[i] >= (*known)[i - 1], "start ", i, " of the sequences is ", (*known)[i],
                ", and the one before it ", (*known)[i - 1], "; they have to rise"));
  return require_at_most(known->back(), Dim(tokens), "the last sequence has to end within the tokens");
}

Result<std::vector<float>> hidden_numbers(const Fields& fields, std::string_view name) {
  std::vector<float> numbers = TRY(fields.floats(name));
  TRY(require(!numbers.empty(), "field '", name, "' is missing"));
  return numbers;
}

}  // namespace kiln::plugins
