#include "network.h"

#include <cstdio>

#include "onnx/importer.h"
#include "onnx/reader.h"
#include "ops/constant.h"
#include "plan/layout.h"

namespace kiln {

Result<ir::Graph> import_file(const std::string& path) {
  const auto model = TRY(onnx::read_model_file(path));
  ir::Graph graph;
  onnx::ImportReport report;
  if (onnx::import_model(model, graph, {}, report)) return graph;
  std::string all;
  for (const onnx::Problem& problem : report.errors) all += (all.empty() ? "" : "\n  ") + problem.message;
  return error(Code::kUnsupported, path, ": ", all);
}

bool is_plan(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof(plan::kMagic) && plan::load<uint32_t>(bytes.data()) == plan::kMagic;
}

int count_nodes(const ir::Graph& graph) {
  int count = 0;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    count += graph.alive(id) && !graph.node(id).op.as<ops::Constant>();
  }
  return count;
}

std::vector<std::string> input_names(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::ValueId id : graph.inputs()) names.push_back(graph.value(id).name);
  return names;
}

cli::RequestedShapes read_shapes(const cli::Arguments& arguments) {
  std::vector<std::string> warnings;
  cli::RequestedShapes shapes = cli::read_shapes(arguments, warnings);
  for (const std::string& warning : warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  return shapes;
}

ProfileRequest profile_of(const ir::Graph& graph, const cli::NamedRanges& shapes) {
  cli::require_inputs(shapes, input_names(graph), "the network");
  const cli::EntryIndex<cli::ShapeRange> given(shapes);
  ProfileRequest profile;
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& input = graph.value(id);
    if (const cli::ShapeRange* range = given.find(input.name)) {
      const Extents declared(static_cast<size_t>(input.type.rank()), -1);
      const auto shape = [&](const Extents& extents) { return cli::as_declared(extents, declared); };
      profile.extents[input.name] = {shape(range->min), shape(range->opt), shape(range->max)};
    } else if (!input.type.is_static()) {
      Extents extents;
      for (const sym::Expr& extent : input.type.shape) extents.push_back(extent.constant().value_or(1));
      profile.extents[input.name] = {extents, extents, extents};
    }
  }
  return profile;
}

}  // namespace kiln
