// Weights of layers: C++ borrows their elements, so Python's arrays must live as long as the network that has the
// layer.

#pragma once

#include <NvInfer.h>

#include <map>
#include <utility>
#include <vector>

#include "bindings.h"
#include "numpy.h"

namespace kiln::python {

/// An argument that is `tensorrt.Weights` or an array. The array becomes Weights when `weights` is called and not when
/// arguments are read, so that the program sees why an array cannot be weights, not just that no overload fits.
class WeightsArgument {
 public:
  WeightsArgument() = default;
  explicit WeightsArgument(nb::object source) : source_(std::move(source)) {}

  /// Throws what the constructor of `tensorrt.Weights` throws: the type of elements is not known, gaps between
  /// elements.
  nvinfer1::Weights weights() const;
  /// The object that the program gave. It keeps the elements alive.
  const nb::object& source() const { return source_; }

 private:
  nb::object source_;
};

/// The owners of the elements that a network's layers borrow. It lives as long as the network's Python object.
class KeptWeights {
 public:
  /// Makes it when first asked for.
  static KeptWeights& of_network(nb::handle network);
  /// Null if no network has shown this layer to Python.
  static KeptWeights* of_layer(const nvinfer1::ILayer& layer);

  ~KeptWeights();
  KeptWeights(const KeptWeights&) = delete;
  KeptWeights& operator=(const KeptWeights&) = delete;

  /// Keeps the elements of `weights`, which the argument gave. The same argument again is kept once.
  void keep(const nvinfer1::Weights& weights, const WeightsArgument& argument);
  /// Null if the elements are not Python's: the parser made them.
  nb::handle owner(const nvinfer1::Weights& weights) const;
  /// Remembers that the layer is of this network. Setters of weights need to know, and a layer cannot be asked.
  void note(const nvinfer1::ILayer& layer);
  /// Shows Python's garbage collector the owners, as tp_traverse does.
  int traverse(visitproc visit, void* arg) const;

 private:
  explicit KeptWeights(nb::handle network) : network_(network) {}

  nb::handle network_;
  std::map<std::pair<const void*, int64_t>, std::vector<WeightsArgument>> owners_;  ///< by address and count
  std::vector<const nvinfer1::ILayer*> layers_;
};

/// The slots of the network's class, for Python's garbage collector: kOwnerSlots, and the owners of weights.
extern PyType_Slot kNetworkSlots[];

/// An array, or Weights where numpy lacks the type of the elements.
class ShownWeights : public nb::object {
 public:
  static bool is_shown(PyObject* object) {
    return nb::isinstance<nvinfer1::Weights>(object) || NumpyArray::is_array(object);
  }
  NB_OBJECT_DEFAULT(ShownWeights, nb::object, "numpy.ndarray | tensorrt.tensorrt.Weights", is_shown)
};

/// A flat array of the weights of a layer, or Weights where numpy lacks the type. It shares memory with an array that
/// Python gave; what the parser made is copied, since the layer frees it when it gets other weights.
ShownWeights weights_for_python(const nvinfer1::Weights& weights, const nvinfer1::ILayer& layer);

/// Sets a layer's weights by `set` and keeps them: `keep_and_set(layer, argument, [&](Weights w) { ... })`.
template <class F>
void keep_and_set(nb::pointer_and_handle<nvinfer1::ILayer> layer, const WeightsArgument& argument, F set) {
  const nvinfer1::Weights weights = argument.weights();
  if (KeptWeights* const kept = KeptWeights::of_layer(*layer.p))
    kept->keep(weights, argument);
  else
    nb::keep_alive_obj(layer.h, argument.source());
  set(weights);
}

}  // namespace kiln::python

namespace nanobind::detail {

template <>
struct type_caster<kiln::python::WeightsArgument> {
  NB_TYPE_CASTER(kiln::python::WeightsArgument, const_name<nvinfer1::Weights>() + const_name(" | numpy.ndarray"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!isinstance<nvinfer1::Weights>(source) && !isinstance<kiln::python::NumpyArray>(source)) return false;
    value = kiln::python::WeightsArgument(borrow(source));
    return true;
  }
};

}  // namespace nanobind::detail
