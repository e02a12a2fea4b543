#include "models/data_sets.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace kiln::conformance {

Result<std::vector<DataSet>> read_data_sets(const std::string& folder) {
  std::vector<DataSet> sets;
  for (int i = 0;; ++i) {
    DataSet set;
    set.name = str("test_data_set_", i);
    const std::string path = folder + "/" + set.name;
    if (!std::filesystem::exists(path)) break;
    set.inputs = TRY(read_tensor_files(path, "input_"));
    set.outputs = TRY(read_tensor_files(path, "output_"));
    TRY(require(!set.outputs.empty(), path, " has no output_0.pb"));
    sets.push_back(std::move(set));
  }
  TRY(require(!sets.empty(), folder, " has no test_data_set_0"));
  return sets;
}

namespace {

/// Makes a range over a set of numbers, in which the first ones are the optimum.
void extend(std::map<std::string, InputRange>& ranges, const std::string& name, const std::vector<int64_t>& numbers) {
  const auto [found, is_new] = ranges.try_emplace(name, InputRange{numbers, numbers, numbers});
  InputRange& range = found->second;
  if (is_new || range.min.size() != numbers.size()) return;
  for (size_t i = 0; i < numbers.size(); ++i) {
    range.min[i] = std::min(range.min[i], numbers[i]);
    range.max[i] = std::max(range.max[i], numbers[i]);
  }
}

}  // namespace

std::map<std::string, InputRange> ranges_over(const std::vector<DataSet>& sets) {
  std::map<std::string, InputRange> ranges;
  for (const DataSet& set : sets)
    for (const Tensor& input : set.inputs) extend(ranges, input.name, input.dims);
  return ranges;
}

std::map<std::string, InputRange> values_over(const std::vector<DataSet>& sets) {
  constexpr int64_t kMostValues = 64;
  std::map<std::string, InputRange> ranges;
  for (const DataSet& set : sets)
    for (const Tensor& input : set.inputs)
      if ((input.type == onnx::ElementType::kInt64 || input.type == onnx::ElementType::kInt32) &&
          input.num_elements() <= kMostValues)
        extend(ranges, input.name, integers_of(input));
  return ranges;
}

Result<Expectations> read_expectations(const std::string& path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  TRY(require(json.is_object() && json.contains("tolerance") && json.contains("sets"), path,
              " is no JSON with tolerance and sets"));
  Expectations result;
  for (const auto& [precision, value] : json["tolerance"].items()) {
    if (!value.is_object()) continue;
    result.tolerances[precision] = {value.value("rtol", 0.0), value.value("atol", 0.0), value.value("rel_to_max", 0.0)};
    if (value.contains("box_iou") && value.contains("score"))
      result.detections[precision] = {value["box_iou"].get<double>(), value["score"].get<double>()};
  }
  for (const auto& set : json["sets"]) {
    const auto expect = set.find("expect");
    if (expect == set.end() || !expect->is_object() || !expect->contains("top1")) continue;
    const auto& top = (*expect)["top1"];
    if (!top.is_number_integer()) continue;  // one a row: the tolerance covers it
    auto& classes = result.top_class[set["dir"].get<std::string>()];
    classes.push_back(top.get<int64_t>());
    if (expect->contains("accept"))
      for (const auto& other : (*expect)["accept"]) classes.push_back(other.get<int64_t>());
  }
  return result;
}

int64_t top_class_of(const Tensor& tensor) {
  int64_t best = 0;
  for (int64_t i = 1; i < tensor.num_elements(); ++i)
    if (number_at(tensor, i) > number_at(tensor, best)) best = i;
  return best;
}

}  // namespace kiln::conformance
