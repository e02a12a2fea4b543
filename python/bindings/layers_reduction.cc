// Layers whose elements depend on many: products, reductions, normalizations, selections; and Fill, which needs none.

#include <NvInfer.h>
#include <nanobind/stl/variant.h>

#include "layer_class.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

/// An object that has a value as a float: numpy's numbers, too.
class Number : public nb::object {
 public:
  static bool is_number(PyObject* object) { return PyNumber_Check(object) != 0; }
  NB_OBJECT_DEFAULT(Number, nb::object, "float | int", is_number)
};

/// Sets a parameter that C++ knows as a float and as an int64. As TensorRT's module does, an integer is told both ways,
/// so that is_alpha_beta_int64 is true behind it.
template <auto kSetReal, auto kSetInteger>
void set_fill_parameter(IFillLayer& self, const Number& value) {
  double real = 0;
  int64_t integer = 0;
  const bool is_real = nb::try_cast(value, real);
  const bool is_integer = nb::try_cast(value, integer);
  if (!is_real && !is_integer) throw nb::type_error("alpha and beta are numbers");
  if (is_real) (self.*kSetReal)(real);
  if (is_integer) (self.*kSetInteger)(integer);
}

template <auto kReal, auto kInteger>
std::variant<int64_t, double> fill_parameter(const IFillLayer& self) {
  if (self.isAlphaBetaInt64()) return (self.*kInteger)();
  return (self.*kReal)();
}

void bind_fill(nb::module_& m) {
  using L = IFillLayer;
  layer_class<L>(m, "IFillLayer", "A tensor of a sequence or of random numbers.")
      .def_prop_rw("shape", &L::getDimensions, &L::setDimensions, "Extents. Not valid where input 0 has them.")
      .def_prop_rw("operation", &L::getOperation, &L::setOperation, "FillOperation: which numbers.")
      .def_prop_rw("alpha", &fill_parameter<&L::getAlpha, &L::getAlphaInt64>,
                   &set_fill_parameter<&L::setAlpha, &L::setAlphaInt64>,
                   "LINSPACE: the first number; RANDOM_UNIFORM: the least; RANDOM_NORMAL: the mean.")
      .def_prop_rw("beta", &fill_parameter<&L::getBeta, &L::getBetaInt64>,
                   &set_fill_parameter<&L::setBeta, &L::setBetaInt64>,
                   "LINSPACE: the difference of neighbours; RANDOM_UNIFORM: the largest; RANDOM_NORMAL: the deviation.")
      .def_prop_rw("to_type", &L::getToType, &L::setToType, "Type of the output.")
      .def("set_input", &L::setInput, "index"_a, "tensor"_a, "Gives the extents (0), alpha (1) or beta (2) as tensors.")
      .def("is_alpha_beta_int64", &L::isAlphaBetaInt64, "Whether alpha and beta are integers.");
}

void bind_products(nb::module_& m) {
  layer_class<IMatrixMultiplyLayer>(m, "IMatrixMultiplyLayer", "Matrix products of the last axes.")
      .def_prop_rw(
          "op0", [](const IMatrixMultiplyLayer& self) { return self.getOperation(0); },
          [](IMatrixMultiplyLayer& self, MatrixOperation op) { self.setOperation(0, op); },
          "MatrixOperation: how the first factor is read.")
      .def_prop_rw(
          "op1", [](const IMatrixMultiplyLayer& self) { return self.getOperation(1); },
          [](IMatrixMultiplyLayer& self, MatrixOperation op) { self.setOperation(1, op); },
          "MatrixOperation: how the second factor is read.");
  layer_class<IEinsumLayer>(m, "IEinsumLayer", "A sum of products, as an equation says.")
      .def_prop_rw("equation", &IEinsumLayer::getEquation, &IEinsumLayer::setEquation, "For instance 'ij,jk->ik'.");
}

void set_cumulative_operation(ICumulativeLayer& self, CumulativeOperation operation) {
  if (!self.setOperation(operation)) throw std::runtime_error("the operation of the cumulative layer was refused");
}

void bind_reductions(nb::module_& m) {
  layer_class<IReduceLayer>(m, "IReduceLayer", "Combines the elements along axes.")
      .def_prop_rw("op", &IReduceLayer::getOperation, &IReduceLayer::setOperation, "ReduceOperation: how.")
      .def_prop_rw("axes", &IReduceLayer::getReduceAxes, &IReduceLayer::setReduceAxes, "Bit mask of the axes.")
      .def_prop_rw("keep_dims", &IReduceLayer::getKeepDimensions, &IReduceLayer::setKeepDimensions,
                   "Whether the output keeps these axes, with extent 1.");
  layer_class<ISoftMaxLayer>(m, "ISoftMaxLayer", "exp(x) over the sum of exp along an axis.")
      .def_prop_rw("axes", &ISoftMaxLayer::getAxes, &ISoftMaxLayer::setAxes, "Bit mask with the bit of one axis.");
  layer_class<IRaggedSoftMaxLayer>(m, "IRaggedSoftMaxLayer", "Softmax of rows of different lengths.");
  layer_class<ICumulativeLayer>(m, "ICumulativeLayer", "Running sums along an axis, which input 1 names.")
      .def_prop_rw("op", &ICumulativeLayer::getOperation, &set_cumulative_operation,
                   "CumulativeOperation; RuntimeError if it is refused.")
      .def_prop_rw("exclusive", &ICumulativeLayer::getExclusive, &ICumulativeLayer::setExclusive,
                   "Whether an element's own value is left out.")
      .def_prop_rw("reverse", &ICumulativeLayer::getReverse, &ICumulativeLayer::setReverse,
                   "Whether sums run from the end.");
  layer_class<INormalizationLayer>(
      m, "INormalizationLayer", "(x - mean) / sqrt(variance + epsilon) * scale + bias, means being taken along axes.")
      .def_prop_rw("epsilon", &INormalizationLayer::getEpsilon, &INormalizationLayer::setEpsilon,
                   "What is added to the variance; 1e-5 by default.")
      .def_prop_rw("axes", &INormalizationLayer::getAxes, &INormalizationLayer::setAxes, "Bit mask of the axes.")
      .def_prop_rw("num_groups", &INormalizationLayer::getNbGroups, &INormalizationLayer::setNbGroups,
                   "Number of groups of channels that are normalized together; 1 by default.")
      .def_prop_rw("compute_precision", &INormalizationLayer::getComputePrecision,
                   &INormalizationLayer::setComputePrecision, "Type to compute in; FLOAT by default.")
      .def_prop_ro("is_v2", &INormalizationLayer::isV2, "Whether add_normalization_v2 added the layer.");
}

void bind_selections(nb::module_& m) {
  layer_class<ITopKLayer>(m, "ITopKLayer", "The largest or least elements (output 0) and their indices (1).")
      .def_prop_rw("op", &ITopKLayer::getOperation, &ITopKLayer::setOperation, "TopKOperation: which elements.")
      .def_prop_rw("k", &ITopKLayer::getK, &ITopKLayer::setK, "How many. Not valid where input 1 has it.")
      .def_prop_rw("axes", &ITopKLayer::getReduceAxes, &ITopKLayer::setReduceAxes, "Bit mask with the bit of one axis.")
      .def("set_input", &ITopKLayer::setInput, "index"_a, "tensor"_a,
           "Replaces input 0, the data, or gives k as a shape tensor (1).")
      .def_prop_rw("indices_type", &ITopKLayer::getIndicesType, &ITopKLayer::setIndicesType,
                   "Type of the indices: INT32 or INT64.");
  layer_class<INonZeroLayer>(m, "INonZeroLayer", "Indices of the elements that are not zero.")
      .def_prop_rw("indices_type", &INonZeroLayer::getIndicesType, &INonZeroLayer::setIndicesType,
                   "Type of the indices: INT32 or INT64.");
  layer_class<INMSLayer>(m, "INMSLayer", "The best boxes that do not overlap much.")
      .def_prop_rw("bounding_box_format", &INMSLayer::getBoundingBoxFormat, &INMSLayer::setBoundingBoxFormat,
                   "BoundingBoxFormat; CORNER_PAIRS by default.")
      .def_prop_rw("topk_box_limit", &INMSLayer::getTopKBoxLimit, &INMSLayer::setTopKBoxLimit,
                   "Number of boxes, the best of each class, that are looked at.")
      .def("set_input", &INMSLayer::setInput, "index"_a, "tensor"_a,
           "Replaces boxes (0), scores (1) or the number of boxes a class (2), or gives the overlap's threshold (3) or "
           "the score's (4).")
      .def_prop_rw("indices_type", &INMSLayer::getIndicesType, &INMSLayer::setIndicesType,
                   "Type of the indices: INT32 or INT64.");
}

}  // namespace

void bind_layers_reduction(nb::module_& m) {
  bind_fill(m);
  bind_products(m);
  bind_reductions(m);
  bind_selections(m);
}

}  // namespace kiln::python
