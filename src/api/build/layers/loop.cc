/// Loops: the layers at their boundaries.
#include "ops/loop.h"

#include "api/build/layers/layers.h"
#include "ops/loop_iterator.h"
#include "ops/loop_output.h"
#include "ops/loop_recurrence.h"
#include "ops/loop_trip_limit.h"

namespace kiln::api {
namespace {

template <class T, nv::LayerType kType, class I, class V>
class LoopBoundary : public LayerOf<T, kType, I, V>, public nv::apiv::VLoopBoundaryLayer {
 public:
  LoopBoundary(Network& network, ir::NodeId node) : LayerOf<T, kType, I, V>(network, node) { this->mBoundary = this; }
  nv::ILoop* getLoop() const noexcept override {
    Group* const group = this->network().group(this->op().group);
    return group ? group->loop() : nullptr;
  }
};

class TripLimitLayer final : public LoopBoundary<ops::LoopTripLimit, nv::LayerType::kTRIP_LIMIT, nv::ITripLimitLayer,
                                                 nv::apiv::VTripLimitLayer> {
 public:
  using LoopBoundary::LoopBoundary;
  nv::TripLimit getTripLimit() const noexcept override { return get_enum<nv::TripLimit>(&ops::LoopTripLimit::limit); }
};

class RecurrenceLayer final : public LoopBoundary<ops::LoopRecurrence, nv::LayerType::kRECURRENCE, nv::IRecurrenceLayer,
                                                  nv::apiv::VRecurrenceLayer> {
 public:
  using LoopBoundary::LoopBoundary;
};

class IteratorLayer final
    : public LoopBoundary<ops::LoopIterator, nv::LayerType::kITERATOR, nv::IIteratorLayer, nv::apiv::VIteratorLayer> {
 public:
  using LoopBoundary::LoopBoundary;
  void setAxis(int32_t axis) noexcept override { set("IIteratorLayer::setAxis", &ops::LoopIterator::axis, axis); }
  int32_t getAxis() const noexcept override { return from_front(op().axis); }
  void setReverse(bool reverse) noexcept override {
    set("IIteratorLayer::setReverse", &ops::LoopIterator::reverse, reverse);
  }
  bool getReverse() const noexcept override { return op().reverse; }
};

class LoopOutputLayer final : public LoopBoundary<ops::LoopOutput, nv::LayerType::kLOOP_OUTPUT, nv::ILoopOutputLayer,
                                                  nv::apiv::VLoopOutputLayer> {
 public:
  using LoopBoundary::LoopBoundary;
  nv::LoopOutput getLoopOutput() const noexcept override { return get_enum<nv::LoopOutput>(&ops::LoopOutput::kind); }
  void setAxis(int32_t axis) noexcept override { set("ILoopOutputLayer::setAxis", &ops::LoopOutput::axis, axis); }
  int32_t getAxis() const noexcept override { return op().axis; }
};

class Loop final : public nv::ILoop, public nv::apiv::VLoop, public Group {
 public:
  Loop(Network& network, int id) : Group(network, id, str("(Unnamed Loop* ", id, ")")) { mImpl = this; }
  nv::ILoop* loop() override { return this; }

  nv::IRecurrenceLayer* addRecurrence(nv::ITensor& initialValue) noexcept override {
    return add<nv::IRecurrenceLayer>("ILoop::addRecurrence", [&]() -> Result<nv::IRecurrenceLayer*> {
      const ir::ValueId initial = TRY(network().value_of(initialValue, "initialValue"));
      return network().add<RecurrenceLayer>(ops::LoopRecurrence{.group = id()}, {initial}, Settings::kComplete);
    });
  }
  nv::ITripLimitLayer* addTripLimit(nv::ITensor& tensor, nv::TripLimit limit) noexcept override {
    return add<nv::ITripLimitLayer>("ILoop::addTripLimit", [&]() -> Result<nv::ITripLimitLayer*> {
      const ir::ValueId value = TRY(network().value_of(tensor, "tensor"));
      const ops::LoopTripLimit op{.group = id(), .limit = TRY(enum_from_api<TripLimit>(limit, "limit"))};
      TRY(require(!has_limit(op), "loop '", name(), "' has a trip limit of that kind already"));
      return network().add<TripLimitLayer>(op, {value}, Settings::kComplete);
    });
  }
  nv::IIteratorLayer* addIterator(nv::ITensor& tensor, int32_t axis, bool reverse) noexcept override {
    return add<nv::IIteratorLayer>("ILoop::addIterator", [&]() -> Result<nv::IIteratorLayer*> {
      const ir::ValueId value = TRY(network().value_of(tensor, "tensor"));
      const ops::LoopIterator op{.group = id(), .axis = axis, .reverse = reverse};
      return network().add<IteratorLayer>(op, {value}, Settings::kComplete);
    });
  }
  nv::ILoopOutputLayer* addLoopOutput(nv::ITensor& tensor, nv::LoopOutput outputKind, int32_t axis) noexcept override {
    return add<nv::ILoopOutputLayer>("ILoop::addLoopOutput", [&]() -> Result<nv::ILoopOutputLayer*> {
      const ir::ValueId value = TRY(network().value_of(tensor, "tensor"));
      const ops::LoopOutput op{
          .group = id(), .kind = TRY(enum_from_api<LoopOutputKind>(outputKind, "outputKind")), .axis = axis};
      return network().add<LoopOutputLayer>(op, {value}, Settings::kToCome);
    });
  }
  void setName(const char* name) noexcept override { set_name(name, "ILoop::setName"); }
  const char* getName() const noexcept override { return name().c_str(); }

 private:
  template <class L, class F>
  L* add(const char* call, F add) noexcept {
    return guard(network().reporter(), call, static_cast<L*>(nullptr), add);
  }
  bool has_limit(const ops::LoopTripLimit& op) const {
    const ir::Graph& graph = network().graph();
    for (int i = 0; i < graph.num_nodes(); ++i)
      if (const auto node = static_cast<ir::NodeId>(i); graph.alive(node) && graph.node(node).op == Op(op)) return true;
    return false;
  }
};

}  // namespace

nv::ILoop* add_loop(Network& network) {
  network.graph().stop_teaching();  // what is assumed of a body need not hold: it may not run
  return &network.add_group<Loop>();
}

MakeLayer maker_of(Tag<ops::Loop>) { return make<LayerAsIdentity<ops::Loop>>; }
MakeLayer maker_of(Tag<ops::LoopIterator>) { return make<IteratorLayer>; }
MakeLayer maker_of(Tag<ops::LoopOutput>) { return make<LoopOutputLayer>; }
MakeLayer maker_of(Tag<ops::LoopRecurrence>) { return make<RecurrenceLayer>; }
MakeLayer maker_of(Tag<ops::LoopTripLimit>) { return make<TripLimitLayer>; }

}  // namespace kiln::api
