/// A program in small, for tests: a builder with a network, errors as texts, runs as lists of numbers.
#pragma once

#include <NvInfer.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/run/testing/shared_memory.h"

namespace kiln::api::testing {

namespace nv = nvinfer1;

class Logger final : public nv::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override;
  std::vector<std::string> errors, warnings, infos, details;  ///< details: verbose ones
};

class Recorder final : public nv::IErrorRecorder {
 public:
  int32_t getNbErrors() const noexcept override { return static_cast<int32_t>(texts.size()); }
  nv::ErrorCode getErrorCode(int32_t index) const noexcept override { return codes[static_cast<size_t>(index)]; }
  ErrorDesc getErrorDesc(int32_t index) const noexcept override { return texts[static_cast<size_t>(index)].c_str(); }
  bool hasOverflowed() const noexcept override { return false; }
  void clear() noexcept override { texts.clear(), codes.clear(); }
  bool reportError(nv::ErrorCode code, ErrorDesc description) noexcept override;
  RefCount incRefCount() noexcept override { return ++references; }
  RefCount decRefCount() noexcept override { return --references; }
  std::vector<std::string> texts;
  std::vector<nv::ErrorCode> codes;
  int references = 0;
};

nv::Dims dims(std::initializer_list<int64_t> extents);
std::vector<int64_t> list(const nv::Dims& dims);  ///< {-1} for nbDims -1
/// Weights over a vector that stays alive.
nv::Weights weights(const std::vector<float>& values);
inline nv::Weights no_weights() { return {nv::DataType::kFLOAT, nullptr, 0}; }

struct Feed {
  std::vector<int64_t> extents;
  std::vector<float> values;
};

class Workbench {
 public:
  explicit Workbench(nv::NetworkDefinitionCreationFlags flags = 0);
  nv::INetworkDefinition* operator->() { return network.get(); }
  nv::ITensor* input(const char* name, std::initializer_list<int64_t> extents,
                     nv::DataType type = nv::DataType::kFLOAT) {
    return network->addInput(name, type, dims(extents));
  }
  void mark(nv::ITensor* tensor, const char* name = "y");
  /// The text of the last error, and forgets all; empty if there was none.
  std::string take_error();
  /// Builds what the network is now, runs it with inputs of type FLOAT and gives its output 0, also of type FLOAT;
  /// empty, with a test failure, if anything fails.
  std::vector<float> run(const std::map<std::string, Feed>& inputs);

  Logger logger;
  Recorder recorder;
  std::unique_ptr<nv::IBuilder> builder;
  std::unique_ptr<nv::INetworkDefinition> network;
  std::unique_ptr<nv::IBuilderConfig> config;
};

/// An engine of a workbench's network with a context. On a GPU enqueueV3 waits for the run: tests read what it wrote.
struct Running {
  explicit Running(Workbench& w);
  /// Gives a tensor of the device its memory.
  template <class T>
  void feed(const char* name, Shared<T>& values) {
    set_address(name, values.data(), nv::TensorLocation::kDEVICE);
  }
  /// Gives a shape tensor its memory, which the host reads or writes.
  template <class T>
  void feed(const char* name, std::vector<T>& values) {
    set_address(name, values.data(), nv::TensorLocation::kHOST);
  }
  void set_address(const char* name, void* memory, nv::TensorLocation where);
  /// Runs with the addresses that are set, to the end.
  bool run();
  /// The latest error since the build.
  std::string last_error() const { return logger.errors.empty() ? "" : logger.errors.back(); }

  std::string error;  ///< of the build, which then gave no engine
  Logger logger;
  std::unique_ptr<nv::IRuntime> runtime;
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
};

}  // namespace kiln::api::testing
