#include "ops/constant.h"

#include "ir/source_names.h"
#include "onnx/dtypes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/fold.h"

namespace kiln::onnx::importers {
namespace {

Result<HostTensor> elements(ImportContext& cx) {
  const NodeDef& node = cx.def();
  if (node.attributes.size() != 1)
    return error(Code::kInvalidArgument, "has ", node.attributes.size(),
                 " attributes; exactly one must hold the value");
  const AttributeDef& value = *cx.node().find(node.attributes[0].name);
  const auto floats = [](Extents extents, const std::vector<float>& list) {
    return HostTensor::of(DType::kF32, std::move(extents), std::vector<double>(list.begin(), list.end()));
  };
  switch (value.kind) {
    case AttributeKind::kTensor:
    case AttributeKind::kSparseTensor: return TRY(host_tensor(TRY(tensor_data(cx.model(), value.tensors[0]))));
    case AttributeKind::kFloat: return floats({}, {value.f});
    case AttributeKind::kFloats: return floats({static_cast<int64_t>(value.floats.size())}, value.floats);
    case AttributeKind::kInt: return HostTensor::of_ints(DType::kI64, {}, Ints{value.i});
    case AttributeKind::kInts:
      return HostTensor::of_ints(DType::kI64, {static_cast<int64_t>(value.ints.size())}, value.ints);
    default:
      return error(Code::kUnsupported, "attribute '", value.name, "' is a ", value.kind, "; Kiln has no such values");
  }
}

}  // namespace

Status constant(ImportContext& cx) {
  std::string name = cx.wants(0) ? ir::take_name(cx.state().sources, cx.def().outputs[0]) : std::string();
  const ValueId value = cx.add_constant(source_constant(std::move(name), TRY(elements(cx))));
  const AttributeDef& from = cx.def().attributes[0];
  const bool is_carried = !from.tensors.empty() && carrier_of(from.tensors[0].type);
  return cx.output(0, value, is_carried ? from.tensors[0].type : ElementType::kUndefined);
}

}  // namespace kiln::onnx::importers
