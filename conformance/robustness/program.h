/// A program's surroundings of the API, for tests: a logger and a recorder that keep texts, a small network, buffers.
#pragma once

#include <NvInfer.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace robustness {

namespace nv = nvinfer1;

class Logger final : public nv::ILogger {
 public:
  void log(Severity severity, const char* text) noexcept override;
  /// The errors since the last call, one a line.
  std::string take_errors();
  int num_of(Severity severity) const { return counts_[static_cast<int>(severity)]; }

 private:
  std::mutex mutex_;
  std::string errors_;
  int counts_[5] = {};
};

class Recorder final : public nv::IErrorRecorder {
 public:
  int32_t getNbErrors() const noexcept override { return static_cast<int32_t>(texts.size()); }
  nv::ErrorCode getErrorCode(int32_t index) const noexcept override { return codes[static_cast<size_t>(index)]; }
  ErrorDesc getErrorDesc(int32_t index) const noexcept override { return texts[static_cast<size_t>(index)].c_str(); }
  bool hasOverflowed() const noexcept override { return false; }
  void clear() noexcept override { texts.clear(), codes.clear(); }
  bool reportError(nv::ErrorCode code, ErrorDesc text) noexcept override;
  RefCount incRefCount() noexcept override { return ++references; }
  RefCount decRefCount() noexcept override { return --references; }
  std::vector<std::string> texts;
  std::vector<nv::ErrorCode> codes;
  int references = 0;
};

nv::Dims dims(std::initializer_list<int64_t> extents);
std::vector<int64_t> list(const nv::Dims& dims);  ///< {-1} for nbDims -1
inline nv::Weights no_weights() { return {nv::DataType::kFLOAT, nullptr, 0}; }

/// A reference that a program made of a null pointer.
template <class T>
T& null() {
  T* volatile none = nullptr;
  return *none;
}

/// A builder with an empty network, at the lowest level.
struct Program {
  explicit Program(nv::NetworkDefinitionCreationFlags flags = 0);
  nv::INetworkDefinition* operator->() { return network.get(); }
  nv::ITensor* input(const char* name, std::initializer_list<int64_t> extents,
                     nv::DataType type = nv::DataType::kFLOAT) {
    return network->addInput(name, type, dims(extents));
  }
  void mark(nv::ITensor* tensor, const char* name = "y");
  /// x f32[-1, 4] -> relu -> y, with a profile of 1 to 8 rows.
  void make_relu();
  void add_profile(const char* name, nv::Dims min, nv::Dims opt, nv::Dims max);
  std::unique_ptr<nv::IHostMemory> build();

  Logger logger;
  std::unique_ptr<nv::IBuilder> builder;
  std::unique_ptr<nv::INetworkDefinition> network;
  std::unique_ptr<nv::IBuilderConfig> config;
};

std::unique_ptr<nv::ICudaEngine> load(nv::IRuntime& runtime, const nv::IHostMemory& plan);

/// Whether engines run on a GPU.
bool is_on_gpu();

/// Runs the network of `make_relu` on two rows, and says whether the answer is right.
bool relu_works(nv::IExecutionContext& context, cudaStream_t stream);
/// Builds and runs that network with new objects: whether the process is still of use.
bool process_is_fine();

}  // namespace robustness
