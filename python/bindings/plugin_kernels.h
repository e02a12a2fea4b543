/// How a quick plugin in Python says how its kernel is launched.
#pragma once

#include <impl/NvInferPythonPlugin.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

namespace kiln::python {

namespace nb = nanobind;

/// One call of get_launch_params. C++ has pointers to the arguments that it set until the next call.
struct KernelCall {
  std::vector<nb::object> arguments;
  bool is_open = true;
};

/// `KernelLaunchParams` and `ISymExprs` for the call.
nb::object show_launch_params(nvinfer1::IKernelLaunchParams* launch, std::shared_ptr<KernelCall> call);
nb::object show_arguments(nvinfer1::ISymExprs* arguments, std::shared_ptr<KernelCall> call);

}  // namespace kiln::python
