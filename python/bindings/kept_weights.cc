#include "kept_weights.h"

#include <algorithm>
#include <unordered_map>

#include "lifetime.h"

namespace kiln::python {
namespace {

using nvinfer1::ILayer;
using nvinfer1::Weights;

// Guarded by the GIL. Not destroyed, because networks may go after static objects have.
std::unordered_map<PyObject*, KeptWeights*>& by_network() {
  static auto* const map = new std::unordered_map<PyObject*, KeptWeights*>;
  return *map;
}
std::unordered_map<const ILayer*, KeptWeights*>& by_layer() {
  static auto* const map = new std::unordered_map<const ILayer*, KeptWeights*>;
  return *map;
}

}  // namespace

Weights WeightsArgument::weights() const {
  if (const Weights* given = nullptr; nb::try_cast(source_, given, /*convert=*/false)) return *given;
  return to_weights(nb::borrow<NumpyArray>(source_));
}

KeptWeights& KeptWeights::of_network(nb::handle network) {
  KeptWeights*& kept = by_network()[network.ptr()];
  if (!kept) {
    kept = new KeptWeights(network);
    nb::keep_alive_cb(network, kept, [](void* p) noexcept { delete static_cast<KeptWeights*>(p); });
  }
  return *kept;
}

KeptWeights* KeptWeights::of_layer(const ILayer& layer) {
  const auto found = by_layer().find(&layer);
  return found == by_layer().end() ? nullptr : found->second;
}

KeptWeights::~KeptWeights() {
  // The network is gone, and without the GIL: a layer of a new network may be where one of its layers was.
  for (const ILayer* layer : layers_)
    if (of_layer(*layer) == this) by_layer().erase(layer);
  by_network().erase(network_.ptr());
}

void KeptWeights::keep(const Weights& weights, const WeightsArgument& argument) {
  if (weights.count == 0) return;
  std::vector<WeightsArgument>& owners = owners_[{weights.values, weights.count}];
  const auto is_same = [&](const WeightsArgument& other) { return other.source().is(argument.source()); };
  if (std::ranges::none_of(owners, is_same)) owners.push_back(argument);
}

nb::handle KeptWeights::owner(const Weights& weights) const {
  const auto found = owners_.find({weights.values, weights.count});
  return found == owners_.end() ? nb::handle() : nb::handle(found->second.back().source());
}

void KeptWeights::note(const ILayer& layer) {
  KeptWeights*& kept = by_layer()[&layer];
  if (kept == this) return;
  kept = this;
  layers_.push_back(&layer);
}

int KeptWeights::traverse(visitproc visit, void* arg) const {
  for (const auto& [elements, owners] : owners_)
    for (const WeightsArgument& owner : owners) Py_VISIT(owner.source().ptr());
  return 0;
}

namespace {

int traverse_network(PyObject* self, visitproc visit, void* arg) {
  const auto found = by_network().find(self);
  if (found != by_network().end())
    if (const int result = found->second->traverse(visit, arg); result != 0) return result;
  return traverse_owner(self, visit, arg);
}

}  // namespace

PyType_Slot kNetworkSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_network)}, {0, nullptr}};

ShownWeights weights_for_python(const Weights& weights, const ILayer& layer) {
  Weights shown = weights;
  nb::object owner;
  if (weights.count > 0) {
    if (const KeptWeights* const kept = KeptWeights::of_layer(layer)) owner = nb::borrow(kept->owner(weights));
    if (!owner.is_valid()) {
      owner = nb::bytearray(weights.values, nb::cast<size_t>(nb::cast(weights).attr("nbytes")));
      shown.values = nb::cast<nb::bytearray>(owner).data();
    }
  }
  nb::object result = nb::cast(shown);
  if (owner.is_valid()) nb::keep_alive_obj(result, owner);
  return nb::borrow<ShownWeights>(result.attr("numpy")());
}

}  // namespace kiln::python
