/// An ONNX model as plain structs. Texts and bytes are views into the file; the Model keeps alive what they look at.
/// The domain "ai.onnx" is read as "", its other spelling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "onnx/element_type.h"
#include "onnx/external_files.h"

namespace kiln::onnx {

struct GraphDef;

struct StringEntry {
  std::string_view key, value;
};

struct OpsetImport {
  std::string_view domain;
  int64_t version = 0;
};

/// An extent: a number, a named unknown, or (neither) an unknown without a name.
struct Dim {
  std::optional<int64_t> value;  ///< never negative: files that say -1 mean unknown
  std::string_view param;
};

enum class TypeKind : uint8_t { kNone, kTensor, kSparseTensor, kSequence, kMap, kOptional };

struct TypeDef {
  TypeKind kind = TypeKind::kNone;
  ElementType element_type = ElementType::kUndefined;  ///< of tensors; a map's key type
  std::optional<std::vector<Dim>> shape;               ///< of tensors; absent: not even the rank is known
  std::shared_ptr<const TypeDef> element;              ///< of sequences and optionals; a map's value type
};

struct ValueInfo {
  std::string_view name;
  TypeDef type;
};

/// The place of a tensor's bytes outside the model file.
struct ExternalData {
  std::string_view location;
  int64_t offset = 0;
  std::optional<int64_t> length;  ///< absent: as many bytes as the tensor needs
};

/// A constant tensor. Its elements are decoded when asked for: `tensor_data` of onnx/tensor_data.h.
struct TensorDef {
  std::string_view name;
  ElementType type = ElementType::kUndefined;
  std::vector<int64_t> dims;  ///< as in the file: may be negative or overflow until `tensor_data` has checked them
  std::optional<std::span<const std::byte>> raw_data;
  std::optional<ExternalData> external;
  std::shared_ptr<const void> owner;   ///< of raw_data that the reader made, of a sparse tensor; else null
  bool is_segment = false;             ///< a part of a larger tensor, which nobody writes and Kiln does not read
  std::span<const std::byte> message;  ///< the whole TensorProto: typed arrays are decoded from here
};

enum class AttributeKind : uint8_t {  // ONNX's numbers
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kType = 13,
  kTypes = 14,
};
void append(std::string& out, AttributeKind kind);  ///< ONNX's own name, "SPARSE_TENSOR"

/// `kind` says which one member holds the value. Lone tensors, graphs and types are the first of their list, which the
/// reader guarantees to be there. A sparse tensor is kept as a dense one; of lists of them only the kind is kept.
struct AttributeDef {
  std::string_view name;
  std::string_view ref_name;  ///< not empty: stands for this attribute of the function around, see inline_functions.h
  AttributeKind kind = AttributeKind::kUndefined;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<TensorDef> tensors;
  std::vector<std::shared_ptr<const GraphDef>> graphs;
  std::vector<TypeDef> types;
};

struct NodeDef {
  std::string_view name, op_type, domain, overload;
  std::vector<std::string_view> inputs, outputs;  ///< an empty name is an optional value left out
  std::vector<AttributeDef> attributes;
  std::vector<StringEntry> metadata;
  /// The operator set version that holds for this node instead of the model's, if not 0; set on nodes out of functions.
  int64_t opset = 0;
  /// Names of the model's functions whose calls it comes out of, the outermost first; set by inline_functions.
  std::vector<std::string_view> functions = {};

  bool has_output(size_t index) const { return index < outputs.size() && !outputs[index].empty(); }
};
/// "node 'conv1' (Conv)", "node (com.acme.Gelu) that makes 'y'": how errors name a node.
void append(std::string& out, const NodeDef& node);

struct GraphDef {
  std::string_view name;
  std::vector<NodeDef> nodes;
  std::vector<TensorDef> initializers;  ///< sparse ones, too, made dense
  std::vector<ValueInfo> inputs, outputs, value_infos;
  std::vector<StringEntry> metadata;
};

struct FunctionDef {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<std::string_view> attributes;      ///< names that a call may give
  std::vector<AttributeDef> default_attributes;  ///< and those it may leave out
  std::vector<NodeDef> nodes;
  std::vector<OpsetImport> opset_imports;
};

struct Model {
  int64_t ir_version = 0;
  int64_t model_version = 0;
  std::string_view producer_name, producer_version, domain;
  std::vector<OpsetImport> opset_imports;
  GraphDef graph;
  std::vector<FunctionDef> functions;
  std::vector<StringEntry> metadata;
  bool has_training_info = false;

  std::shared_ptr<const void> owner;              ///< of the bytes that the views look at; null: the caller's
  std::shared_ptr<const ExternalFiles> external;  ///< every file that a tensor names
  std::deque<std::string> texts;                  ///< names that we made; a deque, since it never moves its strings

  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
  /// The version that the model imports of a domain; absent if it does not. com.microsoft needs no import: its version
  /// is 1.
  std::optional<int64_t> opset(std::string_view domain) const;
  /// The operator set version that decides what `node` means.
  Result<int64_t> opset_of(const NodeDef& node) const;
};

}  // namespace kiln::onnx
