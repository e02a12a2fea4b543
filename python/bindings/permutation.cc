// Permutation: an order of axes. Tuples and lists stand for it.

#include <NvInfer.h>

#include <algorithm>
#include <string>

#include "bindings.h"
#include "convert.h"

namespace kiln::python {
namespace {

using nvinfer1::Dims, nvinfer1::Permutation;

constexpr int32_t kNumAxes = Dims::MAX_DIMS;

/// Axes that are not given are 0, as in TensorRT's module: a layer reads as many axes as its input has, and checks
/// them.
void init(Permutation* self, const Sequence& order) {
  const Dims given = to_dims(order);
  Permutation result{};
  std::copy(given.d, given.d + given.nbDims, result.order);
  new (self) Permutation(result);
}

int32_t& at(Permutation& self, int64_t index) {
  const int64_t place = index < 0 ? index + kNumAxes : index;
  if (place < 0 || place >= kNumAxes)
    throw nb::index_error(str("index ", index, " is outside of a permutation of ", kNumAxes, " axes").c_str());
  return self.order[place];
}

std::string print(const Permutation& self) {
  Dims order{.nbDims = kNumAxes, .d = {}};
  std::copy(self.order, self.order + kNumAxes, order.d);
  return to_text(order);
}

}  // namespace

void bind_permutation(nb::module_& m) {
  nb::class_<Permutation>(m, "Permutation", "An order of at most 8 axes: output axis i is the input's axis order[i].")
      .def(
          "__init__", [](Permutation* self) { init(self, nb::borrow<Sequence>(nb::make_tuple())); },
          "Makes a permutation of zeros, to be set.")
      .def("__init__", &init, "arg0"_a, "Makes a permutation of a sequence of at most 8 ints.")
      .def("__str__", &print, "The order like a tuple's.")
      .def("__repr__", &print, "The order like a tuple's.")
      .def(
          "__getitem__", [](Permutation& self, int64_t index) { return at(self, index); }, "arg0"_a,
          "The input's axis of an output axis.")
      .def(
          "__setitem__", [](Permutation& self, int64_t index, int32_t axis) { at(self, index) = axis; }, "arg0"_a,
          "arg1"_a, "Sets the input's axis of an output axis.")
      .def(
          "__len__", [](const Permutation&) { return kNumAxes; },
          "8, of which a layer reads as many as its input has.");
  nb::implicitly_convertible<Sequence, Permutation>();
}

}  // namespace kiln::python
