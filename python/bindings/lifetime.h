// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// How objects of the API live in Python: an object goes with its last reference, and holds what it needs.

#pragma once

#include "bindings.h"

namespace kiln::python {

/// `__del__` is there because programs for TensorRT call it; an object goes when nothing refers to it any more.
template <class T>
void ignore_del(const T&) {}
constexpr const char* kIgnoreDel = "Does nothing: the object goes when nothing refers to it any more.";

/// The annotation of an argument of a class that may also be None, which stands for C++'s null.
inline nb::arg or_none(const char* name) {
  nb::arg argument(name);
  argument.none();
  return argument;
}

}  // namespace kiln::python
