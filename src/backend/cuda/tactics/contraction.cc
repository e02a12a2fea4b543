#include "backend/cuda/tactics/contraction.h"

#include <algorithm>
#include <set>

#include "backend/cuda/kernels/sizes.h"
#include "backend/cuda/tactics/backend.h"
#include "backend/cuda/tactics/kept_floats.h"

namespace kiln::cuda {

Machine machine_of(const Properties& properties) {
  Machine machine;
  if (properties.num_multiprocessors > 0) machine.multiprocessors = properties.num_multiprocessors;
  if (properties.clock_hz > 0) machine.clock_hz = properties.clock_hz;
  if (properties.memory_bytes_per_second > 0)
    machine.memory_bytes_per_second = properties.memory_bytes_per_second * 0.8;
  machine.shared_bytes = properties.shared_bytes_per_block;
  machine.compute = properties.compute_major * 10 + properties.compute_minor;
  return machine;
}

Machine machine_of(const TacticContext& cx) {
  Machine machine = machine_of(device_of(cx).properties());
  machine.shared_bytes = most_shared_bytes(cx);
  return machine;
}

bool may_use_tf32(const TacticContext& cx, const Region& region) {
  return cx.numerics.tf32 && cx.graph.type(region.inputs[0]).dtype == DType::kF32 &&
         !needs_all_digits(cx.graph, region.nodes[0]);
}

ContractionTypes types_of(const TacticContext& cx, const Region& region) {
  const auto type = [&](ir::ValueId value) { return cx.graph.type(value).dtype; };
  return {type(region.inputs[0]), type(region.inputs[1]), DType::kF32, type(region.outputs[0])};
}

int64_t bytes_read_by_result(const TacticContext& cx, const Region& region) {
  const auto epilogue = epilogue_of(region);
  CHECK(epilogue.has_value());
  const int64_t of_result = bytes_of(cx.graph.type(region.outputs[0]).dtype);
  int64_t bytes = 0;
  for (const steps::EpilogueRead& read : epilogue->reads())
    if (read.type && read.reach == steps::HookOperand::kWhole) bytes += std::max(bytes_of(*read.type), of_result);
  return bytes;
}

Match checked(const TacticContext& cx, Match region) {
  if (!region) return region;
  const auto epilogue = epilogue_of(*region);
  CHECK(epilogue.has_value());
  if (const Status valid = validate(*epilogue); !valid) return reject(valid.error().message);
  const ContractionTypes types = types_of(cx, *region);
  if (types.is_mixed() && !cx.graph.constant(region->inputs[1]))
    return reject("the operands are ", types.a, " and ", types.b, "; kernels take one type");
  if (!is_kernel_float(types.out)) return reject("the result is ", types.out, "; kernels make f32, f16 and bf16");
  return region;
}

void keep_likeliest(const TacticContext& cx, std::vector<Variant>& variants) {
  constexpr size_t kByLevel[] = {1, 2, 3, 5, 12, 48};
  constexpr double kFarBehind = 2.5;  // estimates are not off by more
  const int level = std::clamp(cx.optimization_level, 0, 5);
  if (variants.empty()) return;
  std::ranges::stable_sort(variants, {}, &Variant::estimate_us);
  if (level < 5)
    std::erase_if(variants, [limit = variants.front().estimate_us * kFarBehind](const Variant& v) {
      return v.estimate_us > limit;
    });
  std::set<std::string_view> kinds;
  std::vector<bool> leads;
  for (const Variant& v : variants)
    leads.push_back(kinds.insert(std::string_view(v.name).substr(0, v.name.find(' '))).second);
  std::vector<Variant> kept;
  for (const bool leading : {true, false})
    for (size_t i = 0; i < variants.size(); ++i)
      if (leads[i] == leading && kept.size() < kByLevel[level]) kept.push_back(variants[i]);
  std::ranges::stable_sort(kept, {}, &Variant::estimate_us);
  variants = std::move(kept);
}

}  // namespace kiln::cuda
