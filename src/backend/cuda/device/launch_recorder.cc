#include "backend/cuda/device/launch_recorder.h"

#include <algorithm>

namespace kiln::cuda {
namespace {

unsigned cluster_of(const LaunchConfig& config) {
  for (unsigned i = 0; i < config.num_attributes; ++i)
    if (config.attributes[i].id == kLaunchCluster) return config.attributes[i].cluster.x;
  return 1;
}

}  // namespace

void LaunchRecorder::begin_part(StreamHandle captured) {
  int status = kCaptureNone;
  GraphHandle graph = nullptr;
  const GraphNodeHandle* latest = nullptr;
  size_t num_latest = 0, count = 0;
  const bool known = driver_.stream_get_capture_info(captured, &status, nullptr, &graph, &latest, &num_latest) == 0 &&
                     status == kCaptureActive && driver_.graph_get_nodes(graph, nullptr, &count) == 0;
  if (!parts_.empty() && known) end_part(parts_.back(), count, num_latest == 1 ? latest[0] : nullptr);
  parts_.push_back({nodes_.size(), count, known ? Kind::kOurs : Kind::kUnknown});
}

void LaunchRecorder::end_part(Part& part, size_t graph_nodes, GraphNodeHandle latest) {
  const size_t added = graph_nodes - part.graph_nodes, ours = nodes_.size() - part.first_node;
  if (part.kind == Kind::kUnknown || added == ours) return;
  KernelNodeParams params{};
  const bool is_kernel =
      added == 1 && ours == 0 && latest && driver_.graph_kernel_node_get_params(latest, &params) == 0;
  part.kind = is_kernel ? Kind::kLibrarys : Kind::kUnknown;
  if (is_kernel) nodes_.push_back({latest, 1});
}

bool LaunchRecorder::has_librarys() const {
  return std::ranges::find(parts_, Kind::kLibrarys, &Part::kind) != parts_.end();
}

void LaunchRecorder::begin_replacing(size_t part, GraphExecHandle exec) {
  exec_ = exec;
  next_ = parts_[part].first_node;
  end_ = parts_[part + 1].first_node;
}

Status LaunchRecorder::end_replacing() {
  exec_ = nullptr;
  return require(next_ == end_, "the step launches fewer kernels than when it was recorded");
}

Status LaunchRecorder::replace_librarys(size_t part, GraphExecHandle exec, GraphHandle graph) {
  const GraphNodeHandle known = nodes_[parts_[part].first_node].handle;
  size_t count = 0, one = 1;
  GraphNodeHandle node = nullptr;
  TRY(driver_.check(driver_.graph_get_nodes(graph, nullptr, &count), "kernels of a library"));
  TRY(require(count == 1, "a library launches ", count, " kernels; it launched one when it was recorded"));
  TRY(driver_.check(driver_.graph_get_nodes(graph, &node, &one), "kernels of a library"));
  KernelNodeParams was{}, now{};
  TRY(driver_.check(driver_.graph_kernel_node_get_params(known, &was), "a library's kernel"));
  TRY(driver_.check(driver_.graph_kernel_node_get_params(node, &now), "a library's kernel"));
  TRY(require(was.function == now.function && was.kernel == now.kernel,
              "a library launches another kernel than when it was recorded"));
  return driver_.check(driver_.graph_exec_kernel_node_set_params(exec, known, &now),
                       "giving a library's kernel other arguments");
}

Status LaunchRecorder::launch(const LaunchConfig& config, FunctionHandle function, void** arguments) {
  if (exec_) return replace(config, function, arguments);
  TRY(driver_.check(driver_.launch_kernel_ex(&config, function, arguments, nullptr), "recording a kernel"));
  int status = kCaptureNone;
  const GraphNodeHandle* latest = nullptr;
  size_t num_latest = 0;
  if (driver_.stream_get_capture_info(config.stream, &status, nullptr, nullptr, &latest, &num_latest) == 0 &&
      num_latest == 1)
    nodes_.push_back({latest[0], cluster_of(config)});
  return {};  // a part with a node that is not known cannot be replaced
}

Status LaunchRecorder::replace(const LaunchConfig& config, FunctionHandle function, void** arguments) {
  TRY(require(next_ < end_ && nodes_[next_].cluster == cluster_of(config),
              "the step launches other kernels than when it was recorded"));
  KernelNodeParams params{};
  params.function = function;
  for (int i = 0; i < 3; ++i) params.grid[i] = config.grid[i], params.block[i] = config.block[i];
  params.shared_bytes = config.shared_bytes;
  params.arguments = arguments;
  return driver_.check(driver_.graph_exec_kernel_node_set_params(exec_, nodes_[next_++].handle, &params),
                       "giving a recorded kernel other arguments");
}

}  // namespace kiln::cuda
