/// A network that is run before it is built, to see what numbers its tensors hold.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/base/report.h"
#include "api/build/range_histogram.h"
#include "builder/build.h"
#include "device/device.h"
#include "plugin/make_plugins.h"
#include "runtime/context.h"
#include "runtime/runner.h"

namespace kiln::api {

/// A build that is about to be done.
struct BuildToCome {
  const ir::Graph& graph;
  Backend& backend;
  const BuildRequest& request;
  const plugin::Makers& makers;        ///< of the plugins of a plan that is run meanwhile
  nvinfer1::IGpuAllocator* allocator;  ///< of its memory; null: the device's
};

/// The values whose ranges are looked for: floats that have a name and depend on data.
std::vector<ir::ValueId> observed_values(const ir::Graph& graph);

/// Numbers from `least` to `most`, both included.
struct Interval {
  double least = 0, most = 1;
};

/// The network in FP32, whatever precisions the program gave its layers, with every observed value as an output,
/// loaded.
class ObservedNetwork final : private runtime::OutputMemory {
 public:
  /// `profile` takes the place of the request's; nothing: its first one.
  static Result<std::unique_ptr<ObservedNetwork>> build(const BuildToCome& build,
                                                        const std::optional<ProfileRequest>& profile,
                                                        const Reporter& reporter);

  /// The inputs, in the order in which `run` takes them.
  std::vector<const char*> input_names() const;
  /// Memory, this object's, with random numbers for an input, whole ones where it has no floats. The shape is the one
  /// that the profile is optimised for.
  Result<void*> random_input(size_t input, Interval interval);
  /// Runs a batch, whose inputs lie at `inputs`, and counts what comes of it.
  Status run(std::span<void* const> inputs, std::map<std::string, RangeHistogram>& histograms);

 private:
  explicit ObservedNetwork(Device& device) : device_(device) {}

  const plan::Plan& plan() const { return context_->engine().plan(); }
  /// Batches have the shapes that the profile is optimised for.
  Status set_shapes(const BuildRequest& request);
  /// Adds the elements of a tensor to its histogram, if it is observed.
  Status count(const std::string& name, const void* data, const Extents& extents,
               std::map<std::string, RangeHistogram>& histograms);
  Result<void*> memory_of(int output, const Extents& extents) override;
  /// Memory for a tensor, which the host reaches where it is a shape tensor.
  Result<void*> grow(Buffer& buffer, const plan::IoTensor& tensor, const Extents& extents);

  Device& device_;
  std::vector<std::string> names_;        ///< of what is observed, sorted
  std::vector<Buffer> inputs_, outputs_;  ///< by their index
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<nvinfer1::ICudaEngine> engine_;
  std::unique_ptr<runtime::Context> context_;
};

}  // namespace kiln::api
