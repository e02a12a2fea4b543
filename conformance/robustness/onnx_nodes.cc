#include "onnx_nodes.h"

#include <cstdlib>
#include <stdexcept>

#include "onnx/test_model.h"

namespace robustness {
namespace {

namespace field = kiln::onnx::field;
using kiln::onnx::test::Proto;

constexpr int64_t kFloat = 1, kInt64 = 7, kBool = 9, kHalf = 10, kUint8 = 2;

/// Reads a line from its front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) { skip(); }
  bool at_end() const { return rest_.empty(); }
  char peek() const { return rest_.empty() ? '\0' : rest_[0]; }
  bool take(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    skip();
    return true;
  }
  char next() {
    const char c = peek();
    if (!take(c) || c == '\0') throw std::invalid_argument("the line ends too early");
    return c;
  }
  void need(char c) {
    if (!take(c)) throw std::invalid_argument(std::string("no '") + c + "' before " + std::string(rest_));
  }
  std::string word() {
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_')) ++n;
    return cut(n);
  }
  std::string until(char c) {
    std::string text = cut(rest_.find(c));
    need(c);
    return text;
  }
  /// A float, or an integer, of which no digit is lost.
  template <class T>
  T number() {
    const std::string text(rest_);
    char* end = nullptr;
    T value;
    if constexpr (std::is_integral_v<T>)
      value = std::strtoll(text.c_str(), &end, 10);
    else
      value = std::strtof(text.c_str(), &end);
    if (end == text.c_str()) throw std::invalid_argument("no number before " + text);
    cut(static_cast<size_t>(end - text.c_str()));
    return value;
  }

 private:
  void skip() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  std::string cut(size_t n) {
    std::string text(rest_.substr(0, n));
    rest_.remove_prefix(text.size());
    skip();
    return text;
  }
  std::string_view rest_;
};

template <class T>
std::vector<T> numbers_until(Scanner& in, char end) {
  std::vector<T> result;
  while (!in.take(end)) {
    result.push_back(in.number<T>());
    in.take(',');
  }
  return result;
}

NodeInput parse_input(Scanner& in) {
  NodeInput input;
  input.kind = in.next();
  if (input.kind == '_') return input;
  input.is_scalar = in.take(':');
  if (input.is_scalar) {
    if (input.kind == 'F')
      input.floats = {in.number<float>()};
    else
      input.numbers = {in.number<int64_t>()};
  } else if (input.kind == 'F') {
    in.need('{');
    input.floats = numbers_until<float>(in, '}');
  } else if (input.kind == 'I') {
    in.need('{');
    input.numbers = numbers_until<int64_t>(in, '}');
  } else {
    in.need('[');
    input.numbers = numbers_until<int64_t>(in, ']');
  }
  return input;
}

NodeAttribute parse_attribute(Scanner& in) {
  using Kind = NodeAttribute::Kind;
  NodeAttribute attribute;
  attribute.name = in.word();
  in.need('=');
  if (in.take('[')) {
    attribute.kind = Kind::kInts;
    attribute.numbers = numbers_until<int64_t>(in, ']');
  } else if (in.take('~')) {
    attribute.kind = Kind::kFloat;
    attribute.number = in.number<float>();
  } else if (in.take('\'')) {
    attribute.kind = Kind::kText;
    attribute.text = in.until('\'');
  } else {
    attribute.numbers = {in.number<int64_t>()};
  }
  return attribute;
}

std::string list(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) {
    if (!text.empty()) text += ',';
    text += std::to_string(number);
  }
  return text;
}

Proto tensor(const std::string& name, int64_t type, const std::vector<int64_t>& dims, std::string_view bytes) {
  Proto out;
  for (const int64_t dim : dims) out.integer(field::tensor::kDims, dim);
  return out.integer(field::tensor::kDataType, type)
      .text(field::tensor::kName, name)
      .text(field::tensor::kRawData, bytes);
}
template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
Proto value_info(const std::string& name, int64_t type, const std::vector<int64_t>* dims) {
  Proto tensor_type = Proto().integer(field::tensor_type::kElementType, type);
  Proto shape;
  for (size_t i = 0; dims && i < dims->size(); ++i)
    shape.message(field::shape::kDim, (*dims)[i] == -1 ? Proto() : Proto().integer(field::dim::kValue, (*dims)[i]));
  if (dims) tensor_type.message(field::tensor_type::kShape, shape);
  return Proto()
      .text(field::value_info::kName, name)
      .message(field::value_info::kType, Proto().message(field::type::kTensor, tensor_type));
}
Proto attribute_of(const NodeAttribute& a) {
  using Kind = NodeAttribute::Kind;
  namespace at = kiln::onnx::test;
  switch (a.kind) {
    case Kind::kInt: return at::int_attribute(a.name, a.numbers[0]);
    case Kind::kFloat: return at::attribute(a.name, 1).fixed(field::attribute::kF, a.number);
    case Kind::kText: return at::attribute(a.name, 3).text(field::attribute::kS, a.text);
    case Kind::kInts: break;
  }
  Proto out = at::attribute(a.name, 7);
  for (const int64_t number : a.numbers) out.integer(field::attribute::kInts, number);
  return out;
}

/// Collects a graph's parts.
class Writer {
 public:
  explicit Writer(Inputs inputs) : inputs_(inputs) {}

  std::string add(const NodeInput& input, size_t index) {
    const std::string name = "in" + std::to_string(index);
    const std::vector<int64_t> dims =
        input.is_scalar
            ? std::vector<int64_t>()
            : std::vector{static_cast<int64_t>(input.kind == 'F' ? input.floats.size() : input.numbers.size())};
    switch (input.kind) {
      case '_': return "";
      case 'I': initializer(tensor(name, kInt64, dims, bytes_of(input.numbers))); break;
      case 'F': initializer(tensor(name, kFloat, dims, bytes_of(input.floats))); break;
      case 'W': add_weights(name, input.numbers); break;
      case 'i': add_input(name, kInt64, input.numbers); break;
      case 'b': add_input(name, kBool, input.numbers); break;
      case 'h': add_input(name, kHalf, input.numbers); break;
      case 'u': add_input(name, kUint8, input.numbers); break;
      default: add_input(name, kFloat, input.numbers);
    }
    return name;
  }
  void add_node(const Proto& node) { graph_.message(field::graph::kNode, node); }
  void add_output(const std::string& name) { graph_.message(field::graph::kOutput, value_info(name, kFloat, nullptr)); }
  const Proto& graph() { return graph_.text(field::graph::kName, "main"); }

 private:
  void initializer(const Proto& value) { graph_.message(field::graph::kInitializer, value); }
  void add_weights(const std::string& name, const std::vector<int64_t>& dims) {
    size_t count = 1;
    for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
    initializer(tensor(name, kFloat, dims, bytes_of(std::vector<float>(count, 1))));
  }
  void add_input(const std::string& name, int64_t type, const std::vector<int64_t>& dims) {
    if (inputs_ == Inputs::kOfNetwork) return void(graph_.message(field::graph::kInput, value_info(name, type, &dims)));
    const std::string shape = name + "_shape";
    const std::vector<int64_t> rank{static_cast<int64_t>(dims.size())};
    if (inputs_ == Inputs::kOfConstants)
      initializer(tensor(shape, kInt64, rank, bytes_of(dims)));
    else
      graph_.message(field::graph::kInput, value_info(shape, kInt64, &rank));
    const std::string zero(type == kInt64 ? 8 : type == kFloat ? 4 : type == kHalf ? 2 : 1, '\0');
    const Proto value =
        kiln::onnx::test::attribute("value", 4).message(field::attribute::kT, tensor("", type, {1}, zero));
    add_node(kiln::onnx::test::node("ConstantOfShape", {shape}, {name}, name, {value}));
  }

  Inputs inputs_;
  Proto graph_;
};

}  // namespace

NodeText parse_node(std::string_view line) {
  Scanner in(line);
  NodeText node;
  node.op = in.word();
  if (in.take(':')) {
    node.domain = node.op == "ml" ? "ai.onnx.ml" : "com." + node.op;
    node.op = in.word();
  }
  if (in.take('@')) node.version = in.number<int64_t>();
  if (in.take('x')) node.num_outputs = static_cast<int>(in.number<int64_t>());
  in.need('|');
  while (in.peek() != '|' && !in.at_end()) {
    node.inputs.push_back(parse_input(in));
    in.take(',');
  }
  if (in.take('|'))
    while (!in.at_end()) {
      node.attributes.push_back(parse_attribute(in));
      in.take(',');
    }
  return node;
}

std::string describe(const NodeText& node) {
  std::string text = node.domain + (node.domain.empty() ? "" : ".") + node.op;
  text += " |";
  for (const NodeInput& input : node.inputs) {
    text += ' ';
    text += input.kind;
    if (input.kind == '_' || input.kind == 'F') continue;
    text.append("[").append(list(input.numbers)).append("]");
  }
  text += " |";
  for (const NodeAttribute& a : node.attributes)
    text.append(" ").append(a.name).append("=").append(a.text).append(list(a.numbers));
  return text;
}

std::string onnx_model(const NodeText& node, Inputs inputs) {
  Writer writer(inputs);
  Proto message;
  for (size_t i = 0; i < node.inputs.size(); ++i) message.text(field::node::kInput, writer.add(node.inputs[i], i));
  for (int i = 0; i < node.num_outputs; ++i) message.text(field::node::kOutput, "out" + std::to_string(i));
  message.text(field::node::kName, "n").text(field::node::kOpType, node.op);
  if (!node.domain.empty()) message.text(field::node::kDomain, node.domain);
  for (const NodeAttribute& a : node.attributes) message.message(field::node::kAttribute, attribute_of(a));
  writer.add_node(message);
  for (int i = 0; i < node.num_outputs; ++i) writer.add_output("out" + std::to_string(i));
  if (node.domain.empty()) return kiln::onnx::test::model(writer.graph(), {}, node.version).bytes;
  const int64_t version = node.domain == "ai.onnx.ml" ? 5 : 1;
  return kiln::onnx::test::model(writer.graph(), {}, node.version)
      .message(field::model::kOpsetImport, kiln::onnx::test::opset(node.domain, version))
      .bytes;
}

}  // namespace robustness
