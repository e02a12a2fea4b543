// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// NvInferPluginBase.h

#ifndef KILN_NV_INFER_PLUGIN_BASE_H
#define KILN_NV_INFER_PLUGIN_BASE_H

#include "NvInferRuntimeBase.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace nvinfer1 {

class IPluginResourceContext;

enum class TensorRTPhase : int32_t {
  kBUILD = 0,
  kRUNTIME = 1,
};

enum class PluginFieldType : int32_t {
  kFLOAT16 = 0,
  kFLOAT32 = 1,
  kFLOAT64 = 2,
  kINT8 = 3,
  kINT16 = 4,
  kINT32 = 5,
  kCHAR = 6,
  kDIMS = 7,
  kUNKNOWN = 8,
  kBF16 = 9,
  kINT64 = 10,
  kFP8 = 11,
  kINT4 = 12,
  kFP4 = 13,
};

class PluginField {
 public:
  PluginField(AsciiChar const* name_ = nullptr, void const* data_ = nullptr,
              PluginFieldType type_ = PluginFieldType::kUNKNOWN, int32_t length_ = 0) noexcept
      : name(name_), data(data_), type(type_), length(length_) {}

  AsciiChar const* name;
  void const* data;
  PluginFieldType type;
  int32_t length;
};

struct PluginFieldCollection {
  int32_t nbFields = 0;
  PluginField const* fields{};
};

namespace v_1_0 {

class IPluginCapability : public IVersionedInterface {};

}  // namespace v_1_0

//! The version in use.
using IPluginCapability = v_1_0::IPluginCapability;

enum class PluginCapabilityType : int32_t {
  kCORE = 0,
  kBUILD = 1,
  kRUNTIME = 2,
};

namespace v_1_0 {

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
