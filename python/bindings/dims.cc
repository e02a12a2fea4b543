// Dims and its kin: they behave like tuples of ints whose items can be set, and stand where tuples and lists stand.

#include <NvInfer.h>
#include <NvInferLegacyDims.h>

#include "bindings.h"
#include "convert.h"

namespace kiln::python {
namespace {

using nvinfer1::Dims;

/// The place that a Python index means; negative ones count from the back.
int64_t checked_index(const Dims& dims, int64_t index) {
  const int64_t place = index < 0 ? index + dims.nbDims : index;
  if (place < 0 || place >= dims.nbDims)
    throw nb::index_error(str("index ", index, " is outside of Dims ", to_text(dims)).c_str());
  return place;
}

nb::tuple get_slice(const Dims& dims, const nb::slice& slice) {
  const auto [start, stop, step, length] = slice.compute(checked_rank(dims));
  nb::list items;
  for (size_t i = 0; i < length; ++i) items.append(dims.d[start + static_cast<Py_ssize_t>(i) * step]);
  return nb::tuple(items);
}

void set_slice(Dims& dims, const nb::slice& slice, const Dims& values) {
  const auto [start, stop, step, length] = slice.compute(checked_rank(dims));
  if (checked_rank(values) != length)
    throw nb::value_error(str("a slice of ", length, " extents cannot be set to ", to_text(values)).c_str());
  for (size_t i = 0; i < length; ++i) dims.d[start + static_cast<Py_ssize_t>(i) * step] = values.d[i];
}

bool equal(const Dims& dims, const nb::object& other) {
  Dims values;
  if (nb::isinstance<Dims>(other))
    values = nb::cast<Dims>(other);
  else if (!try_dims(other, values))
    return false;
  if (dims.nbDims != values.nbDims) return false;
  for (int32_t i = 0; i < dims.nbDims; ++i)
    if (dims.d[i] != values.d[i]) return false;
  return true;
}

/// The constructor of a class of N dimensions from a sequence.
template <class T>
void init_sequence(T* self, const Sequence& shape) {
  T result;
  const Dims dims = to_dims(shape);
  if (dims.nbDims != result.nbDims)
    throw nb::value_error(str("a shape of ", result.nbDims, " extents is needed, not ", to_text(dims)).c_str());
  for (int32_t i = 0; i < dims.nbDims; ++i) result.d[i] = dims.d[i];
  new (self) T(result);
}

void bind_base(nb::module_& m) {
  nb::class_<Dims> cls(m, "Dims",
                       "Extents of a tensor, outermost first. -1 stands for an extent that is not known yet.");
  cls.def(
         "__init__", [](Dims* self) { new (self) Dims{}; }, "Makes a shape without extents, that of a scalar.")
      .def(
          "__init__", [](Dims* self, const Sequence& shape) { new (self) Dims(to_dims(shape)); }, "shape"_a,
          "Makes a shape from at most 8 ints.")
      .def_prop_ro_static(
          "MAX_DIMS", [](nb::handle) { return int32_t{Dims::MAX_DIMS}; }, "Most extents that a shape can have: 8.")
      .def("__str__", &to_text, "The extents like a tuple's.")
      .def("__repr__", &to_text, "The extents like a tuple's.")
      .def("__eq__", &equal, "other"_a, "Whether the extents are those of another shape, a tuple or a list.")
      .def("__len__", &checked_rank, "The number of extents.")
      .def(
          "__getitem__", [](const Dims& self, int64_t index) { return self.d[checked_index(self, index)]; }, "index"_a,
          "An extent; negative indices count from the back.")
      .def("__getitem__", &get_slice, "slice"_a, "A tuple of extents.")
      .def(
          "__setitem__", [](Dims& self, int64_t index, int64_t item) { self.d[checked_index(self, index)] = item; },
          "index"_a, "item"_a, "Sets an extent.")
      .def("__setitem__", &set_slice, "slice"_a, "values"_a, "Sets as many extents as there are values.");
  cls.attr("__hash__") = nb::none();  // equal shapes would need equal hashes, and a shape can change
  nb::implicitly_convertible<Sequence, Dims>();
}

}  // namespace

void bind_dims(nb::module_& m) {
  using nvinfer1::Dims2, nvinfer1::Dims3, nvinfer1::Dims4, nvinfer1::DimsHW;
  bind_base(m);
  nb::class_<Dims2, Dims>(m, "Dims2", "Two extents.")
      .def(nb::init<>(), "Makes (0, 0).")
      .def(nb::init<int64_t, int64_t>(), "dim0"_a, "dim1"_a, "Makes a shape of the extents.")
      .def("__init__", &init_sequence<Dims2>, "shape"_a, "Makes a shape from two ints.");
  nb::implicitly_convertible<Sequence, Dims2>();
  nb::class_<DimsHW, Dims2>(m, "DimsHW", "A height and a width.")
      .def(nb::init<>(), "Makes (0, 0).")
      .def(nb::init<int64_t, int64_t>(), "h"_a, "w"_a, "Makes a shape of a height and a width.")
      .def("__init__", &init_sequence<DimsHW>, "shape"_a, "Makes a shape from two ints.")
      .def_prop_rw(
          "h", [](const DimsHW& self) { return self.h(); }, [](DimsHW& self, int64_t value) { self.h() = value; },
          "The height.")
      .def_prop_rw(
          "w", [](const DimsHW& self) { return self.w(); }, [](DimsHW& self, int64_t value) { self.w() = value; },
          "The width.");
  nb::implicitly_convertible<Sequence, DimsHW>();
  nb::class_<Dims3, Dims>(m, "Dims3", "Three extents.")
      .def(nb::init<>(), "Makes (0, 0, 0).")
      .def(nb::init<int64_t, int64_t, int64_t>(), "dim0"_a, "dim1"_a, "dim2"_a, "Makes a shape of the extents.")
      .def("__init__", &init_sequence<Dims3>, "shape"_a, "Makes a shape from three ints.");
  nb::implicitly_convertible<Sequence, Dims3>();
  nb::class_<Dims4, Dims>(m, "Dims4", "Four extents.")
      .def(nb::init<>(), "Makes (0, 0, 0, 0).")
      .def(nb::init<int64_t, int64_t, int64_t, int64_t>(), "dim0"_a, "dim1"_a, "dim2"_a, "dim3"_a,
           "Makes a shape of the extents.")
      .def("__init__", &init_sequence<Dims4>, "shape"_a, "Makes a shape from four ints.");
  nb::implicitly_convertible<Sequence, Dims4>();
}

}  // namespace kiln::python
