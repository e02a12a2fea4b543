#include "ops/reverse_sequence.h"

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

Status reverse_sequence(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0)), lens = TRY(cx.input(1));
  const ops::ReverseSequence op{.batch_axis = TRY(cx.int_attribute("batch_axis", 1)),
                                .sequence_axis = TRY(cx.int_attribute("time_axis", 0))};
  return cx.output(TRY(cx.add(op, {x, lens})));
}

}  // namespace kiln::onnx::importers
