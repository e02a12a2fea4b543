// Weights: a view of constants, of a numpy array or of an address.

#include <NvInfer.h>

#include "bindings.h"
#include "convert.h"
#include "lifetime.h"
#include "numpy.h"

namespace kiln::python {
namespace {

using nvinfer1::DataType, nvinfer1::Weights;

int64_t num_bytes(const Weights& weights) {
  return size_bytes(weights.type) == 0 ? (weights.count + 1) / 2 : weights.count * size_bytes(weights.type);
}

/// The array stays alive, where Python's garbage collector sees it: its class may be the program's, and refer to a
/// network that has it as weights.
void init_from_array(nb::pointer_and_handle<Weights> self, const NumpyArray& array) {
  new (self.p) Weights(to_weights(array));
  own(self.h, self.p, /*destroy=*/nullptr, {array});
}

}  // namespace

void bind_weights(nb::module_& m) {
  nb::class_<Weights>(m, "Weights", nb::type_slots(kOwnerSlots),
                      "Constants of a layer: a view of memory that lives elsewhere, without a copy.")
      .def(
          "__init__",
          [](Weights* self, DataType type) {
            new (self) Weights{type, nullptr, 0};
          },
          "type"_a = DataType::kFLOAT, "Makes weights of no elements.")
      .def(
          "__init__",
          [](Weights* self, DataType type, size_t ptr, int64_t count) {
            if (count < 0) throw nb::value_error(str("weights of ", count, " elements").c_str());
            if (ptr == 0 && count > 0)
              throw nb::value_error(str("weights of ", count, " elements cannot be at address 0").c_str());
            new (self) Weights{type, to_pointer(ptr), count};
          },
          "type"_a, "ptr"_a, "count"_a,
          "Makes weights of `count` elements at an address, which the caller keeps valid.")
      .def("__init__", &init_from_array, "a"_a,
           "Makes weights of a C-contiguous array's elements; the array stays alive.")
      .def_prop_ro(
          "dtype", [](const Weights& self) { return self.type; }, "The type of the elements.")
      .def_prop_ro(
          "size", [](const Weights& self) { return self.count; }, "The number of elements.")
      .def_prop_ro("nbytes", &num_bytes, "The number of bytes.")
      .def(
          "numpy", [](nb::handle_t<Weights> self) { return to_numpy(nb::cast<const Weights&>(self), self); },
          "An array of one axis over the same memory; the weights themselves where numpy lacks the type.")
      .def(
          "__len__", [](const Weights& self) { return static_cast<size_t>(self.count); }, "The number of elements.");
  nb::implicitly_convertible<NumpyArray, Weights>();
}

}  // namespace kiln::python
