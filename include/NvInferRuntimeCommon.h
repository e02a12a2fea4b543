// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The plugin registry.

#ifndef KILN_NV_INFER_RUNTIME_COMMON_H
#define KILN_NV_INFER_RUNTIME_COMMON_H

#include "NvInferPluginBase.h"
#include "NvInferRuntimePlugin.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace nvinfer1 {

//! Where creators of plugins are registered, and looked up by name, version and namespace.
class IPluginRegistry {
 public:
  //! A plugin library that was loaded.
  using PluginLibraryHandle = void*;

  TRT_DEPRECATED virtual bool registerCreator(IPluginCreator& creator, AsciiChar const* pluginNamespace) noexcept = 0;
  TRT_DEPRECATED virtual IPluginCreator* const* getPluginCreatorList(int32_t* numCreators) const noexcept = 0;
  TRT_DEPRECATED virtual IPluginCreator* getPluginCreator(AsciiChar const* pluginName, AsciiChar const* pluginVersion,
                                                          AsciiChar const* pluginNamespace = "") noexcept = 0;
  IPluginRegistry() = default;
  IPluginRegistry(IPluginRegistry const&) = delete;
  IPluginRegistry(IPluginRegistry&&) = delete;
  IPluginRegistry& operator=(IPluginRegistry const&) & = delete;
  IPluginRegistry& operator=(IPluginRegistry&&) & = delete;

 protected:
  virtual ~IPluginRegistry() noexcept = default;

 public:
  virtual void setErrorRecorder(IErrorRecorder* recorder) noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
  TRT_DEPRECATED virtual bool deregisterCreator(IPluginCreator const& creator) noexcept = 0;
  virtual bool isParentSearchEnabled() const = 0;
  virtual void setParentSearchEnabled(bool enabled) = 0;
  virtual PluginLibraryHandle loadLibrary(AsciiChar const* pluginPath) noexcept = 0;
  virtual void deregisterLibrary(PluginLibraryHandle handle) noexcept = 0;
  virtual bool registerCreator(IPluginCreatorInterface& creator, AsciiChar const* pluginNamespace) noexcept = 0;
  virtual IPluginCreatorInterface* const* getAllCreators(int32_t* numCreators) const noexcept = 0;
  virtual IPluginCreatorInterface* getCreator(AsciiChar const* pluginName, AsciiChar const* pluginVersion,
                                              AsciiChar const* pluginNamespace = "") noexcept = 0;
  virtual bool deregisterCreator(IPluginCreatorInterface const& creator) noexcept = 0;
  virtual IPluginResource* acquirePluginResource(AsciiChar const* key, IPluginResource* resource) noexcept = 0;
  virtual int32_t releasePluginResource(AsciiChar const* key) noexcept = 0;
  virtual IPluginCreatorInterface* const* getAllCreatorsRecursive(int32_t* numCreators) noexcept = 0;
};

}  // namespace nvinfer1

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_NV_INFER_RUNTIME_COMMON_H
