#include "backend/cuda/tactics/backend.h"

#include "backend/cuda/compile/compiler.h"
#include "backend/cuda/exec/cudnn_on_device.h"
#include "backend/cuda/tactics/byte_products.h"
#include "backend/cuda/tactics/contraction.h"
#include "backend/cuda/tactics/lower.h"
#include "backend/cuda/tactics/lower_recurrence.h"
#include "backend/cuda/tactics/move.h"
#include "backend/cuda/tactics/registry.h"
#include "steps/copy.h"
#include "tactics/region.h"
#include "tactics/weight_only_products.h"

namespace kiln::cuda {

std::span<const Tactic* const> CudaBackend::tactics(const OpInfo& op) const { return tactics_for(op); }

Status CudaBackend::lower(ir::Graph& graph, const Numerics& numerics) const {
  TRY(lower_recurrences(graph));
  std::vector<std::string> reasons;
  TRY(lower_floats(graph, numerics, reasons));
  for (std::string& reason : reasons) compiler_of(device_).notices().add(Severity::kVerbose, std::move(reason));
  return {};
}

bool CudaBackend::multiplies_bytes(const ir::Graph& graph, ir::NodeId contraction) const {
  return takes_bytes(graph, contraction, machine_of(device_.properties())) ||
         find_weight_only_operand(graph, contraction).has_value();
}

void CudaBackend::compile_ahead(FunctionRef<void()> ask) const {
  const CudnnRound round;
  compiler_of(device_).compile_ahead(ask);
}

StepDraft CudaBackend::reformat(const TensorType& type, const Format& from, const Format& to) const {
  StepDraft draft = cuda_step(steps::Copy{});
  auto code = compile_copy(device_, type, from, to);
  if (code) draft.binary = std::move(*code);  // else loading the step says that its code is missing
  return draft;
}

double CudaBackend::reformat_estimate_us(const TensorType& type, const Format& from, const Format& to) const {
  if (from == to) return 0;
  constexpr double kLaunchUs = 2;
  const double rate = device_.properties().memory_bytes_per_second * 0.7 / 1e6;  // bytes a microsecond
  const double bytes = 2 * estimated_bytes(type);
  return kLaunchUs + bytes / (rate > 0 ? rate : 1e6);
}

}  // namespace kiln::cuda
