#include "arguments.h"

#include <algorithm>
#include <charconv>

#include "onnx/importer.h"
#include "onnx/reader.h"

namespace kiln {

std::string Arguments::get(const std::string& name, const std::string& otherwise) const {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : found->second;
}

Result<int> Arguments::number(const std::string& name, int otherwise, int least) const {
  const auto found = options.find(name);
  if (found == options.end()) return otherwise;
  const std::string& text = found->second;
  int value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || value < least)
    return error(Code::kInvalidArgument, "--", name, " is '", text, "'; a whole number from ", least, " on is needed");
  return value;
}

Result<Arguments> parse_arguments(int argc, char** argv, const std::vector<std::string>& known) {
  Arguments result;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      result.words.push_back(word);
      continue;
    }
    const size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (std::ranges::find(known, name) == known.end())
      return error(Code::kInvalidArgument, "no option is called '--", name, "'; kiln help lists them");
    result.options[name] = equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  return result;
}

Result<ir::Graph> import_file(const std::string& path) {
  const auto model = TRY(onnx::read_model_file(path));
  ir::Graph graph;
  onnx::ImportReport report;
  if (onnx::import_model(model, graph, {}, report)) return graph;
  std::string all;
  for (const onnx::Problem& problem : report.errors) all += (all.empty() ? "" : "\n  ") + problem.message;
  return error(Code::kUnsupported, path, ": ", all);
}

namespace {
Result<Extents> parse_extents(std::string_view text) {
  Extents result;
  while (!text.empty()) {
    int64_t value = 0;
    const auto [next, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{})
      return error(Code::kInvalidArgument, "'", text, "' is not a list of extents like 1x3x224x224");
    result.push_back(value);
    text.remove_prefix(static_cast<size_t>(next - text.data()));
    if (text.starts_with('x')) text.remove_prefix(1);
  }
  return result;
}
}  // namespace

Result<std::map<std::string, Extents>> parse_shapes(std::string_view shapes) {
  std::map<std::string, Extents> result;
  while (!shapes.empty()) {
    const std::string_view one = shapes.substr(0, shapes.find(','));
    shapes.remove_prefix(std::min(one.size() + 1, shapes.size()));
    const size_t colon = one.rfind(':');
    TRY(require(colon != std::string_view::npos, "'", one, "' is not name:extents"));
    result[std::string(one.substr(0, colon))] = TRY(parse_extents(one.substr(colon + 1)));
  }
  return result;
}

Result<ProfileRequest> profile_of(const ir::Graph& graph, const Arguments& arguments) {
  const auto opt = TRY(parse_shapes(arguments.get("shapes"))), min = TRY(parse_shapes(arguments.get("min"))),
             max = TRY(parse_shapes(arguments.get("max")));
  ProfileRequest profile;
  for (const auto& [name, extents] : opt) profile.extents[name] = {extents, extents, extents};
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& input = graph.value(id);
    if (profile.extents.contains(input.name) || input.type.is_static()) continue;
    Extents extents;
    for (const sym::Expr& extent : input.type.shape) extents.push_back(extent.constant().value_or(1));
    profile.extents[input.name] = {extents, extents, extents};
  }
  for (const auto& [name, extents] : min) profile.extents[name].min = extents;
  for (const auto& [name, extents] : max) profile.extents[name].max = extents;
  return profile;
}

}  // namespace kiln
