#include "tactics/fallback.h"

#include "ops/plugin.h"
#include "steps/reference.h"
#include "tactics/region.h"

namespace kiln {

Match Fallback::match(const TacticContext& cx, ir::NodeId root) const {
  if (cx.graph.node(root).op.as<ops::Plugin>()) return reject("a plugin alone knows what it computes");
  return single_node_region(cx.graph, root);
}

std::vector<Variant> Fallback::variants(const TacticContext&, const Region& region) const {
  return {linear_variant(region, "row-major")};
}

Result<StepDraft> Fallback::compile(const TacticContext& cx, const Region& region, const Variant&) const {
  return StepDraft{.executor = executor_, .step = steps::Reference{cx.graph.node(region.nodes[0]).op}};
}

}  // namespace kiln
