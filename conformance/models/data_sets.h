/// A model's data sets: folders test_data_set_0, test_data_set_1 ... of inputs and expected outputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/session.h"
#include "support/tensor_file.h"

namespace kiln::conformance {

struct DataSet {
  std::string name;  ///< its folder's
  std::vector<Tensor> inputs, outputs;
};

/// Reads the data sets of a folder, in order. Fails if there is none.
Result<std::vector<DataSet>> read_data_sets(const std::string& folder);

/// The ranges of the inputs whose extents differ between sets; the optimum is the first set's.
std::map<std::string, InputRange> ranges_over(const std::vector<DataSet>& sets);

/// The values that small integer inputs have over the sets, for those that turn out to be shape inputs.
std::map<std::string, InputRange> values_over(const std::vector<DataSet>& sets);

/// How far detections of a lower precision may be from the expected ones.
struct DetectionTolerance {
  double iou = 0, score = 0;
};

/// Contents of a model's expected.json: its precisions and the meaning of its results.
struct Expectations {
  std::map<std::string, Tolerance> tolerances;            ///< "fp32", "fp16"
  std::map<std::string, DetectionTolerance> detections;   ///< of those whose outputs are judged by what they mean
  std::map<std::string, std::vector<int64_t>> top_class;  ///< by data set: the classes that its first output may show
};
Result<Expectations> read_expectations(const std::string& path);

/// Position of the largest element.
int64_t top_class_of(const Tensor& tensor);

}  // namespace kiln::conformance
