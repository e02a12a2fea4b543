#include "steps/plugin_kernel.h"

#include "steps/define.h"
#include "steps/plugin.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::PluginKernel>();

namespace kiln::steps {
namespace {

/// By LaunchNumber: what CUDA allows on every GPU. A device may allow fewer threads, and decides on shared memory.
constexpr std::array<int64_t, kNumLaunchNumbers> kMost = {INT32_MAX, 65535, 65535, 1024, 1024, 64, INT32_MAX};
constexpr int64_t kMostThreads = 1024;
/// A grid of 0 blocks is no work: a tensor may be empty.
constexpr std::array<int64_t, kNumLaunchNumbers> kLeast = {0, 0, 0, 1, 1, 1, 0};

}  // namespace

Status PluginKernel::check(const StepTypes& types) const {
  TRY(require(!entry.empty(), plugin, " has a kernel without a name"));
  TRY(require(entry.find('\0') == entry.npos, plugin, ": the name of its kernel has a zero in it"));
  for (const int bytes : scalar_bytes)
    TRY(require(bytes == 1 || bytes == 2 || bytes == 4, plugin, " has a scalar argument of ", bytes,
                " bytes; 1, 2 or 4 are possible"));
  TRY(require(types.num_params == kNumLaunchNumbers + std::ssize(scalar_bytes), plugin, " has ", types.num_params,
              " numbers of a launch; ", kNumLaunchNumbers, " and its ", scalar_bytes.size(), " scalars are needed"));
  return check_size_outputs(plugin, size_outputs, types);
}

Status PluginKernel::check_numbers(std::span<const int64_t> params) const {
  for (size_t i = 0; i < kMost.size(); ++i)
    TRY(require(params[i] >= kLeast[i] && params[i] <= kMost[i], plugin, ": ", kLaunchNumberNames[i],
                " of its kernel is ", params[i], "; ", kLeast[i], " to ", kMost[i], " are possible"));
  const auto block = [&](LaunchNumber axis) { return params[static_cast<size_t>(axis)]; };
  const int64_t threads = block(LaunchNumber::kBlockX) * block(LaunchNumber::kBlockY) * block(LaunchNumber::kBlockZ);
  TRY(require(threads <= kMostThreads, plugin, ": a block of its kernel has ", threads, " threads; ", kMostThreads,
              " are possible"));
  for (size_t i = 0; i < scalar_bytes.size(); ++i) {
    const int64_t value = params[kMost.size() + i], most = (int64_t{1} << (8 * scalar_bytes[i] - 1)) - 1;
    TRY(require(value >= -most - 1 && value <= most, plugin, ": scalar argument ", i, " of its kernel is ", value,
                ", which ", scalar_bytes[i], " bytes do not hold"));
  }
  return {};
}

}  // namespace kiln::steps
