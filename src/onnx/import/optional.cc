// Optionals: the import knows whether they have an element.
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

using Kind = Sequence::Kind;

/// An optional without an input is empty; its type is the attribute's.
Status optional(ImportContext& cx) {
  Sequence held{.kind = Kind::kEmptyOptional};
  cx.node().pass_over("type");  // who reads the element finds its type there
  if (cx.is_sequence(0)) {
    held = TRY(cx.sequence(0)).get();
    held.kind = Kind::kOptionalSequence;
  } else if (cx.has_input(0)) {
    held.kind = Kind::kOptionalTensor;
    held.append(TRY(cx.input(0)));
  }
  return cx.output(std::move(held));
}

/// Since opset 18 a tensor or a sequence counts as an optional that has it.
Status optional_get_element(ImportContext& cx) {
  const Sequence* found = cx.find_sequence(0);
  if (!found) return cx.output(TRY(cx.input(0)));
  TRY(require(found->kind != Kind::kEmptyOptional, "the optional has no element"));
  if (found->kind == Kind::kOptionalTensor) return cx.output(found->parts[0].value);
  return cx.output(Sequence{.parts = found->parts});
}

Status optional_has_element(ImportContext& cx) {
  const Sequence* found = cx.find_sequence(0);
  const bool has = found ? found->kind != Kind::kEmptyOptional : cx.has_input(0);
  return cx.output(cx.add_constant(HostTensor::scalar(DType::kBool, has)));
}

}  // namespace kiln::onnx::importers
