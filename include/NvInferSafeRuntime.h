// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Registration of plugins for safety engines. TensorRT 10.16's public headers lack it, its guides name it.

#ifndef KILN_NV_INFER_SAFE_RUNTIME_H
#define KILN_NV_INFER_SAFE_RUNTIME_H

#include "NvInferRuntime.h"

//! The registry of creators for engines of EngineCapability::kSAFETY. It has no parent, and getPluginRegistry() is
//! another. Kiln builds no such engines: a program that runs these plugins in a standard engine makes this registry
//! the parent of its runtime's (IRuntime::setPluginRegistryParent).
extern "C" TENSORRTAPI nvinfer1::IPluginRegistry* getSafePluginRegistry() noexcept;

namespace nvinfer1 {
namespace safe {

using ::getSafePluginRegistry;

//! Registers a creator of class T with the safety registry when it is constructed.
template <typename T>
class PluginRegistrar {
 public:
  PluginRegistrar() { getSafePluginRegistry()->registerCreator(instance, ""); }

 private:
  T instance{};
};

}  // namespace safe
}  // namespace nvinfer1

//! Registers a creator of this class with the safety registry before main, or while its library is loaded.
#define REGISTER_SAFE_TENSORRT_PLUGIN(name) \
  static nvinfer1::safe::PluginRegistrar<name> pluginRegistrar##name {}

#endif  // KILN_NV_INFER_SAFE_RUNTIME_H
