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

std::map<std::string, InputRange> ranges_over(const std::vector<DataSet>& sets) {
  std::map<std::string, InputRange> ranges;
  for (const DataSet& set : sets)
    for (const Tensor& input : set.inputs) {
      const auto [found, is_new] = ranges.try_emplace(input.name, InputRange{input.dims, input.dims, input.dims});
      InputRange& range = found->second;
      if (is_new || range.min.size() != input.dims.size()) continue;
      for (size_t axis = 0; axis < input.dims.size(); ++axis) {
        range.min[axis] = std::min(range.min[axis], input.dims[axis]);
        range.max[axis] = std::max(range.max[axis], input.dims[axis]);
      }
    }
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
