/// Networks with loops and conditionals for tests: constants of any type, and runs whose outputs may have any size.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {

/// A tensor as bytes, whose elements the test knows the type of.
struct Bytes {
  std::vector<int64_t> extents;
  std::vector<std::byte> bytes;
  bool operator==(const Bytes&) const = default;
};
template <class T>
Bytes tensor_of(std::vector<int64_t> extents, std::vector<T> values) {
  Bytes result{std::move(extents), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}
template <class T>
std::vector<T> elements(const Bytes& tensor) {
  std::vector<T> result(tensor.bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), tensor.bytes.data(), tensor.bytes.size());
  return result;
}
inline Bytes scalar(int32_t value) { return tensor_of<int32_t>({}, {value}); }
inline Bytes flag(bool value) { return tensor_of<uint8_t>({}, {value}); }
inline Bytes floats(std::vector<int64_t> extents, std::vector<float> values) {
  return tensor_of(std::move(extents), std::move(values));
}

class LoopBench : public Workbench {
 public:
  nv::ITensor* ints(std::vector<int64_t> extents, std::vector<int32_t> values);
  nv::ITensor* number(int32_t value) { return ints({}, {value}); }
  nv::ITensor* wide(int64_t value) { return keep(tensor_of<int64_t>({}, {value}), nv::DataType::kINT64); }
  nv::ITensor* constant(std::vector<int64_t> extents, std::vector<float> values);
  nv::ITensor* binary(nv::ITensor* a, nv::ITensor* b, nv::ElementWiseOperation operation) {
    return network->addElementWise(*a, *b, operation)->getOutput(0);
  }
  nv::ITensor* add(nv::ITensor* a, nv::ITensor* b) { return binary(a, b, nv::ElementWiseOperation::kSUM); }
  nv::ITensor* mul(nv::ITensor* a, nv::ITensor* b) { return binary(a, b, nv::ElementWiseOperation::kPROD); }
  nv::ITensor* less(nv::ITensor* a, nv::ITensor* b) { return binary(a, b, nv::ElementWiseOperation::kLESS); }
  /// Element `axis` of the shape of a float tensor.
  nv::ITensor* extent(nv::ITensor* x, int32_t axis);
  /// An optimization profile of one input.
  void profile(const char* input, std::initializer_list<int64_t> least, std::initializer_list<int64_t> best,
               std::initializer_list<int64_t> most);
  /// An output of a loop that concatenates.
  nv::ITensor* stack(nv::ILoop* loop, nv::ITensor* value, nv::ITensor* length,
                     nv::LoopOutput kind = nv::LoopOutput::kCONCATENATE, int32_t axis = 0);

 private:
  nv::ITensor* keep(Bytes tensor, nv::DataType type);
  std::vector<std::unique_ptr<Bytes>> kept_;
};

/// A network's plan, written and read again, that runs.
class LoopRun {
 public:
  explicit LoopRun(LoopBench& bench);
  /// The network's outputs by name; empty where the run fails.
  std::map<std::string, Bytes> operator()(std::map<std::string, Bytes> inputs);
  std::vector<float> floats_of(std::map<std::string, Bytes> inputs) {
    return elements<float>((*this)(std::move(inputs))["y"]);
  }
  std::vector<int32_t> ints_of(std::map<std::string, Bytes> inputs) {
    return elements<int32_t>((*this)(std::move(inputs))["y"]);
  }
  nv::ICudaEngine* engine() { return engine_.get(); }
  std::string error;                       ///< of the build or of the last run
  nv::IProfiler* profiler = nullptr;       ///< of runs
  nv::IDebugListener* listener = nullptr;  ///< of runs, to all debug tensors

 private:
  Logger logger_;
  std::unique_ptr<nv::IRuntime> runtime_;
  std::unique_ptr<nv::ICudaEngine> engine_;
};

}  // namespace kiln::api::testing
