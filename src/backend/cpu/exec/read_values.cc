#include "steps/read_values.h"

#include <cstring>

#include "backend/cpu/exec/executor.h"
#include "steps/by_function.h"
#include "tensor/dtype.h"

namespace kiln::cpu {
namespace {

template <class T>
void read_numbers(const void* x, int64_t* sizes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sizes[i] = static_cast<const T*>(x)[i];
}

}  // namespace

LoadResult load(const steps::ReadValues&, const LoadArguments& arguments) {
  return loaded_step([dtype = arguments.spec.inputs[0].dtype](const StepShapes& shapes) {
    const int64_t count = volume(shapes.inputs[0]);
    const auto read = dtype == DType::kI64   ? read_numbers<int64_t>
                      : dtype == DType::kI32 ? read_numbers<int32_t>
                                             : read_numbers<uint8_t>;
    return bound_step([read, count, bytes = static_cast<size_t>(size_bytes(dtype, count))](const RunArguments& run) {
      if (count == 0) return Status();
      read(run.inputs[0], run.sizes, count);
      std::memmove(run.outputs[0], run.inputs[0], bytes);
      return Status();
    });
  });
}

}  // namespace kiln::cpu
