#include "api/build/half_trial.h"

#include <algorithm>
#include <limits>

#include "api/run/devices.h"
#include "backend/cpu/tactics/backend.h"
#include "ir/work.h"
#include "ops/gather.h"
#include "ops/plugin.h"
#include "passes/index_extents.h"
#include "passes/magnitudes.h"
#include "tensor/magnitude.h"
#include "tensor/numeric.h"

namespace kiln::api {
namespace {

namespace nv = nvinfer1;

/// A root mean square from which on single numbers may leave the range, by an estimate that may be too small.
constexpr double kSuspicious = kLargestHalf / 64;
constexpr float kMargin = 2;                  ///< of what the program's data reach, above what made-up inputs do
constexpr double kLargestOfRms = 4;           ///< the largest of some thousand numbers of a normal distribution
constexpr double kMostProducts = 5e10;        ///< one to three seconds of two cores
constexpr double kProductsOfATap = 40;        ///< that take the same time
constexpr double kProductsOfAnElement = 100;  ///< of a tensor, likewise
constexpr double kMostBytes = 1e9;            ///< of all tensors

/// What the weights suggest of an observed tensor.
struct Estimate {
  std::string tensor;
  double rms;
};

/// In the order of the nodes.
Result<std::vector<Estimate>> estimate_all(const ir::Graph& graph) {
  const std::vector<double> magnitudes = TRY(passes::estimate_magnitudes(graph));
  std::vector<Estimate> estimates;
  for (const ir::ValueId value : observed_values(graph))
    estimates.push_back({graph.value(value).name, magnitudes[ir::index(value)]});
  return estimates;
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
  double products = 0, elements = 0;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    const ir::Work work = ir::work_of(graph, id);
    products += work.products + kProductsOfATap * work.taps;
  }
  for (const ir::ValueId value : observed_values(graph)) {
    double volume = 1;
    for (const int64_t extent : graph.type(value).opt_extents()) volume *= static_cast<double>(extent);
    elements += volume;
  }
  products += kProductsOfAnElement * elements;
  const double bytes = elements * sizeof(float);
  TRY(require(bytes <= kMostBytes, "its tensors take ", bytes, " bytes, more than ", kMostBytes));
  return require(products <= kMostProducts, "a run takes the time of ", products, " products, more than ",
                 kMostProducts);
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

enum class Inputs { kOfBothSigns, kPositive };

/// The numbers that an input is drawn from. `extents`: those of inputs that are indices.
Interval interval_of(const ir::Graph& graph, ir::ValueId input, Inputs inputs,
                     const std::map<ir::ValueId, int64_t>& extents) {
  constexpr double kSpread = 1.7, kSmallest = 0.02;
  const bool positive = inputs == Inputs::kPositive;
  const DType dtype = graph.type(input).dtype;
  if (is_float(dtype)) return {positive ? kSmallest : -kSpread, kSpread};
  const auto extent = extents.find(input);
  const double most = extent != extents.end() ? static_cast<double>(extent->second - 1)
                      : dtype == DType::kU8   ? 255  // a picture
                                              : 1;
  return {positive ? std::min(1.0, most) : 0, most};
}

using Histograms = std::map<std::string, RangeHistogram>;

/// Runs the network and adds what its tensors hold.
Status run(ObservedNetwork& network, const ir::Graph& graph, Inputs inputs, Histograms& histograms) {
  const std::map<ir::ValueId, int64_t> extents = passes::index_extents(graph);
  std::vector<void*> memory;
  for (const char* name : network.input_names()) {
    const auto input = std::ranges::find(graph.inputs(), name, [&](ir::ValueId id) { return graph.value(id).name; });
    CHECK(input != graph.inputs().end());
    memory.push_back(TRY(network.random_input(memory.size(), interval_of(graph, *input, inputs, extents))));
  }
  return network.run(memory, histograms);
}

/// What the network's tensors hold in one run, or in two where the first makes numbers that are not finite.
Result<Histograms> observe(const BuildToCome& build) {
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
  Histograms histograms;
  TRY(run(*network, graph, Inputs::kOfBothSigns, histograms));
  const auto is_finite = [](const auto& entry) { return entry.second.num_not_finite() == 0; };
  if (std::ranges::all_of(histograms, is_finite)) return histograms;
  Histograms both = histograms;
  if (run(*network, graph, Inputs::kPositive, both)) return both;
  return histograms;
}

/// What is known of tensors by runs and, where these say nothing, by the weights.
struct Findings {
  passes::Ranges ranges;
  std::vector<std::string> not_finite;  ///< tensors without a finite number, in the order of the nodes
};

Findings findings_of(const Histograms& histograms, const std::vector<Estimate>& estimates) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  Findings findings;
  for (const Estimate& estimate : estimates) {
    const auto found = histograms.find(estimate.tensor);
    if (found == histograms.end() || found->second.num_finite() + found->second.num_not_finite() == 0) continue;
    double range = kMargin * static_cast<double>(found->second.largest());
    if (found->second.num_finite() == 0) {
      range = kLargestOfRms * estimate.rms;
      findings.not_finite.push_back(estimate.tensor);
    }
    findings.ranges[estimate.tensor] = static_cast<float>(std::min(range, kLargest));
  }
  return findings;
}

/// Runs see few rows of a table, so what gathers from a constant has the range of all of it.
void add_tables(const ir::Graph& graph, passes::Ranges& ranges) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id) || !graph.node(id).op.as<ops::Gather>()) continue;
    const HostTensor* const table = graph.constant(graph.node(id).inputs[0]);
    const auto range = ranges.find(graph.value(graph.node(id).outputs[0]).name);
    if (!table || range == ranges.end()) continue;
    range->second = std::max(range->second, static_cast<float>(largest_magnitude(*table)));
  }
}

/// Says what was tried, and what came of it.
void tell(const std::string& suspicious, const Findings& findings, Log& log) {
  const std::string tried =
      str("FP16's range: ", suspicious, ", so the network was run in FP32, on the CPU, with random inputs; ");
  if (std::ranges::any_of(findings.ranges, [](const auto& range) { return range.second > kLargestHalf; }))
    log.info(tried, "twice what its tensors reached says which layers stay in FP32");
  else
    log.verbose(tried, "no tensor reached half of it");
  if (findings.not_finite.empty()) return;
  const size_t count = findings.not_finite.size();
  const std::string& first = findings.not_finite.front();
  log.info(
      "FP16's range: ", count == 1 ? str("tensor '", first, "' is") : str(count, " tensors ('", first, "' first) are"),
      " not finite with made-up inputs: an estimate by the weights says which layers stay in FP32; a "
      "calibrator's data or setDynamicRange can say more");
}

}  // namespace

Result<passes::Ranges> try_halves(const BuildToCome& build, Log& log) {
  const auto at_best = at_extents(build, &plan::InputRange::opt);  // sums are as long as extents say
  const std::vector<Estimate> estimates = TRY(estimate_all(at_best ? *at_best : build.graph));
  const auto largest = std::ranges::max_element(estimates, {}, &Estimate::rms);
  if (largest == estimates.end() || largest->rms <= kSuspicious) return passes::Ranges();
  const std::string suspicious =
      str("by the weights tensor '", largest->tensor, "' is about ", static_cast<float>(largest->rms));
  std::string why(why_not(build.graph, build.request));
  if (why.empty()) {
    const auto histograms = observe(build);
    if (histograms) {
      Findings findings = findings_of(*histograms, estimates);
      add_tables(build.graph, findings.ranges);
      tell(suspicious, findings, log);
      return std::move(findings.ranges);
    }
    why = histograms.error().message;
  }
  log.verbose("FP16's range: ", suspicious, ", and the network was not tried with random inputs: ", why,
              "; a calibrator's data or setDynamicRange can say which layers need FP32");
  return passes::Ranges();
}

}  // namespace kiln::api
