#include "backend/cpu/tactics/backend.h"

#include "backend/cpu/tactics/byte_products.h"
#include "backend/cpu/tactics/lower.h"
#include "backend/cpu/tactics/registry.h"
#include "steps/copy.h"
#include "tactics/region.h"
#include "tactics/weight_only_products.h"

namespace kiln::cpu {

std::span<const Tactic* const> CpuBackend::tactics(const OpInfo& op) const { return tactics_for(op); }

Status CpuBackend::lower(ir::Graph& graph, const Numerics& numerics) const { return lower_to_float(graph, numerics); }

bool CpuBackend::multiplies_bytes(const ir::Graph& graph, ir::NodeId contraction) const {
  return takes_bytes(graph, contraction) || find_weight_only_operand(graph, contraction);
}

StepDraft CpuBackend::reformat(const TensorType&, const Format&, const Format&) const {
  return cpu_step(steps::Copy{});
}

double CpuBackend::reformat_estimate_us(const TensorType& type, const Format& from, const Format& to) const {
  constexpr double kBytesPerUs = 8e3;  // a transposing copy, read plus write
  const double bytes = 2 * estimated_bytes(type);
  return from == to ? 0 : 0.5 + bytes / kBytesPerUs;
}

}  // namespace kiln::cpu
