#include "api/build/half_trial.h"

#include <algorithm>
#include <limits>

#include "api/run/devices.h"
#include "backend/cpu/tactics/backend.h"
#include "ir/work.h"
#include "ops/plugin.h"
#include "passes/magnitudes.h"
#include "tensor/numeric.h"

namespace kiln::api {
namespace {

namespace nv = nvinfer1;

/// A root mean square from which on single numbers may leave the range, by an estimate that may be too small.
constexpr double kSuspicious = kLargestHalf / 64;
constexpr float kMargin = 2;
constexpr double kMostProducts = 5e10;  ///< a second of two cores
constexpr double kMostBytes = 1e9;      ///< of all tensors

/// The tensor whose estimate is the largest, if that is suspicious.
Result<std::optional<std::string>> find_suspicious(const ir::Graph& graph) {
  const std::vector<double> magnitudes = TRY(passes::estimate_magnitudes(graph));
  double largest = kSuspicious;
  std::optional<std::string> found;
  for (const ir::ValueId value : observed_values(graph)) {
    if (magnitudes[ir::index(value)] <= largest) continue;
    largest = magnitudes[ir::index(value)];
    found = str("tensor '", graph.value(value).name, "' is about ", static_cast<float>(largest));
  }
  return found;
}

/// Why a network is not run by inputs that nobody chose; empty if it may be.
std::string_view why_not(const ir::Graph& graph, const BuildRequest& request) {
  if (!request.profiles.empty() && !request.profiles.front().values.empty()) return "it has shape inputs";
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    if (!graph.node(id).bodies.empty()) return "it has loops or branches";
    if (graph.node(id).op.as<ops::Plugin>()) return "it has plugins";
  }
  return "";
}

/// A logger for a run that may fail: nobody asked for it.
class Quiet final : public nv::ILogger {
 public:
  void log(Severity, const char*) noexcept override {}
};

/// The network at the least or the best extents of the first profile.
Result<ir::Graph> at_extents(const BuildToCome& build, Extents plan::InputRange::*which) {
  ir::Graph graph = build.graph.clone();
  if (!build.request.profiles.empty())
    for (const ir::ValueId input : build.graph.inputs()) {
      const auto& extents = build.request.profiles.front().extents;
      const auto range = extents.find(graph.value(input).name);
      if (range == extents.end()) continue;
      const Extents& chosen = range->second.*which;
      graph.set_input_type(input, {graph.type(input).dtype, Shape(chosen.begin(), chosen.end())});
    }
  TRY(graph.infer());
  return graph;
}

/// Fails where a run of the network takes too much time or memory.
Status check_cost(const ir::Graph& graph) {
  double products = 0, bytes = 0;
  for (int i = 0; i < graph.num_nodes(); ++i)
    if (const auto id = static_cast<ir::NodeId>(i); graph.alive(id)) products += ir::work_of(graph, id).products;
  for (const ir::ValueId value : observed_values(graph)) {
    double volume = 1;
    for (const int64_t extent : graph.type(value).opt_extents()) volume *= static_cast<double>(extent);
    bytes += volume * sizeof(float);
  }
  TRY(require(products <= kMostProducts, "a run takes ", products, " products, more than ", kMostProducts));
  return require(bytes <= kMostBytes, "its tensors take ", bytes, " bytes, more than ", kMostBytes);
}

/// This thread builds and loads for the CPU while it is alive.
class OnHost {
 public:
  OnHost() : before_(use_host(true)) {}
  ~OnHost() { use_host(before_); }
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;

 private:
  bool before_;
};

Result<passes::Ranges> run_once(const BuildToCome& build) {
  ir::Graph graph = TRY(at_extents(build, &plan::InputRange::opt));
  if (!check_cost(graph)) graph = TRY(at_extents(build, &plan::InputRange::min));
  TRY(check_cost(graph));
  const OnHost on_host;
  cpu::CpuBackend backend(TRY(host_device()));
  BuildRequest request;
  request.optimization_level = 0;
  Quiet quiet;
  const std::unique_ptr<ObservedNetwork> network =
      TRY(ObservedNetwork::build({graph, backend, request, build.makers, nullptr}, std::nullopt, Reporter(quiet)));
  std::vector<void*> inputs;
  for (size_t i = 0; i < network->input_names().size(); ++i) inputs.push_back(TRY(network->random_input(i)));
  std::map<std::string, RangeHistogram> histograms;
  TRY(network->run(inputs, histograms));
  passes::Ranges ranges;
  for (const auto& [name, histogram] : histograms) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    ranges[name] = histogram.num_not_finite() > 0 ? kLargest : std::min(kMargin * histogram.largest(), kLargest);
  }
  return ranges;
}

}  // namespace

Result<passes::Ranges> try_halves(const BuildToCome& build, Log& log) {
  const std::optional<std::string> suspicious = TRY(find_suspicious(build.graph));
  if (!suspicious) return passes::Ranges();
  std::string why(why_not(build.graph, build.request));
  if (why.empty()) {
    auto ranges = run_once(build);
    if (ranges) {
      const bool leaves = std::ranges::any_of(*ranges, [](const auto& range) { return range.second > kLargestHalf; });
      const std::string tried = str("FP16's range: by the weights ", *suspicious,
                                    ", so the network was run once in FP32, on the CPU, with random inputs; ");
      if (leaves)
        log.info(tried, "twice what its tensors reached says which layers stay in FP32");
      else
        log.verbose(tried, "no tensor reached half of it");
      return ranges;
    }
    why = ranges.error().message;
  }
  log.verbose("FP16's range: by the weights ", *suspicious, ", and the network was not tried with random inputs: ", why,
              "; a calibrator's data or setDynamicRange can say which layers need FP32");
  return passes::Ranges();
}

}  // namespace kiln::api
