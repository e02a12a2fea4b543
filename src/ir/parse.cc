#include "ir/parse.h"

#include <charconv>
#include <map>

#include "tensor/view.h"

namespace kiln::ir {
namespace {

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// The parts between `separator`s outside brackets; none of blank text.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (trim(text).empty()) return parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      depth += std::string_view("([{").find(text[i]) != std::string_view::npos;
      depth -= std::string_view(")]}").find(text[i]) != std::string_view::npos;
      if (depth > 0 || text[i] != separator) continue;
    }
    parts.push_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

/// "head[inside]" for brackets that close at the end.
struct Bracketed {
  std::string_view head, inside;
};
Result<Bracketed> bracketed(std::string_view text, char open, char close) {
  text = trim(text);
  const size_t at = text.find(open);
  if (at == std::string_view::npos || text.back() != close)
    return error(Code::kInvalidArgument, "'", text, "' lacks ", open, "...", close);
  return Bracketed{trim(text.substr(0, at)), text.substr(at + 1, text.size() - at - 2)};
}

Result<DType> parse_dtype(std::string_view text) {
  if (const auto dtype = dtype_named(trim(text))) return *dtype;
  return error(Code::kInvalidArgument, "no element type is called '", text, "'");
}

Result<std::vector<sym::Expr>> parse_exprs(std::string_view inside, sym::Table& table) {
  std::vector<sym::Expr> exprs;
  for (const std::string_view part : split(inside, ',')) exprs.push_back(TRY(sym::parse(part, table)));
  return exprs;
}

template <class T>
Result<T> parse_number(std::string_view text) {
  T number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size())
    return error(Code::kInvalidArgument, "'", text, "' is not a number");
  return number;
}
template <class T>
Result<std::vector<T>> parse_numbers(std::string_view inside) {
  std::vector<T> numbers;
  for (const std::string_view part : split(inside, ',')) numbers.push_back(TRY(parse_number<T>(part)));
  return numbers;
}

/// "f32[2](1, 2)" as fields_record has it.
Result<Datum> parse_tensor(std::string_view text) {
  const Bracketed whole = TRY(bracketed(text, '(', ')')), type = TRY(bracketed(whole.head, '[', ']'));
  const DType dtype = TRY(parse_dtype(type.head));
  const Extents extents = TRY(parse_numbers<int64_t>(type.inside));
  const HostTensor tensor = is_float(dtype)
                                ? HostTensor::of(dtype, extents, TRY(parse_numbers<double>(whole.inside)))
                                : HostTensor::of_ints(dtype, extents, TRY(parse_numbers<int64_t>(whole.inside)));
  return field_type(Tag<HostTensor>{}).to_datum(&tensor);
}

Result<Datum> parse_datum(const Field& field, std::string_view text) {
  if (holds<bool>(field)) {
    TRY(require(text == "true" || text == "false", "'", text, "' is neither true nor false"));
    return Datum(text == "true");
  }
  if (holds<int>(field) || holds<int64_t>(field)) return Datum(TRY(parse_number<int64_t>(text)));
  if (holds<double>(field)) return Datum(TRY(parse_number<double>(text)));
  if (holds<std::vector<int64_t>>(field))
    return Datum(TRY(parse_numbers<int64_t>(TRY(bracketed(text, '[', ']')).inside)));
  if (holds<std::vector<double>>(field))
    return Datum(TRY(parse_numbers<double>(TRY(bracketed(text, '[', ']')).inside)));
  if (holds<HostTensor>(field)) return parse_tensor(text);
  return Datum(text);
}

Status set_attribute(const OpInfo& info, void* op, std::string_view text, sym::Table& table) {
  const size_t equals = text.find('=');
  TRY(require(equals != std::string_view::npos, "attribute '", text, "' has no value"));
  const std::string_view name = trim(text.substr(0, equals)), value = trim(text.substr(equals + 1));
  for (const Field& field : info.fields) {
    if (field.name != name) continue;
    if (holds<std::vector<sym::Expr>>(field)) {  // records do not hold expressions
      auto* exprs = static_cast<std::vector<sym::Expr>*>(field.in(op));
      *exprs = TRY(parse_exprs(TRY(bracketed(value, '[', ']')).inside, table));
      return {};
    }
    Record record;
    record.set(name, TRY(parse_datum(field, value)));
    return set_fields(info.fields, op, record);
  }
  return error(Code::kInvalidArgument, info.name, " has no attribute '", name, "'");
}

/// Reads statement after statement into a graph.
class Parser {
 public:
  Status statement(std::string_view text) {
    if (text.starts_with("return")) return outputs(text.substr(6));
    // "x: f32[2]", whose name may have a colon, comes before "y = Op(x)", whose attributes have equals signs.
    const size_t equals = text.find(" = "), colon = text.find(": ");
    if (colon < equals) return input(text.substr(0, colon), text.substr(colon + 2));
    TRY(require(equals != std::string_view::npos, "'", text, "' is not a statement"));
    return node(text.substr(0, equals), text.substr(equals + 3));
  }
  Graph graph;

 private:
  Status input(std::string_view name, std::string_view type_text) {
    const Bracketed type = TRY(bracketed(type_text, '[', ']'));
    define(trim(name), graph.add_input(str(trim(name)), TensorType(TRY(parse_dtype(type.head)),
                                                                   TRY(parse_exprs(type.inside, graph.table())))));
    return {};
  }
  Status node(std::string_view names, std::string_view call_text) {
    call_text = trim(call_text);
    TRY(require(call_text.ends_with(')'), "'", call_text, "' does not end with inputs in parentheses"));
    int depth = 0;
    size_t open = call_text.size();
    do {
      --open;
      depth += (call_text[open] == ')') - (call_text[open] == '(');
    } while (depth > 0 && open > 0);
    std::vector<ValueId> inputs;
    for (const std::string_view name : split(call_text.substr(open + 1, call_text.size() - open - 2), ','))
      inputs.push_back(TRY(find(name)));
    const Op op = TRY(parse_op(call_text.substr(0, open), graph.table()));
    const std::vector<ValueId> made = TRY(graph.add(op, inputs));
    const std::vector<std::string_view> parts = split(names, ',');
    TRY(require(parts.size() == made.size(), op.name(), " has ", made.size(), " outputs"));
    for (size_t i = 0; i < made.size(); ++i) define(parts[i], made[i]);
    return {};
  }
  Status outputs(std::string_view list) {
    for (const std::string_view part : split(list, ',')) {
      const size_t as = part.find(" as ");
      const std::string_view name = trim(part.substr(0, as));
      graph.mark_output(TRY(find(name)), str(as == std::string_view::npos ? name : trim(part.substr(as + 4))));
    }
    return {};
  }
  void define(std::string_view name, ValueId id) {
    values_[str(name)] = id;
    if (!name.starts_with('%')) graph.set_name(id, str(name));  // those are print's, for values without a name
  }
  Result<ValueId> find(std::string_view name) const {
    if (name == "_") return ValueId::kNone;
    const auto found = values_.find(str(name));
    if (found == values_.end()) return error(Code::kInvalidArgument, "no value is called '", name, "' so far");
    return found->second;
  }

  std::map<std::string, ValueId> values_;
};

}  // namespace

Result<Op> parse_op(std::string_view text, sym::Table& table) {
  text = trim(text);
  const std::string_view name = trim(text.substr(0, text.find('{')));
  const OpInfo* info = find_op(name);
  if (!info) return error(Code::kInvalidArgument, "no op is called '", name, "'");
  std::shared_ptr<void> op = info->make_default();
  if (name.size() < text.size())
    for (const std::string_view part : split(TRY(bracketed(text, '{', '}')).inside, ','))
      TRY(in_context(set_attribute(*info, op.get(), part, table), [&] { return str(name); }));
  return Op(*info, std::move(op));
}

Result<Graph> parse(std::string_view text) {
  Parser parser;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find("  #"));
    for (const std::string_view statement : split(line, ';'))
      if (!statement.empty() && statement[0] != '#')
        TRY(in_context(parser.statement(statement), [&] { return str("'", statement, "'"); }));
  }
  return std::move(parser.graph);
}

}  // namespace kiln::ir
