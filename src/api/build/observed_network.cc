#include "api/build/observed_network.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "api/run/engine.h"
#include "ir/precision.h"
#include "ops/cast.h"
#include "tensor/view.h"

namespace kiln::api {
namespace {

/// Takes the precisions of layers away, and the roundings of FP32 numbers to halves: they would saturate what is to be
/// observed.
void drop_precisions(ir::Graph& graph) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    ir::clear_precision(graph, id);
    for (const auto& body : graph.node(id).bodies) drop_precisions(*body);
    const auto* back = graph.node(id).op.as<ops::Cast>();
    if (!back || back->to != DType::kF32) continue;
    const ir::ValueId narrow = graph.node(id).inputs[0];
    if (!graph.producer_as<ops::Cast>(narrow) || !is_kernel_float(graph.type(narrow).dtype)) continue;
    const ir::ValueId source = graph.node(graph.value(narrow).producer).inputs[0];
    if (graph.type(source).dtype == DType::kF32) graph.set_input(id, 0, source);
  }
}

}  // namespace

std::vector<ir::ValueId> observed_values(const ir::Graph& graph) {
  std::vector<ir::ValueId> values(graph.inputs().begin(), graph.inputs().end());
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    for (const ir::ValueId output : graph.node(id).outputs) values.push_back(output);
  }
  std::erase_if(values, [&](ir::ValueId value) {
    return graph.value(value).name.empty() || graph.type(value).dtype != DType::kF32 || graph.constant(value) ||
           !graph.type(value).volume().is_valid();
  });
  return values;
}

Result<std::unique_ptr<ObservedNetwork>> ObservedNetwork::build(const BuildToCome& build,
                                                                const std::optional<ProfileRequest>& profile,
                                                                const Reporter& reporter) {
  const ir::Graph& graph = build.graph;
  BuildRequest request = build.request;
  ir::Graph copy = graph.clone();
  std::unique_ptr<ObservedNetwork> result(new ObservedNetwork(build.backend.device()));
  for (const ir::ValueId value : observed_values(graph)) {
    const bool is_input = std::ranges::find(graph.inputs(), value) != graph.inputs().end();
    result->names_.push_back(graph.value(value).name);
    if (!is_input && !graph.is_output(value)) copy.mark_output(value, graph.value(value).name);
  }
  std::ranges::sort(result->names_);
  drop_precisions(copy);
  TRY(copy.infer());
  request.numerics.fp16 = request.numerics.bf16 = request.numerics.tf32 = false;
  request.optimization_level = std::min(request.optimization_level, 1);
  request.is_direct_io = false;
  request.surface_formats.clear();  // batches are row-major
  request.int8_ranges.clear();
  if (profile) request.profiles = {*profile};
  auto plan = std::make_shared<const plan::Plan>(TRY(build_plan(copy, build.backend, request, reporter.log())));
  result->engine_.reset(TRY(make_engine(std::move(plan), build.makers, reporter, build.allocator)));
  const auto& engine = static_cast<const Engine&>(*result->engine_).runtime_engine();
  result->context_ = TRY(runtime::Context::create(engine, runtime::Context::Memory::kOwn));
  result->context_->set_output_memory(result.get());
  result->stream_ = TRY(result->device_.create_stream());
  TRY(result->set_shapes(request));
  return result;
}

std::vector<const char*> ObservedNetwork::input_names() const {
  std::vector<const char*> names;
  for (const plan::IoTensor& input : plan().inputs) names.push_back(input.name.c_str());
  return names;
}

Result<void*> ObservedNetwork::random_input(size_t input, Interval interval) {
  const DType dtype = plan().inputs[input].dtype;
  const Extents extents = context_->input_extents(static_cast<int>(input));
  HostTensor::Fresh fresh = TRY(HostTensor::make(dtype, extents));
  const MutableView view(dtype, extents, fresh.data.data());
  std::mt19937 random(static_cast<uint32_t>(input + 1));  // no two inputs have the same numbers
  for (int64_t i = 0; i < view.volume(); ++i) {
    const double share = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    const double least = interval.least, most = interval.most;
    view.set(i, is_float(dtype) ? least + share * (most - least)
                                : std::min(std::floor(least + share * (most - least + 1)), most));
  }
  inputs_.resize(plan().inputs.size());
  void* const memory = TRY(grow(inputs_[input], plan().inputs[input], extents));
  TRY(device_.copy_from_host(memory, fresh.data.data(), static_cast<int64_t>(fresh.data.size()), *stream_));
  TRY(stream_->synchronize());
  return memory;
}

Status ObservedNetwork::run(std::span<void* const> inputs, std::map<std::string, RangeHistogram>& histograms) {
  for (size_t i = 0; i < plan().inputs.size(); ++i) context_->set_input_address(static_cast<int>(i), inputs[i]);
  TRY(context_->infer_shapes());
  for (int i = 0; i < static_cast<int>(plan().outputs.size()); ++i) {
    const Extents extents = context_->output_extents(i);
    if (std::ranges::find(extents, -1) != extents.end()) continue;  // data decides: `memory_of` is asked in the run
    context_->set_output_address(i, TRY(memory_of(i, extents)));
  }
  TRY(context_->bind());
  TRY(context_->enqueue(*stream_));
  TRY(stream_->synchronize());
  if (!device_.is_host()) TRY(context_->check_runs(runtime::Runs::kLatest));
  for (size_t i = 0; i < plan().inputs.size(); ++i)
    TRY(count(plan().inputs[i].name, inputs[i], context_->input_extents(static_cast<int>(i)), histograms));
  for (size_t i = 0; i < plan().outputs.size(); ++i)
    TRY(count(plan().outputs[i].name, outputs_[i].data(), context_->latest_output_extents(static_cast<int>(i)),
              histograms));
  return {};
}

Status ObservedNetwork::set_shapes(const BuildRequest& request) {
  if (request.profiles.empty()) return {};
  for (const auto& [name, range] : request.profiles.front().extents) {
    const auto surface = context_->engine().surface_named(name);
    TRY(require(surface && surface->is_input, "'", name, "' is no input of the network"));
    TRY(context_->set_input_extents(surface->index, range.opt));
  }
  return {};
}

Status ObservedNetwork::count(const std::string& name, const void* data, const Extents& extents,
                              std::map<std::string, RangeHistogram>& histograms) {
  if (!std::ranges::binary_search(names_, name)) return {};
  std::vector<float> values(static_cast<size_t>(volume(extents)));
  TRY(device_.copy_to_host(values.data(), data, static_cast<int64_t>(values.size() * sizeof(float)), *stream_));
  TRY(stream_->synchronize());
  histograms[name].add(values);
  return {};
}

Result<void*> ObservedNetwork::memory_of(int output, const Extents& extents) {
  outputs_.resize(plan().outputs.size());
  return grow(outputs_[static_cast<size_t>(output)], plan().outputs[static_cast<size_t>(output)], extents);
}

Result<void*> ObservedNetwork::grow(Buffer& buffer, const plan::IoTensor& tensor, const Extents& extents) {
  const int64_t bytes = std::max<int64_t>(kiln::size_bytes(tensor.dtype, volume(extents)), 1);
  if (buffer.size_bytes() < bytes)
    buffer = TRY(tensor.is_shape ? device_.allocate_pinned(bytes) : device_.allocate(bytes));
  return static_cast<void*>(buffer.data());
}

}  // namespace kiln::api
