/// kiln profile: builds, runs on made-up inputs and prints where the time goes, step by step.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <numeric>

#include "cli/files.h"
#include "cli/layer_profile.h"
#include "cli/statistics.h"
#include "commands.h"
#include "network.h"
#include "plan/nested_steps.h"
#include "session.h"
#include "step_times.h"
#include "tensor/view.h"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;
double since_ms(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The work of a step at the extents bound: multiply-adds count twice, every tensor is moved once.
struct Work {
  double flops = 0, bytes = 0;
};

Extents extents_of(const plan::Tensor& tensor, std::span<const int64_t> symbols) {
  Extents result;
  for (const sym::Program& extent : tensor.extents) result.push_back(extent.try_run(symbols).value_or(0));
  return result;
}

Work work_of(const plan::Profile& profile, const plan::Step& step, std::span<const int64_t> symbols) {
  Work work;
  std::vector<Extents> inputs;
  double moved = 0;
  for (const auto* ids : {&step.inputs, &step.outputs})
    for (const int id : *ids) {
      const plan::Tensor& t = profile.tensors[static_cast<size_t>(id)];
      const Extents extents = t.place == plan::Place::kAbsent ? Extents{0} : extents_of(t, symbols);
      moved += static_cast<double>(size_bytes(t.dtype, volume(extents)));
      if (ids == &step.inputs) inputs.push_back(extents);
    }
  work.bytes = moved;
  const std::string& ops = step.info.ops;
  const auto count = [](std::span<const int64_t> extents) { return static_cast<double>(volume(extents)); };
  const double result = count(extents_of(profile.tensors[static_cast<size_t>(step.outputs[0])], symbols));
  if (ops.starts_with("Convolution") && inputs.size() > 1 && !inputs[1].empty())
    work.flops = 2 * result * count(inputs[1]) / static_cast<double>(std::max<int64_t>(inputs[1][0], 1));
  else if (ops.starts_with("Deconvolution") && inputs.size() > 1 && !inputs[1].empty())
    work.flops = 2 * count(inputs[0]) * count(inputs[1]) / static_cast<double>(std::max<int64_t>(inputs[1][0], 1));
  else if (ops.starts_with("MatrixMultiply") && !inputs.empty() && !inputs[0].empty())
    work.flops = 2 * result * static_cast<double>(inputs[0].back());
  return work;
}

/// Prints the network's work and the rates that `ms` milliseconds mean, to compare with the machine's limits. Products
/// inside larger steps (attention) and transposed operands are not counted.
void print_work(const plan::Plan& plan, std::span<const Extents> inputs, double ms) {
  const plan::Profile& profile = plan.profiles[0];
  std::vector<int64_t> symbols(plan.symbols.size(), 0);
  for (size_t s = 0; s < symbols.size(); ++s)
    if (const plan::Symbol& symbol = plan.symbols[s]; symbol.input >= 0 && symbol.axis >= 0)
      symbols[s] = inputs[static_cast<size_t>(symbol.input)][static_cast<size_t>(symbol.axis)];
  Work total;
  for (const plan::Step& step : profile.steps) {
    const Work work = work_of(profile, step, symbols);
    total.flops += work.flops;
    total.bytes += work.bytes;
  }
  std::printf("%9.4f GFLOP in contractions, %.1f GFLOP/s; %.1f MB moved by steps, %.1f GB/s\n", total.flops / 1e9,
              total.flops / 1e6 / ms, total.bytes / 1e6, total.bytes / 1e6 / ms);
}

std::string shapes_text(const plan::Block& block, const plan::Step& step) {
  std::string shapes;
  for (const int id : step.inputs) {
    const plan::Tensor& t = block.tensors[static_cast<size_t>(id)];
    if (t.place == plan::Place::kAbsent) continue;
    shapes += " [";
    for (const sym::Program& e : t.extents) shapes += str(e, ' ');
    shapes += t.format.is_linear() ? "]" : "]nhwc";
  }
  return shapes;
}

void print_step(double ms, const plan::NestedStep& nested) {
  const plan::Step& step = nested.get();
  const auto indent = static_cast<int>(2 * std::ranges::count(nested.number, '.'));
  std::printf("%9.4f ms  %*s%-14s %-28s %.60s %s\n", ms, indent, "", step.info.tactic.c_str(),
              step.info.variant.c_str(), step.name.c_str(), shapes_text(*nested.block, step).c_str());
}

/// Prints each step, and below one that has bodies the steps of those that ran, with the time of all their runs.
void print_steps(const plan::Plan& plan, const StepTimes& times, double total_ms) {
  std::map<std::string, double> by_tactic;
  for (const plan::NestedStep& nested : plan::nested_steps(plan, plan.profiles[0])) {
    if (!nested.body) {
      const double ms = times.best_ms[nested.step];
      by_tactic[nested.get().info.tactic] += ms;
      print_step(ms, nested);
      continue;
    }
    const BodyTime* ran = times.find(plan, *nested.body);
    const int64_t num_runs = ran ? ran->num_runs : 0;
    if (nested.step == 0)
      std::printf("%9.4f ms  %*s%lld run%s of the %s\n", ran ? ran->all_ms() : 0.0,
                  static_cast<int>(2 * std::ranges::count(nested.number, '.')) - 2, "",
                  static_cast<long long>(num_runs), num_runs == 1 ? "" : "s", nested.body->name.c_str());
    if (ran) print_step(ran->total_ms[nested.step], nested);
  }
  for (const auto& [tactic, ms] : by_tactic)
    std::printf("%9.4f ms  %5.1f %%  all of %s\n", ms, 100 * ms / total_ms, tactic.c_str());
}

/// Runs at the extents that `shapes` names, prints what took how long, and returns the times of layers.
Result<cli::LayerProfile> profile_at(Session& session, const cli::NamedExtents& shapes, int runs) {
  const plan::Plan& plan = *session.plan;
  const std::vector<Extents> extents = extents_at(plan, 0, shapes);
  TRY(session.set_inputs(TRY(made_up_inputs(plan, 0, extents))));
  StepTimes times = TRY(measure(session, runs));
  const std::vector<double>& wall = times.wall_ms;
  const double first = wall[0], least = *std::ranges::min_element(wall), median = cli::median(wall);
  print_steps(plan, times, median);
  std::printf("%9.4f ms median of %d runs, %.4f ms least, %.4f ms the first, %zu steps, %.1f MB arena\n", median, runs,
              least, first, plan.profiles[0].steps.size(), static_cast<double>(plan.profiles[0].arena_bytes) / 1e6);
  print_work(plan, extents, median);
  return std::move(times.layers);
}

}  // namespace

Status run_profile(const cli::Arguments& arguments) {
  constexpr std::string_view kExport = "--exportProfile";
  int runs = 20;
  arguments.read("--runs", runs, 1);
  const std::string file = arguments.text(kExport);
  if (!file.empty())
    cli::require_replaceable(file, cli::LayerProfile::kJsonBegins, cli::LayerProfile::kJsonHas, kExport);
  const cli::RequestedShapes shapes = read_shapes(arguments);
  std::vector<std::pair<std::string, cli::NamedExtents>> lists;
  for (const std::string& list : cli::split(arguments.text("--at"), ';'))
    lists.emplace_back(list, cli::parse_shapes(list, "--at"));
  cli::require(file.empty() || lists.size() < 2, kExport, " writes the times of one set of shapes; --at has ",
               lists.size());
  const Clock::time_point start = Clock::now();
  const ir::Graph graph = TRY(import_file(arguments.operands()[1]));
  std::printf("import %.1f ms\n", since_ms(start));
  Session session = TRY(build_session(arguments, graph, profile_of(graph, shapes.build)));
  std::printf("build  %.1f ms\n", session.build_ms);
  cli::LayerProfile layers;
  if (!arguments.has("--at")) layers = TRY(profile_at(session, shapes.run, runs));
  for (const auto& [list, at] : lists) {
    std::printf("at %s\n", list.c_str());
    cli::require_inputs(at, input_names(graph), "--at: the network");
    layers = TRY(profile_at(session, at, runs));
  }
  if (!file.empty()) cli::write_file(file, layers.json(), "profile of --exportProfile");
  return {};
}

}  // namespace kiln
