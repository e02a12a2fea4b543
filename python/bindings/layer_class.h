// Binding a class of layers.

#pragma once

#include <NvInfer.h>

#include "bindings.h"

namespace kiln::python {

/// A layer class that is as large as all others. nanobind takes the size of Python's objects from it, and Python lets
/// programs assign `layer.__class__ = tensorrt.IPoolingLayer`, as they do with an ILayer, where sizes are equal.
template <class L>
class OneSize : public L {
  static constexpr size_t kPointers = 5;
  void* padding_[kPointers - sizeof(L) / sizeof(void*)];
};

/// Binds a class of layers.
template <class L, class Base = nvinfer1::ILayer, class... Extra>
auto layer_class(nb::module_& m, const char* name, const char* description, const Extra&... extra) {
  static_assert(sizeof(OneSize<L>) == sizeof(OneSize<nvinfer1::ILayer>));
  if constexpr (std::is_same_v<L, nvinfer1::ILayer>)
    return nb::class_<L, OneSize<L>>(m, name, description, extra...);
  else
    return nb::class_<L, Base, OneSize<L>>(m, name, description, extra...);
}

}  // namespace kiln::python
