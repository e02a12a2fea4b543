#include "onnx/reader.h"

#include <charconv>

#include "onnx/field_numbers.h"
#include "onnx/sparse.h"
#include "onnx/wire.h"

namespace kiln::onnx {
namespace {

using Message = std::span<const std::byte>;

std::string_view domain_of(std::string_view domain) { return domain == "ai.onnx" ? std::string_view{} : domain; }

ElementType element_type(int64_t number) {
  // A number beyond the enum's 32 bits is no type either way; keep it recognisably wrong.
  return number >= 0 && number <= INT32_MAX ? static_cast<ElementType>(number) : static_cast<ElementType>(-1);
}

class Reader {
 public:
  Reader(Message bytes, ExternalFiles& external) : external_(external) { trace_.base = bytes.data(); }

  Trace& trace() { return trace_; }
  void model(Message message, Model& out);
  void tensor(Message message, TensorDef& out);

 private:
  void graph(Message message, GraphDef& out);
  void node(Message message, NodeDef& out);
  void attribute(Message message, AttributeDef& out);
  void function(Message message, FunctionDef& out);
  void value_info(Message message, ValueInfo& out);
  void type(Message message, TypeDef& out);
  void tensor_type(Message message, TypeDef& out);
  std::shared_ptr<const TypeDef> nested_type(Message message, uint32_t tag);
  Dim dim(Message message);
  StringEntry entry(Message message);
  OpsetImport opset(Message message);
  void external(const std::vector<StringEntry>& entries, TensorDef& out);
  void sparse_tensor(Message message, TensorDef& out);

  /// Reads a repeated message: its label in errors carries its index and, once read, its name.
  template <class T>
  void add(std::vector<T>& list, std::string_view what, Message message, void (Reader::*read)(Message, T&)) {
    const auto index = static_cast<int64_t>(list.size());
    T& item = list.emplace_back();
    const Level level(trace_, what, index, item.name);
    (this->*read)(message, item);
  }

  ExternalFiles& external_;
  Trace trace_;
  size_t sparse_budget_ =
      size_t{1} << 30;  // bytes that sparse tensors may become: a file of few bytes could ask for all
  int graph_depth_ = 0;
  int type_depth_ = 0;
};

/// Counts a level of nesting while it lives.
class Depth {
 public:
  Depth(int& depth, std::string_view what) : depth_(depth) {
    if (depth_ >= kMaxNesting) malformed(Code::kUnsupported, what, " nest deeper than ", kMaxNesting, " levels");
    ++depth_;
  }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  ~Depth() { --depth_; }

 private:
  int& depth_;
};

void Reader::model(Message message, Model& out) {
  bool has_graph = false;
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::model::kIrVersion: out.ir_version = f.integer(); break;
      case field::model::kProducerName: out.producer_name = f.text(); break;
      case field::model::kProducerVersion: out.producer_version = f.text(); break;
      case field::model::kDomain: out.domain = f.text(); break;
      case field::model::kModelVersion: out.model_version = f.integer(); break;
      case field::model::kOpsetImport: out.opset_imports.push_back(opset(f.bytes())); break;
      case field::model::kMetadata: out.metadata.push_back(entry(f.bytes())); break;
      case field::model::kFunctions: add(out.functions, "function", f.bytes(), &Reader::function); break;
      case field::model::kTrainingInfo: out.has_training_info = true, f.skip(); break;
      case field::model::kGraph: {
        if (has_graph) malformed(Code::kCorrupt, "the model has two graphs");
        has_graph = true;
        const Level level(trace_, "graph", -1, out.graph.name);
        graph(f.bytes(), out.graph);
        break;
      }
      default: f.skip();
    }
  }
  if (!has_graph) malformed(Code::kCorrupt, "there is no graph; the file is truncated, or not an ONNX model");
}

void Reader::graph(Message message, GraphDef& out) {
  const Depth depth(graph_depth_, "graphs");
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::graph::kNode: add(out.nodes, "node", f.bytes(), &Reader::node); break;
      case field::graph::kName: out.name = f.text(); break;
      case field::graph::kInitializer: add(out.initializers, "initializer", f.bytes(), &Reader::tensor); break;
      case field::graph::kSparseInitializer:
        add(out.initializers, "sparse initializer", f.bytes(), &Reader::sparse_tensor);
        break;
      case field::graph::kInput: add(out.inputs, "input", f.bytes(), &Reader::value_info); break;
      case field::graph::kOutput: add(out.outputs, "output", f.bytes(), &Reader::value_info); break;
      case field::graph::kValueInfo: add(out.value_infos, "value info", f.bytes(), &Reader::value_info); break;
      case field::graph::kMetadata: out.metadata.push_back(entry(f.bytes())); break;
      default: f.skip();
    }
  }
}

void Reader::node(Message message, NodeDef& out) {
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::node::kInput: out.inputs.push_back(f.text()); break;
      case field::node::kOutput: out.outputs.push_back(f.text()); break;
      case field::node::kName: out.name = f.text(); break;
      case field::node::kOpType: out.op_type = f.text(); break;
      case field::node::kDomain: out.domain = domain_of(f.text()); break;
      case field::node::kOverload: out.overload = f.text(); break;
      case field::node::kAttribute: add(out.attributes, "attribute", f.bytes(), &Reader::attribute); break;
      case field::node::kMetadata: out.metadata.push_back(entry(f.bytes())); break;
      default: f.skip();
    }
  }
}

/// Makes `out.kind` agree with the values that were found, one bit a kind in `found`.
void settle_kind(AttributeDef& out, uint32_t found) {
  const auto holds = [&](AttributeKind kind) { return (found >> static_cast<uint32_t>(kind) & 1) != 0; };
  if (!out.ref_name.empty()) return;
  if (out.kind == AttributeKind::kUndefined) {  // files of IR version 1 do not say
    for (uint32_t kind = 1; kind <= static_cast<uint32_t>(AttributeKind::kTypes); ++kind) {
      if (!holds(static_cast<AttributeKind>(kind))) continue;
      if (out.kind != AttributeKind::kUndefined)
        malformed(Code::kCorrupt, "holds both ", out.kind, " and ", static_cast<AttributeKind>(kind),
                  " without a type");
      out.kind = static_cast<AttributeKind>(kind);
    }
    return;
  }
  if (holds(out.kind)) return;
  // An absent scalar may be a zero and an absent list empty, but not where something else is there instead.
  const bool needs_value = out.kind == AttributeKind::kTensor || out.kind == AttributeKind::kGraph ||
                           out.kind == AttributeKind::kType || out.kind == AttributeKind::kSparseTensor;
  if (needs_value || found) malformed(Code::kCorrupt, "its type is ", out.kind, ", but it holds no such value");
}

AttributeKind attribute_kind(int64_t number) {
  if (number < 0 || number > static_cast<int64_t>(AttributeKind::kTypes))
    malformed(Code::kUnsupported, "type ", number, " is none that ONNX defines");
  return static_cast<AttributeKind>(number);
}

void Reader::attribute(Message message, AttributeDef& out) {
  uint32_t found = 0;
  const auto mark = [&](AttributeKind kind) { found |= 1u << static_cast<uint32_t>(kind); };
  const auto add_graph = [&](Message body) {
    auto graph = std::make_shared<GraphDef>();
    const Level level(trace_, "graph", -1, graph->name);
    this->graph(body, *graph);
    out.graphs.push_back(std::move(graph));
  };
  const auto add_type = [&](Message body) { type(body, out.types.emplace_back()); };
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::attribute::kName: out.name = f.text(); break;
      case field::attribute::kRefName: out.ref_name = f.text(); break;
      case field::attribute::kType: out.kind = attribute_kind(f.integer()); break;
      case field::attribute::kF: mark(AttributeKind::kFloat), out.f = f.single(); break;
      case field::attribute::kI: mark(AttributeKind::kInt), out.i = f.integer(); break;
      case field::attribute::kS: mark(AttributeKind::kString), out.s = f.text(); break;
      case field::attribute::kFloats: mark(AttributeKind::kFloats), f.singles(out.floats); break;
      case field::attribute::kInts:
        mark(AttributeKind::kInts), f.integers([&](int64_t value) { out.ints.push_back(value); });
        break;
      case field::attribute::kStrings: mark(AttributeKind::kStrings), out.strings.push_back(f.text()); break;
      case field::attribute::kT:
        mark(AttributeKind::kTensor), add(out.tensors, "tensor", f.bytes(), &Reader::tensor);
        break;
      case field::attribute::kTensors:
        mark(AttributeKind::kTensors), add(out.tensors, "tensor", f.bytes(), &Reader::tensor);
        break;
      case field::attribute::kG: mark(AttributeKind::kGraph), add_graph(f.bytes()); break;
      case field::attribute::kGraphs: mark(AttributeKind::kGraphs), add_graph(f.bytes()); break;
      case field::attribute::kTypeProto: mark(AttributeKind::kType), add_type(f.bytes()); break;
      case field::attribute::kTypes: mark(AttributeKind::kTypes), add_type(f.bytes()); break;
      case field::attribute::kSparseTensor:
        mark(AttributeKind::kSparseTensor), add(out.tensors, "sparse tensor", f.bytes(), &Reader::sparse_tensor);
        break;
      case field::attribute::kSparseTensors: mark(AttributeKind::kSparseTensors), f.skip(); break;
      default: f.skip();
    }
  }
  settle_kind(out, found);
}

void Reader::tensor(Message message, TensorDef& out) {
  out.message = message;
  bool is_external = false;
  std::vector<StringEntry> external_entries;
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::tensor::kDims: f.integers([&](int64_t extent) { out.dims.push_back(extent); }); break;
      case field::tensor::kDataType: out.type = element_type(f.integer()); break;
      case field::tensor::kSegment: out.is_segment = true, f.skip(); break;
      case field::tensor::kName: out.name = f.text(); break;
      case field::tensor::kRawData: out.raw_data = f.bytes(); break;
      case field::tensor::kExternalData: external_entries.push_back(entry(f.bytes())); break;
      case field::tensor::kDataLocation: is_external = f.integer() == 1; break;
      default: f.skip();  // typed arrays: tensor_data decodes them when somebody asks
    }
  }
  if (is_external) external(external_entries, out);
}

int64_t file_position(const StringEntry& entry) {
  int64_t value = 0;
  const char* end = entry.value.data() + entry.value.size();
  const auto [stop, reason] = std::from_chars(entry.value.data(), end, value);
  if (reason != std::errc{} || stop != end || value < 0)
    malformed(Code::kCorrupt, "external data: ", entry.key, " is '", entry.value, "'; a number of bytes is needed");
  return value;
}

void Reader::external(const std::vector<StringEntry>& entries, TensorDef& out) {
  ExternalData data;
  for (const StringEntry& entry : entries) {
    if (entry.key == "location") data.location = entry.value;
    if (entry.key == "offset") data.offset = file_position(entry);
    if (entry.key == "length") data.length = file_position(entry);
  }
  external_.open(data.location);
  out.external = data;
}

void Reader::sparse_tensor(Message message, TensorDef& out) {
  TensorDef values, indices;
  std::vector<int64_t> dims;
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::sparse_tensor::kValues: tensor(f.bytes(), values), out.name = values.name; break;
      case field::sparse_tensor::kIndices: tensor(f.bytes(), indices); break;
      case field::sparse_tensor::kDims: f.integers([&](int64_t extent) { dims.push_back(extent); }); break;
      default: f.skip();
    }
  }
  auto dense = dense_tensor(values, indices, std::move(dims), sparse_budget_);
  if (!dense) malformed(dense.error().code, dense.error().message);
  out = *std::move(dense);
}

void Reader::function(Message message, FunctionDef& out) {
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::function::kName: out.name = f.text(); break;
      case field::function::kDomain: out.domain = domain_of(f.text()); break;
      case field::function::kOverload: out.overload = f.text(); break;
      case field::function::kInput: out.inputs.push_back(f.text()); break;
      case field::function::kOutput: out.outputs.push_back(f.text()); break;
      case field::function::kAttribute: out.attributes.push_back(f.text()); break;
      case field::function::kDefaultAttribute:
        add(out.default_attributes, "default attribute", f.bytes(), &Reader::attribute);
        break;
      case field::function::kNode: add(out.nodes, "node", f.bytes(), &Reader::node); break;
      case field::function::kOpsetImport: out.opset_imports.push_back(opset(f.bytes())); break;
      default: f.skip();
    }
  }
}

void Reader::value_info(Message message, ValueInfo& out) {
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::value_info::kName: out.name = f.text(); break;
      case field::value_info::kType: type(f.bytes(), out.type); break;
      default: f.skip();
    }
  }
}

void Reader::type(Message message, TypeDef& out) {
  const Depth depth(type_depth_, "types");
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::type::kTensor: out.kind = TypeKind::kTensor, tensor_type(f.bytes(), out); break;
      case field::type::kSparseTensor: out.kind = TypeKind::kSparseTensor, tensor_type(f.bytes(), out); break;
      case field::type::kSequence:
        out.kind = TypeKind::kSequence, out.element = nested_type(f.bytes(), field::container_type::kElement);
        break;
      case field::type::kOptional:
        out.kind = TypeKind::kOptional, out.element = nested_type(f.bytes(), field::container_type::kElement);
        break;
      case field::type::kMap: {
        out.kind = TypeKind::kMap;
        const Message map = f.bytes();
        out.element = nested_type(map, field::map_type::kValue);
        for (Fields key(map, trace_); key.next();) {
          if (key.tag() == field::map_type::kKey)
            out.element_type = element_type(key.integer());
          else
            key.skip();
        }
        break;
      }
      default: f.skip();
    }
  }
}

std::shared_ptr<const TypeDef> Reader::nested_type(Message message, uint32_t tag) {
  auto element = std::make_shared<TypeDef>();
  for (Fields f(message, trace_); f.next();) {
    if (f.tag() == tag)
      type(f.bytes(), *element);
    else
      f.skip();
  }
  return element;
}

void Reader::tensor_type(Message message, TypeDef& out) {
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::tensor_type::kElementType: out.element_type = element_type(f.integer()); break;
      case field::tensor_type::kShape: {
        std::vector<Dim>& dims = out.shape.emplace();
        for (Fields shape(f.bytes(), trace_); shape.next();) {
          if (shape.tag() == field::shape::kDim)
            dims.push_back(dim(shape.bytes()));
          else
            shape.skip();
        }
        break;
      }
      default: f.skip();
    }
  }
}

Dim Reader::dim(Message message) {
  Dim out;
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::dim::kValue:
        if (const int64_t value = f.integer(); value >= 0) out = {.value = value, .param = {}};
        break;
      case field::dim::kParam: out = {.value = std::nullopt, .param = f.text()}; break;
      default: f.skip();
    }
  }
  return out;
}

StringEntry Reader::entry(Message message) {
  StringEntry out;
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::entry::kKey: out.key = f.text(); break;
      case field::entry::kValue: out.value = f.text(); break;
      default: f.skip();
    }
  }
  return out;
}

OpsetImport Reader::opset(Message message) {
  OpsetImport out;
  for (Fields f(message, trace_); f.next();) {
    switch (f.tag()) {
      case field::opset::kDomain: out.domain = domain_of(f.text()); break;
      case field::opset::kVersion: out.version = f.integer(); break;
      default: f.skip();
    }
  }
  return out;
}

/// Runs `read` on a new model whose external files lie in the options' folder.
template <class Read>
Result<std::shared_ptr<const Model>> read_into_model(Message bytes, ReadOptions options, Read read) {
  auto external = std::make_shared<ExternalFiles>(std::move(options.folder));
  auto model = std::make_shared<Model>();
  Reader reader(bytes, *external);
  TRY(guarded(reader.trace(), [&] { read(reader, *model); }));
  model->external = std::move(external);
  model->owner = std::move(options.owner);
  return model;
}

}  // namespace

Result<std::shared_ptr<const Model>> read_model(Message bytes, ReadOptions options) {
  return in_context(
      read_into_model(bytes, std::move(options), [&](Reader& reader, Model& model) { reader.model(bytes, model); }),
      [] { return "ONNX model"; });
}

Result<std::shared_ptr<const Model>> read_tensor(Message bytes, ReadOptions options) {
  const auto read = [&](Reader& reader, Model& model) {
    reader.tensor(bytes, model.graph.initializers.emplace_back());
  };
  return in_context(read_into_model(bytes, std::move(options), read), [] { return "ONNX tensor"; });
}

Result<std::shared_ptr<const Model>> read_model_file(const std::string& path) {
  const auto file = TRY(MappedFile::open(path));
  TRY(require(!file->bytes().empty(), "'", path, "': the file is empty"));
  return in_context(read_model(file->bytes(), {.folder = folder_of(path), .owner = file}),
                    [&] { return str('\'', path, '\''); });
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace kiln::onnx
