#include "onnx/import/plugin.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "onnx/dtypes.h"
#include "onnx/import/bodies.h"
#include "onnx/import/carried_nodes.h"
#include "onnx/import/compose.h"
#include "onnx/import/ignored_attributes.h"
#include "onnx/tensor_data.h"

namespace kiln::onnx {
namespace {

constexpr std::string_view kVersion = "plugin_version", kNamespace = "plugin_namespace",
                           kShapeInputs = "tensorrt_plugin_shape_input_indices";
/// Attributes of nodes that plugins compute, which no creator sees.
constexpr std::string_view kOfNodes[] = {kVersion, kNamespace, kShapeInputs};
/// The form of a quick plugin. Creators that make others ignore it.
constexpr std::string_view kForm = "aot";

template <class T>
PluginField field_of(std::string_view name, PluginFieldType type, const T* values, size_t count) {
  PluginField field{.name = std::string(name), .type = type, .count = static_cast<int64_t>(count), .data = {}};
  field.data.resize(count * sizeof(T));
  if (count > 0) std::memcpy(field.data.data(), values, field.data.size());
  return field;
}

bool fits_int32(int64_t value) {
  return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
}

/// TensorRT's parser hands integers to plugins in 32 bits, whatever the creator describes. Only those that do not fit
/// are handed in 64, to a creator that describes its field so.
Result<PluginField> integers(const PluginFieldDescription& described, std::span<const int64_t> values) {
  const auto wide = std::ranges::find_if_not(values, fits_int32);
  if (wide != values.end() && described.type == PluginFieldType::kI64)
    return field_of(described.name, PluginFieldType::kI64, values.data(), values.size());
  TRY(require(wide == values.end(), "attribute '", described.name, "' has ", *wide,
              "; plugins get attributes in 32 bits, unless the creator describes the field as kINT64"));
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return field_of(described.name, PluginFieldType::kI32, narrow.data(), narrow.size());
}

Result<PluginFieldType> field_type_of(DType dtype) {
  switch (dtype) {
    case DType::kF16: return PluginFieldType::kF16;
    case DType::kBF16: return PluginFieldType::kBF16;
    case DType::kF32: return PluginFieldType::kF32;
    case DType::kF64: return PluginFieldType::kF64;
    case DType::kI8: return PluginFieldType::kI8;
    case DType::kI32: return PluginFieldType::kI32;
    case DType::kI64: return PluginFieldType::kI64;
    default: return error(Code::kUnsupported, "is a tensor of ", dtype, ", which is no type of a plugin's field");
  }
}

/// A string or a list of them is one field of letters, with a zero behind each string, which counts.
PluginField field_of(std::string_view name, std::span<const std::string_view> strings) {
  std::string letters;
  for (const std::string_view one : strings) letters.append(one).push_back('\0');
  return field_of(name, PluginFieldType::kChar, letters.data(), letters.size());
}

Result<PluginField> field_of(ImportContext& cx, const AttributeDef& attribute,
                             const PluginFieldDescription& described) {
  const std::string_view name = attribute.name;
  switch (attribute.kind) {
    case AttributeKind::kFloat: return field_of(name, PluginFieldType::kF32, &attribute.f, 1);
    case AttributeKind::kFloats:
      return field_of(name, PluginFieldType::kF32, attribute.floats.data(), attribute.floats.size());
    case AttributeKind::kInt: return integers(described, {&attribute.i, 1});
    case AttributeKind::kInts: return integers(described, attribute.ints);
    case AttributeKind::kString: return field_of(name, {&attribute.s, 1});
    case AttributeKind::kStrings: return field_of(name, attribute.strings);
    case AttributeKind::kTensor: {
      if (attribute.tensors[0].type == ElementType::kString)
        return field_of(name, TRY(tensor_strings(attribute.tensors[0])));
      const HostTensor value = TRY(host_tensor(TRY(tensor_data(cx.model(), attribute.tensors[0]))));
      const PluginFieldType type =
          TRY(in_context(field_type_of(value.dtype()), [&] { return str("attribute '", name, "'"); }));
      PluginField field = field_of(name, type, value.bytes().data(), value.bytes().size());
      field.count = value.volume();
      return field;
    }
    default:
      return error(Code::kUnsupported, "attribute '", name, "' is of kind ", attribute.kind,
                   ", which plugins have no fields of");
  }
}

Result<PluginIdentity> plugin_of(const NodeDef& node) {
  NodeReader reader(node);
  const std::string version(TRY(reader.get_string(kVersion, "1"))), space(TRY(reader.get_string(kNamespace, "")));
  return PluginIdentity{std::string(node.op_type), version, space};
}

/// Makes fields of the attributes that the creator names. Others are ignored, with a warning; but where an importer
/// would read one, its loss would be a wrong result, so that this fails unless it has its default.
Result<std::vector<PluginField>> fields_of(ImportContext& cx, const PluginIdentity& identity,
                                           const std::vector<PluginFieldDescription>& taken, ImporterOfNode importer) {
  std::vector<PluginField> fields;
  std::vector<std::string> ignored;
  for (const AttributeDef& attribute : cx.def().attributes) {
    if (std::ranges::find(kOfNodes, attribute.name) != std::end(kOfNodes)) continue;
    const auto described = std::ranges::find(taken, attribute.name, &PluginFieldDescription::name);
    if (described != taken.end()) {
      TRY(require(std::ranges::find(fields, attribute.name, &PluginField::name) == fields.end(), "attribute '",
                  attribute.name, "' is given twice"));
      fields.push_back(TRY(field_of(cx, attribute, *described)));
      continue;
    }
    const bool has_importer = importer == ImporterOfNode::kThere;
    const AttributeMeaning meaning = has_importer ? meaning_of(cx.def(), attribute) : AttributeMeaning::kNone;
    if (attribute.name == kForm || meaning == AttributeMeaning::kDefault) continue;
    TRY(require(meaning == AttributeMeaning::kNone, "the creator of ", identity, " does not take attribute '",
                attribute.name, "' (getFieldNames)"));
    std::string words = str(cx.def(), ": attribute '", attribute.name, "' is ignored, since the creator of ", identity,
                            " does not take it; it takes");
    for (const PluginFieldDescription& one : taken) words += str(' ', one.name);
    ignored.push_back(words + (taken.empty() ? " none" : ""));
  }
  cx.bodies().warn(ignored);
  return fields;
}

/// Without those behind the last one that is there: ONNX says that they may be named "", or be absent.
size_t num_inputs_of(const ImportContext& cx) {
  size_t count = cx.num_inputs();
  while (count > 0 && !cx.has_input(count - 1)) --count;
  return count;
}

/// Makes the plugin of a node, without its number of tensors.
Result<ops::Plugin> make_plugin(ImportContext& cx, const PluginIdentity& identity, PluginSource& source,
                                ImporterOfNode importer) {
  TRY(refuse_carried(cx));
  const std::vector<PluginFieldDescription> taken = TRY(source.attributes_of(identity));
  const std::vector<PluginField> fields = TRY(fields_of(cx, identity, taken, importer));
  for (size_t i = 0; i < num_inputs_of(cx); ++i) TRY(cx.input(i));
  ops::Plugin op = TRY(source.make({identity, cx.def().name, fields}));
  TRY(require(static_cast<size_t>(op.num_outputs()) >= cx.num_outputs(), identity, " has ", op.num_outputs(),
              " outputs; the node has ", cx.num_outputs()));
  return op;
}

/// The inputs that the node's attribute names as shape inputs, one flag each. A number below 0 counts from the back of
/// those that are there. A plugin of version 2 has none: its inputs are all tensors, and a warning says so.
Result<std::vector<bool>> shape_inputs_of(ImportContext& cx, const ops::Plugin& plugin) {
  std::vector<bool> result(num_inputs_of(cx));
  const auto count = static_cast<int64_t>(result.size());
  const std::vector<int64_t> indices = TRY(cx.node().get_ints(kShapeInputs, {}));
  if (!indices.empty() && !plugin.object->may_have_shape_inputs()) {
    const std::string warning = str(cx.def(), ": attribute '", kShapeInputs, "' is ignored, since ", plugin.plugin,
                                    " is of version 2, which has no shape inputs");
    cx.bodies().warn({&warning, 1});
    return result;
  }
  for (const int64_t index : indices) {
    TRY(require(index >= -count && index < count, "attribute '", kShapeInputs, "' has ", index, "; the node has ",
                count, " inputs"));
    result[static_cast<size_t>(index < 0 ? index + count : index)] = true;
  }
  return result;
}

}  // namespace

Result<std::optional<PluginIdentity>> known_plugin(const NodeDef& node, PluginSource* source) {
  if (!source) return std::nullopt;
  PluginIdentity identity = TRY(plugin_of(node));
  if (!source->knows(identity)) return std::nullopt;
  return identity;
}

Status no_importer(const NodeDef& node, PluginSource* source) {
  if (node.domain == "com.microsoft.nchwc")
    return error(Code::kUnsupported, "operator ", node.op_type, " of domain '", node.domain,
                 "' is for kernels of one kind of CPU; save the model by ONNX Runtime's ORT_ENABLE_EXTENDED, not "
                 "ORT_ENABLE_ALL");
  if (node.domain == "com.microsoft" && (node.op_type == "QLinearConv" || node.op_type.starts_with("Nhwc")))
    return error(Code::kUnsupported, "operator ", node.op_type, " of domain '", node.domain,
                 "' is for images with their channels last, which ONNX Runtime chooses for the machine that saves a "
                 "model; save it by ORT_ENABLE_EXTENDED, not ORT_ENABLE_ALL");
  if (node.domain == "ai.onnx.ml" && node.op_type == "ZipMap")
    return error(Code::kUnsupported,
                 "operator ZipMap of domain 'ai.onnx.ml' makes maps of scores by labels, which no "
                 "network can hold or give; convert the model with options={'zipmap': False}, so that it gives the "
                 "scores as a tensor");
  const std::string plugin = source ? str(", and no creator of ", TRY(plugin_of(node)), " is registered") : "";
  if (node.domain == "com.microsoft")
    return error(
        Code::kUnsupported, "operator ", node.op_type, " of domain '", node.domain,
        "' is one of ONNX Runtime's own; the model as it was exported, before ONNX Runtime's tools rewrote it, "
        "has ONNX's operators",
        plugin);
  return error(Code::kUnsupported, "Kiln has no importer for operator ", node.op_type, " of domain '",
               node.domain.empty() ? "ai.onnx" : node.domain, "'", plugin);
}

Result<bool> import_plugin(ImportContext& cx, const PluginIdentity& identity, PluginSource& source,
                           ImporterOfNode importer) {
  Values all = cx.inputs();
  all.resize(num_inputs_of(cx));
  auto made = make_plugin(cx, identity, source, importer);
  if (!made && importer == ImporterOfNode::kNone) return std::unexpected(made.error());
  if (!made) {
    const std::string warning =
        str(cx.def(), ": Kiln's importer is used, and the plugin is not: ", made.error().message);
    cx.bodies().warn({&warning, 1});
    return false;
  }
  const std::vector<bool> is_shape = TRY(shape_inputs_of(cx, *made));
  Values inputs, shape_inputs;
  std::vector<DType> types;
  for (size_t i = 0; i < all.size(); ++i) {
    if (is_shape[i]) {
      shape_inputs.push_back(all[i]);
      continue;
    }
    const bool is_cast = cx.dtype(all[i]) == DType::kI64 && source.needs_int32(*made, types);
    inputs.push_back(is_cast ? TRY(cast(cx, all[i], DType::kI32)) : all[i]);
    types.push_back(cx.dtype(inputs.back()));
  }
  made->num_tensors = static_cast<int>(inputs.size());
  inputs.insert(inputs.end(), shape_inputs.begin(), shape_inputs.end());
  const Values outputs = TRY(cx.add_all(*std::move(made), inputs));
  for (size_t i = 0; i < cx.num_outputs(); ++i)
    if (cx.wants(i)) TRY(cx.output(i, outputs[i]));
  return true;
}

}  // namespace kiln::onnx
