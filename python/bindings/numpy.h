// Weights from and to numpy arrays. numpy is imported when a program that has it hands over or asks for an array.

#pragma once

#include <NvInfer.h>

#include "bindings.h"

namespace kiln::python {

/// A numpy array, as an argument.
class NumpyArray : public nb::object {
 public:
  static bool is_array(PyObject* object);
  NB_OBJECT_DEFAULT(NumpyArray, nb::object, "numpy.ndarray", is_array)
};

/// Weights over the array's memory. Throws ValueError for an array that is not C-contiguous, or whose type the API
/// lacks.
nvinfer1::Weights to_weights(const NumpyArray& array);

/// An array of one axis over the weights' memory, which keeps `owner` alive; `owner` itself where numpy lacks the type.
/// Throws ValueError for elements without memory.
nb::object to_numpy(const nvinfer1::Weights& weights, nb::handle owner);

}  // namespace kiln::python
