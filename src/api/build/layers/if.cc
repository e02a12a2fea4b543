/// Conditionals: the layers at their boundaries.
#include "ops/if.h"

#include "api/build/layers/layers.h"
#include "ops/if_condition.h"
#include "ops/if_input.h"
#include "ops/if_output.h"

namespace kiln::api {
namespace {

template <class T, nv::LayerType kType, class I, class V>
class ConditionalBoundary final : public LayerOf<T, kType, I, V>, public nv::apiv::VConditionalBoundaryLayer {
 public:
  ConditionalBoundary(Network& network, ir::NodeId node) : LayerOf<T, kType, I, V>(network, node) {
    this->mBoundary = this;
  }
  nv::IIfConditional* getConditional() const noexcept override {
    Group* const group = this->network().group(this->op().group);
    return group ? group->conditional() : nullptr;
  }
};

using ConditionLayer =
    ConditionalBoundary<ops::IfCondition, nv::LayerType::kCONDITION, nv::IConditionLayer, nv::apiv::VConditionLayer>;
using InputLayer = ConditionalBoundary<ops::IfInput, nv::LayerType::kCONDITIONAL_INPUT, nv::IIfConditionalInputLayer,
                                       nv::apiv::VConditionalInputLayer>;
using OutputLayer = ConditionalBoundary<ops::IfOutput, nv::LayerType::kCONDITIONAL_OUTPUT,
                                        nv::IIfConditionalOutputLayer, nv::apiv::VConditionalOutputLayer>;

class Conditional final : public nv::IIfConditional, public nv::apiv::VIfConditional, public Group {
 public:
  Conditional(Network& network, int id) : Group(network, id, str("(Unnamed Conditional* ", id, ")")) { mImpl = this; }
  nv::IIfConditional* conditional() override { return this; }

  nv::IConditionLayer* setCondition(nv::ITensor& tensor) noexcept override {
    return add<nv::IConditionLayer>("IIfConditional::setCondition", [&]() -> Result<nv::IConditionLayer*> {
      const ir::ValueId value = TRY(network().value_of(tensor, "condition"));
      TRY(require(!has_condition(), "conditional '", name(),
                  "' has a condition already; ILayer::setInput of its layer replaces it"));
      return network().add<ConditionLayer>(ops::IfCondition{.group = id()}, {value}, Settings::kComplete);
    });
  }
  nv::IIfConditionalInputLayer* addInput(nv::ITensor& tensor) noexcept override {
    return add<nv::IIfConditionalInputLayer>(
        "IIfConditional::addInput", [&]() -> Result<nv::IIfConditionalInputLayer*> {
          const ir::ValueId value = TRY(network().value_of(tensor, "input"));
          return network().add<InputLayer>(ops::IfInput{.group = id()}, {value}, Settings::kComplete);
        });
  }
  nv::IIfConditionalOutputLayer* addOutput(nv::ITensor& trueTensor, nv::ITensor& falseTensor) noexcept override {
    return add<nv::IIfConditionalOutputLayer>(
        "IIfConditional::addOutput", [&]() -> Result<nv::IIfConditionalOutputLayer*> {
          const ir::ValueId then = TRY(network().value_of(trueTensor, "trueSubgraphOutput"));
          const ir::ValueId other = TRY(network().value_of(falseTensor, "falseSubgraphOutput"));
          return network().add<OutputLayer>(ops::IfOutput{.group = id()}, {then, other}, Settings::kComplete);
        });
  }
  void setName(const char* name) noexcept override { set_name(name, "IIfConditional::setName"); }
  const char* getName() const noexcept override { return name().c_str(); }

 private:
  template <class L, class F>
  L* add(const char* call, F add) noexcept {
    return guard(network().reporter(), call, static_cast<L*>(nullptr), add);
  }
  bool has_condition() const {
    const ir::Graph& graph = network().graph();
    for (int i = 0; i < graph.num_nodes(); ++i)
      if (const auto node = static_cast<ir::NodeId>(i); graph.alive(node))
        if (const auto* op = graph.node(node).op.as<ops::IfCondition>(); op && op->group == id()) return true;
    return false;
  }
};

}  // namespace

nv::IIfConditional* add_conditional(Network& network) {
  network.graph().stop_teaching();  // what is assumed of a body need not hold: it may not run
  return &network.add_group<Conditional>();
}

MakeLayer maker_of(Tag<ops::If>) { return make<LayerAsIdentity<ops::If>>; }
MakeLayer maker_of(Tag<ops::IfCondition>) { return make<ConditionLayer>; }
MakeLayer maker_of(Tag<ops::IfInput>) { return make<InputLayer>; }
MakeLayer maker_of(Tag<ops::IfOutput>) { return make<OutputLayer>; }

}  // namespace kiln::api
