// ITensor.

#include <NvInfer.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "with_warning.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

constexpr const char* kTypeFollows = "the type of a tensor follows from a strongly typed network; use add_cast";
constexpr const char* kNoImplicitBatch = "there are no implicit batches any more";
constexpr const char* kUseExplicitQuantization = "use add_quantize and add_dequantize instead of dynamic ranges";

std::optional<std::pair<float, float>> dynamic_range(const ITensor& self) {
  deprecated(kUseExplicitQuantization);
  if (!self.dynamicRangeIsSet()) return std::nullopt;
  return std::pair(self.getDynamicRangeMin(), self.getDynamicRangeMax());
}

void set_dynamic_range(ITensor& self, const std::vector<float>& range) {
  deprecated(kUseExplicitQuantization);
  if (range.size() != 2) throw nb::value_error("a dynamic range has two numbers: the least and the largest value");
  if (!self.setDynamicRange(range[0], range[1]))
    throw nb::value_error("the dynamic range was refused: both numbers must be finite, the first not above the second");
}

}  // namespace

void bind_tensor(nb::module_& m) {
  nb::class_<ITensor>(m, "ITensor", nb::is_weak_referenceable(),
                      "A value of a network: one of its inputs, or what a layer computes.")
      .def_prop_rw("name", &ITensor::getName, &ITensor::setName,
                   "Name, unique in the network; at most 4096 characters.")
      .def_prop_rw("shape", &ITensor::getDimensions, &ITensor::setDimensions,
                   "Extents, -1 where they are known at run time. Only inputs of the network can be given others.")
      .def_prop_rw("dtype", &ITensor::getType, with_warning(&ITensor::setType, kTypeFollows), "Type of the elements.")
      .def_prop_rw("broadcast_across_batch", with_warning(&ITensor::getBroadcastAcrossBatch, kNoImplicitBatch),
                   with_warning(&ITensor::setBroadcastAcrossBatch, kNoImplicitBatch),
                   "Deprecated. False: there are no implicit batches.")
      .def_prop_rw("location", &ITensor::getLocation, &ITensor::setLocation, "Memory that holds the tensor.")
      .def_prop_rw("allowed_formats", &ITensor::getAllowedFormats, &ITensor::setAllowedFormats,
                   "Bit mask, 1 << int(TensorFormat), of the layouts that an input or output of the network may have.")
      .def_prop_ro("is_network_input", &ITensor::isNetworkInput, "Whether it is an input of the network.")
      .def_prop_ro("is_network_output", &ITensor::isNetworkOutput, "Whether it is marked as an output of the network.")
      .def_prop_ro("is_shape_tensor", &ITensor::isShapeTensor,
                   "Whether its values are needed to know shapes. Final once the network is complete.")
      .def_prop_ro("is_execution_tensor", &ITensor::isExecutionTensor,
                   "Whether it is computed when the engine runs. A tensor can be a shape tensor as well.")
      .def_prop_rw("dynamic_range", &dynamic_range, &set_dynamic_range,
                   "Deprecated. Least and largest value for INT8, or None.")
      .def("set_dynamic_range", with_warning(&ITensor::setDynamicRange, kUseExplicitQuantization), "min"_a, "max"_a,
           "Deprecated. Sets the least and the largest value for INT8; False if they are refused.")
      .def("reset_dynamic_range", with_warning(&ITensor::resetDynamicRange, kUseExplicitQuantization),
           "Deprecated. Forgets the range for INT8.")
      .def("set_dimension_name", &ITensor::setDimensionName, "index"_a, "name"_a,
           "Names an extent of an input of the network. Extents of one name are equal at run time.")
      .def("get_dimension_name", &ITensor::getDimensionName, "index"_a, "Name of an extent, or None.");
}

}  // namespace kiln::python
