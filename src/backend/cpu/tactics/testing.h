/// For tests of tactics: one variant of a region compiled, loaded and run on given inputs.
#pragma once

#include <gtest/gtest.h>

#include "backend/cpu/device/cpu_device.h"
#include "backend/cpu/exec/executor.h"
#include "tactics/spec.h"
#include "tensor/memory_order.h"

namespace kiln::cpu {

/// A device with our executor.
inline std::unique_ptr<CpuDevice> test_device(int team_size) {
  auto device = CpuDevice::create(team_size);
  CHECK(device.has_value());
  (*device)->set_executor(std::make_unique<CpuExecutor>((*device)->team()));
  return std::move(*device);
}

/// Runs one variant. `inputs` are for those of the region's inputs that are not constants, in their order; shapes are
/// the inputs' own, outputs' extents are given. Inputs are row-major, and the step gets them in the variant's formats;
/// the result is in the format that the variant writes.
inline Result<HostTensor> run_variant(const TacticContext& cx, const Tactic& tactic, const Region& region,
                                      const Variant& variant, std::span<const HostTensor> inputs, Extents result) {
  const StepDraft draft = TRY(tactic.compile(cx, region, variant));
  std::vector<HostTensor> held(region.inputs.size());
  std::vector<const HostTensor*> constants;
  std::vector<Extents> extents;
  std::vector<const void*> data;
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    const ir::ValueId id = region.inputs[i];
    const bool present = id != ir::ValueId::kNone;
    const HostTensor* const constant = present ? cx.graph.constant(id) : nullptr;
    const HostTensor* input = constant;
    if (present && !constant) input = &inputs.front(), inputs = inputs.subspan(1);
    if (present) held[i] = TRY(in_memory_order(variant.inputs[i], *input));
    constants.push_back(constant ? &held[i] : nullptr);
    extents.push_back(present ? input->extents() : Extents{});
    data.push_back(present ? held[i].bytes().data() : nullptr);
  }
  const TensorType& type = cx.graph.type(region.outputs[0]);
  std::vector<int64_t> params;
  for (const sym::Expr& param : draft.params) params.push_back(param.opt());
  Executor& executor = TRY(cx.device.executor(draft.executor));
  const auto loaded = TRY(executor.load(spec_of(cx.graph, region, variant, draft), constants));
  const std::vector<Extents> results{result};
  const auto step = TRY(loaded->bind({extents, results, params}));
  Buffer workspace = TRY(cx.device.allocate(std::max<int64_t>(step->workspace_bytes(), 1)));
  auto fresh = TRY(HostTensor::make(type.dtype, std::move(result)));
  void* out = fresh.data.data();
  TRY(step->run({data.data(), &out, workspace.data(), nullptr}));
  return std::move(fresh.tensor);
}

inline HostTensor tensor_of(Extents extents, std::span<const float> values) {
  auto fresh = HostTensor::make(DType::kF32, std::move(extents));
  CHECK(fresh.has_value() && fresh->data.size() == values.size_bytes());
  std::ranges::copy(std::as_bytes(values), fresh->data.begin());
  return std::move(fresh->tensor);
}

}  // namespace kiln::cpu
