// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What all plugins share: attributes, capabilities, creators, resources.

#ifndef KILN_NV_INFER_PLUGIN_BASE_H
#define KILN_NV_INFER_PLUGIN_BASE_H

#include "NvInferRuntimeBase.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace nvinfer1 {

class IPluginResourceContext;

//! When a plugin is created.
enum class TensorRTPhase : int32_t {
  kBUILD = 0,    //!< While a network is defined or built.
  kRUNTIME = 1,  //!< While an engine is loaded.
};

//! Type of a plugin attribute's elements.
enum class PluginFieldType : int32_t {
  kFLOAT16 = 0,  //!< 16-bit IEEE float.
  kFLOAT32 = 1,  //!< 32-bit IEEE float.
  kFLOAT64 = 2,  //!< 64-bit IEEE float.
  kINT8 = 3,     //!< 8-bit integer.
  kINT16 = 4,    //!< 16-bit integer.
  kINT32 = 5,    //!< 32-bit integer.
  kCHAR = 6,     //!< A character of text.
  kDIMS = 7,     //!< nvinfer1::Dims.
  kUNKNOWN = 8,  //!< Agreed between plugin and program.
  kBF16 = 9,     //!< bfloat16.
  kINT64 = 10,   //!< 64-bit integer.
  kFP8 = 11,     //!< 8-bit float.
  kINT4 = 12,    //!< 4-bit integer, two in a byte.
  kFP4 = 13,     //!< 4-bit float, two in a byte.
};

//! An attribute of a plugin: a name and an array.
class PluginField {
 public:
  PluginField(AsciiChar const* name_ = nullptr, void const* data_ = nullptr,
              PluginFieldType type_ = PluginFieldType::kUNKNOWN, int32_t length_ = 0) noexcept
      : name(name_), data(data_), type(type_), length(length_) {}

  AsciiChar const* name;  //!< Name of the attribute.
  void const* data;       //!< Its elements, or null.
  PluginFieldType type;   //!< Type of its elements.
  int32_t length;         //!< Number of its elements.
};

//! The attributes of a plugin.
struct PluginFieldCollection {
  int32_t nbFields = 0;         //!< Number of attributes.
  PluginField const* fields{};  //!< The attributes.
};

namespace v_1_0 {

//! Base of the parts of an IPluginV3; each kind of part has its own functions.
class IPluginCapability : public IVersionedInterface {};

}  // namespace v_1_0

//! The version in use.
using IPluginCapability = v_1_0::IPluginCapability;

//! Part of a plugin that IPluginV3::getCapabilityInterface asks for.
enum class PluginCapabilityType : int32_t {
  kCORE = 0,     //!< Name, version, namespace.
  kBUILD = 1,    //!< What the builder needs: types, shapes, formats.
  kRUNTIME = 2,  //!< What running needs.
};

namespace v_1_0 {

//! A layer that the program implements, in parts: core, build, run time.
class IPluginV3 : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"PLUGIN", 1, 0}; }
  virtual IPluginCapability* getCapabilityInterface(PluginCapabilityType type) noexcept = 0;
  virtual IPluginV3* clone() noexcept = 0;
};

}  // namespace v_1_0

//! The version in use.
using IPluginV3 = v_1_0::IPluginV3;

namespace v_1_0 {

//! Something that plugins share, as a library handle; the registry counts its users.
class IPluginResource : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IPluginResource", 1, 0}; }
  virtual int32_t release() noexcept = 0;
  virtual IPluginResource* clone() noexcept = 0;
  ~IPluginResource() noexcept override = default;
  IPluginResource() = default;
  IPluginResource(IPluginResource const&) = default;
  IPluginResource(IPluginResource&&) = default;
  IPluginResource& operator=(IPluginResource const&) & = default;
  IPluginResource& operator=(IPluginResource&&) & = default;
};

}  // namespace v_1_0

//! The version in use.
using IPluginResource = v_1_0::IPluginResource;

namespace v_1_0 {

//! Base of the classes that create plugins.
class IPluginCreatorInterface : public IVersionedInterface {
 public:
  ~IPluginCreatorInterface() noexcept override = default;

 protected:
  IPluginCreatorInterface() = default;
  IPluginCreatorInterface(IPluginCreatorInterface const&) = default;
  IPluginCreatorInterface(IPluginCreatorInterface&&) = default;
  IPluginCreatorInterface& operator=(IPluginCreatorInterface const&) & = default;
  IPluginCreatorInterface& operator=(IPluginCreatorInterface&&) & = default;
};

}  // namespace v_1_0

//! The version in use.
using IPluginCreatorInterface = v_1_0::IPluginCreatorInterface;

}  // namespace nvinfer1

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_NV_INFER_PLUGIN_BASE_H
