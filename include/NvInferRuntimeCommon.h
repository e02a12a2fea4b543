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

  //! Adds a creator of old plugins; false if there is one of that name, version and namespace. Deprecated.
  TRT_DEPRECATED virtual bool registerCreator(IPluginCreator& creator, AsciiChar const* pluginNamespace) noexcept = 0;
  //! Creators of old plugins, and how many. Deprecated: use getAllCreators.
  TRT_DEPRECATED virtual IPluginCreator* const* getPluginCreatorList(int32_t* numCreators) const noexcept = 0;
  //! The creator of an old plugin, or null. Deprecated: use getCreator.
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
  //! Where errors are recorded from now on; null: nowhere but in the log.
  virtual void setErrorRecorder(IErrorRecorder* recorder) noexcept = 0;
  //! What setErrorRecorder set, or null.
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
  //! Removes a creator of old plugins; false if it is not there. Deprecated.
  TRT_DEPRECATED virtual bool deregisterCreator(IPluginCreator const& creator) noexcept = 0;
  //! Whether creators are also looked for in the parent, which for a builder's or runtime's registry is the process's.
  virtual bool isParentSearchEnabled() const = 0;
  //! Whether creators are to be looked for in the parent too.
  virtual void setParentSearchEnabled(bool enabled) = 0;
  //! Loads a library and registers its creators; null, with an error, if that fails.
  virtual PluginLibraryHandle loadLibrary(AsciiChar const* pluginPath) noexcept = 0;
  //! Removes the creators of a library, and unloads it.
  virtual void deregisterLibrary(PluginLibraryHandle handle) noexcept = 0;
  //! Adds a creator; false if there is one of that name, version and namespace.
  virtual bool registerCreator(IPluginCreatorInterface& creator, AsciiChar const* pluginNamespace) noexcept = 0;
  //! All creators of this registry, and how many.
  virtual IPluginCreatorInterface* const* getAllCreators(int32_t* numCreators) const noexcept = 0;
  //! The creator of a plugin, or null.
  virtual IPluginCreatorInterface* getCreator(AsciiChar const* pluginName, AsciiChar const* pluginVersion,
                                              AsciiChar const* pluginNamespace = "") noexcept = 0;
  //! Removes a creator; false if it is not there.
  virtual bool deregisterCreator(IPluginCreatorInterface const& creator) noexcept = 0;
  //! What plugins share under a key: the one that is there, else a clone of the given one. Each call needs a release.
  virtual IPluginResource* acquirePluginResource(AsciiChar const* key, IPluginResource* resource) noexcept = 0;
  //! One user of a shared resource less; -1 if the key is unknown or has none.
  virtual int32_t releasePluginResource(AsciiChar const* key) noexcept = 0;
  //! Creators of this registry and its parents, and how many.
  virtual IPluginCreatorInterface* const* getAllCreatorsRecursive(int32_t* numCreators) noexcept = 0;
};

}  // namespace nvinfer1

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_NV_INFER_RUNTIME_COMMON_H
