#include "api/run/testing/small_plan.h"

#include "api/run/devices.h"
#include "backend/cpu/tactics/backend.h"
#include "builder/build.h"
#include "ir/symbolic_values.h"
#include "ops/gather.h"
#include "ops/reshape.h"
#include "plan/writer.h"

namespace kiln::api {

Result<plan::Plan> small_plan(nvinfer1::ProfilingVerbosity verbosity, ops::ActivationKind kind) {
  ir::Graph graph;
  const sym::Expr n = graph.table().symbol("n");
  const ir::ValueId x = graph.add_input("x", TensorType(DType::kF32, {n, 4}));
  const ir::ValueId shape = graph.add_input("shape", TensorType(DType::kI64, {2}));
  const ir::ValueId index = graph.add_input("index", TensorType(DType::kI32, {1}));
  ir::give_symbolic_values(graph, shape);
  const ir::ValueId y = TRY(graph.add_one(ops::Activation{.kind = kind}, {x}, "relu"));
  const ir::ValueId z = TRY(graph.add_one(ops::Reshape{}, {y, shape}, "reshape"));
  const ir::ValueId picked = TRY(graph.add_one(ops::Gather{}, {x, index}, "pick"));
  graph.mark_output(y, "y");
  graph.mark_output(z, "z");
  graph.mark_output(picked, "picked");

  BuildRequest request;
  request.network_name = "small";
  for (const auto& [min, opt, max] : {std::array{1, 2, 4}, std::array{4, 6, 8}}) {
    ProfileRequest& profile = request.profiles.emplace_back();
    profile.extents["x"] = {{min, 4}, {opt, 4}, {max, 4}};
    profile.values["shape"] = {{1, 1}, {4, opt}, {32, 32}};
  }
  cpu::CpuDevice& device = TRY(host_device());
  cpu::CpuBackend backend(device);
  NullLog log;
  plan::Plan plan = TRY(build_plan(graph, backend, request, log));
  plan.build.profiling_verbosity = static_cast<int>(verbosity);
  return plan;
}

std::vector<std::byte> small_plan_bytes(nvinfer1::ProfilingVerbosity verbosity) {
  const auto plan = small_plan(verbosity);
  CHECK(plan.has_value());
  auto bytes = plan::write_plan(*plan);
  CHECK(bytes.has_value());
  return *std::move(bytes);
}

}  // namespace kiln::api
