/// A tactic's variants on the GPU of this machine, for tests and rates: each compiled, loaded, run, read back.
#pragma once

#include <string>
#include <vector>

#include "backend/cuda/device/cuda_device.h"
#include "tactics/tactic.h"

namespace kiln::cuda {

/// The first device with its executor, or why there is none.
Result<std::unique_ptr<CudaDevice>> make_gpu();

struct RanVariant {
  std::string name;
  std::string failure;  ///< why it could not be compiled or run; the rest is then empty
  HostTensor result;    ///< the first output; where data decides its size, room for the largest, which begins with it
  std::vector<HostTensor> others = {};  ///< the outputs behind the first
  std::vector<int64_t> sizes = {};      ///< that the run decided
  double time_us = 0;                   ///< if asked for
};
struct VariantRun {
  Numerics numerics;
  bool timed = false;
  bool made_up = false;  ///< inputs are of no meaning and not given, results not read back: for times alone
  std::string only;      ///< of variants whose names hold this; empty: all
  int optimization_level = 5;
};
/// The region that ends at the graph's first output, by all of a tactic's variants; its inputs in the graph's order.
/// Outputs and workspace hold NaN before each run. Fails if the tactic does not take the region.
Result<std::vector<RanVariant>> run_variants(CudaDevice& device, const ir::Graph& graph, const Tactic& tactic,
                                             const std::vector<HostTensor>& inputs, const VariantRun& options);

/// Prints the times and TFLOP/s of the fastest `most` variants, of the estimate's first, and what failed.
void print_rates(const std::string& name, double flops, std::vector<RanVariant> ran, size_t most = 5);

/// The time of the driver's own copy of that many bytes on the device: the yardstick of what only moves memory.
Result<double> copy_time_us(CudaDevice& device, int64_t size_bytes);

/// Normal numbers of a type, times `scale`.
HostTensor random_tensor(DType dtype, const Extents& extents, uint64_t seed, double scale = 1);
/// The largest difference over the largest element of `expected`; NaN where only one has NaN.
double relative_error(const HostTensor& result, const HostTensor& expected);

}  // namespace kiln::cuda
