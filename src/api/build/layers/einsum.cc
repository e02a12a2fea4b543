/// Sums of products, as an equation says.
#include "ops/einsum.h"

#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

Result<std::string> checked_equation(Network& network, const char* equation, std::span<const ir::ValueId> inputs) {
  TRY(require(equation != nullptr, "equation is null"));
  std::vector<int> ranks;
  for (const ir::ValueId input : inputs) ranks.push_back(TRY(network.rank_of(input)));
  TRY(EinsumEquation::parse(equation, ranks));
  return equation;
}

class EinsumLayer final
    : public LayerOf<ops::Einsum, nv::LayerType::kEINSUM, nv::IEinsumLayer, nv::apiv::VEinsumLayer> {
 public:
  using LayerOf::LayerOf;

  bool setEquation(const char* equation) noexcept override {
    return edit("IEinsumLayer::setEquation", [&](ops::Einsum& op) -> Status {
      op.equation = TRY(checked_equation(network(), equation, ir_node().inputs));
      return {};
    });
  }
  const char* getEquation() const noexcept override { return op().equation.c_str(); }
};

}  // namespace

Result<nv::IEinsumLayer*> add_einsum(Network& network, nv::ITensor* const* inputs, int32_t num_inputs,
                                     const char* equation) {
  TRY(require(inputs != nullptr || num_inputs <= 0, "inputs are null"));
  TRY(require(num_inputs > 0, "there are ", num_inputs, " inputs; one at least is needed"));
  std::vector<ir::ValueId> values;
  for (int32_t i = 0; i < num_inputs; ++i) {
    TRY(require(inputs[i] != nullptr, "input ", i, " is null"));
    values.push_back(TRY(network.value_of(*inputs[i], "input")));
  }
  const ops::Einsum op{TRY(checked_equation(network, equation, values))};
  return network.add<EinsumLayer>(op, values, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Einsum>) { return make<EinsumLayer>; }

}  // namespace kiln::api
