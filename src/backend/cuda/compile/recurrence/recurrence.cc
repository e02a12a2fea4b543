#include "backend/cuda/compile/recurrence/recurrence.h"

#include "backend/cuda/compile/nest/function.h"

namespace kiln::cuda {
namespace {

std::string_view cell_name(const RecurrenceKernel& kernel) {
  if (kernel.cell == ops::RecurrenceCell::kRnn) return "kRnn";
  if (kernel.cell == ops::RecurrenceCell::kLstm) return "kLstm";
  return kernel.linear_before_reset ? "kGruLinear" : "kGru";
}
std::string_view place_name(RecurrencePlace place) {
  if (place == RecurrencePlace::kRegisters) return "kRegisters";
  return place == RecurrencePlace::kShared ? "kShared" : "kGlobal";
}

}  // namespace

KernelSource recurrence_source(const RecurrenceKernel& k, RecurrencePlace place) {
  KernelSource source;
  source.entry = recurrence_entry(k, place);
  source.quick = k.dtype != DType::kF32;
  const std::string tile = str("RecurrenceTile{", k.hidden, ", ", k.tuning.blocks, ", ", k.tuning.rows, ", ",
                               RecurrenceKernel::kThreads, '}');
  source.prelude = "#include \"recurrence/recurrence.cuh\"\n" +
                   entry_text(source.entry, str(RecurrenceKernel::kThreads), struct_parameter("Recurrence"),
                              str("recurrence<", element_name(k.dtype), ", RecurrenceCell::", cell_name(k), ", ", tile,
                                  ", RecurrencePlace::", place_name(place), ">(args)"));
  return source;
}

}  // namespace kiln::cuda
