// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions of enums take a member of the very enum alone, as TensorRT's module does: nanobind's own would take any
// integer that is a value of the enum, members of other enums included.

#pragma once

#include <NvInfer.h>
#include <NvOnnxParser.h>
#include <impl/NvInferPythonPlugin.h>
#include <nanobind/nanobind.h>

namespace nanobind::detail {

/// As nanobind's conversion of enums, without those that change the value's type.
template <class T>
struct StrictEnumCaster {
  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
    (void)cleanup;
    int64_t result = 0;
    const uint32_t exact = flags & ~static_cast<uint32_t>(cast_flags::convert);
    if (!NB_CALL(enum_from_python)(NB_CTX_C(cleanup), &typeid(T), src.ptr(), &result, exact)) return false;
    value = static_cast<T>(result);
    return true;
  }
  static handle from_cpp(T src, rv_policy, cleanup_list* cleanup) noexcept {
    (void)cleanup;
    return NB_CALL(enum_from_cpp)(NB_CTX_C(cleanup), &typeid(T), static_cast<int64_t>(src));
  }
  NB_TYPE_CASTER(T, const_name<T>())
};

template <>
struct type_caster<nvinfer1::APILanguage> : StrictEnumCaster<nvinfer1::APILanguage> {};
template <>
struct type_caster<nvinfer1::ActivationType> : StrictEnumCaster<nvinfer1::ActivationType> {};
template <>
struct type_caster<nvinfer1::AllocatorFlag> : StrictEnumCaster<nvinfer1::AllocatorFlag> {};
template <>
struct type_caster<nvinfer1::AttentionNormalizationOp> : StrictEnumCaster<nvinfer1::AttentionNormalizationOp> {};
template <>
struct type_caster<nvinfer1::BoundingBoxFormat> : StrictEnumCaster<nvinfer1::BoundingBoxFormat> {};
template <>
struct type_caster<nvinfer1::BuilderFlag> : StrictEnumCaster<nvinfer1::BuilderFlag> {};
template <>
struct type_caster<nvinfer1::CalibrationAlgoType> : StrictEnumCaster<nvinfer1::CalibrationAlgoType> {};
template <>
struct type_caster<nvinfer1::CollectiveOperation> : StrictEnumCaster<nvinfer1::CollectiveOperation> {};
template <>
struct type_caster<nvinfer1::CumulativeOperation> : StrictEnumCaster<nvinfer1::CumulativeOperation> {};
template <>
struct type_caster<nvinfer1::DataType> : StrictEnumCaster<nvinfer1::DataType> {};
template <>
struct type_caster<nvinfer1::DeviceType> : StrictEnumCaster<nvinfer1::DeviceType> {};
template <>
struct type_caster<nvinfer1::DimensionOperation> : StrictEnumCaster<nvinfer1::DimensionOperation> {};
template <>
struct type_caster<nvinfer1::ElementWiseOperation> : StrictEnumCaster<nvinfer1::ElementWiseOperation> {};
template <>
struct type_caster<nvinfer1::EngineCapability> : StrictEnumCaster<nvinfer1::EngineCapability> {};
template <>
struct type_caster<nvinfer1::EngineStat> : StrictEnumCaster<nvinfer1::EngineStat> {};
template <>
struct type_caster<nvinfer1::ErrorCode> : StrictEnumCaster<nvinfer1::ErrorCode> {};
template <>
struct type_caster<nvinfer1::ExecutionContextAllocationStrategy>
    : StrictEnumCaster<nvinfer1::ExecutionContextAllocationStrategy> {};
template <>
struct type_caster<nvinfer1::FillOperation> : StrictEnumCaster<nvinfer1::FillOperation> {};
template <>
struct type_caster<nvinfer1::GatherMode> : StrictEnumCaster<nvinfer1::GatherMode> {};
template <>
struct type_caster<nvinfer1::HardwareCompatibilityLevel> : StrictEnumCaster<nvinfer1::HardwareCompatibilityLevel> {};
template <>
struct type_caster<nvinfer1::ILogger::Severity> : StrictEnumCaster<nvinfer1::ILogger::Severity> {};
template <>
struct type_caster<nvinfer1::InterpolationMode> : StrictEnumCaster<nvinfer1::InterpolationMode> {};
template <>
struct type_caster<nvinfer1::KVCacheMode> : StrictEnumCaster<nvinfer1::KVCacheMode> {};
template <>
struct type_caster<nvinfer1::LayerInformationFormat> : StrictEnumCaster<nvinfer1::LayerInformationFormat> {};
template <>
struct type_caster<nvinfer1::LayerType> : StrictEnumCaster<nvinfer1::LayerType> {};
template <>
struct type_caster<nvinfer1::LoopOutput> : StrictEnumCaster<nvinfer1::LoopOutput> {};
template <>
struct type_caster<nvinfer1::MatrixOperation> : StrictEnumCaster<nvinfer1::MatrixOperation> {};
template <>
struct type_caster<nvinfer1::MemoryPoolType> : StrictEnumCaster<nvinfer1::MemoryPoolType> {};
template <>
struct type_caster<nvinfer1::MoEActType> : StrictEnumCaster<nvinfer1::MoEActType> {};
template <>
struct type_caster<nvinfer1::NetworkDefinitionCreationFlag>
    : StrictEnumCaster<nvinfer1::NetworkDefinitionCreationFlag> {};
template <>
struct type_caster<nvinfer1::PaddingMode> : StrictEnumCaster<nvinfer1::PaddingMode> {};
template <>
struct type_caster<nvinfer1::PluginArgDataType> : StrictEnumCaster<nvinfer1::PluginArgDataType> {};
template <>
struct type_caster<nvinfer1::PluginArgType> : StrictEnumCaster<nvinfer1::PluginArgType> {};
template <>
struct type_caster<nvinfer1::PluginCapabilityType> : StrictEnumCaster<nvinfer1::PluginCapabilityType> {};
template <>
struct type_caster<nvinfer1::PluginCreatorVersion> : StrictEnumCaster<nvinfer1::PluginCreatorVersion> {};
template <>
struct type_caster<nvinfer1::PluginFieldType> : StrictEnumCaster<nvinfer1::PluginFieldType> {};
template <>
struct type_caster<nvinfer1::PoolingType> : StrictEnumCaster<nvinfer1::PoolingType> {};
template <>
struct type_caster<nvinfer1::PreviewFeature> : StrictEnumCaster<nvinfer1::PreviewFeature> {};
template <>
struct type_caster<nvinfer1::ProfilingVerbosity> : StrictEnumCaster<nvinfer1::ProfilingVerbosity> {};
template <>
struct type_caster<nvinfer1::QuantizationFlag> : StrictEnumCaster<nvinfer1::QuantizationFlag> {};
template <>
struct type_caster<nvinfer1::QuickPluginCreationRequest> : StrictEnumCaster<nvinfer1::QuickPluginCreationRequest> {};
template <>
struct type_caster<nvinfer1::ReduceOperation> : StrictEnumCaster<nvinfer1::ReduceOperation> {};
template <>
struct type_caster<nvinfer1::ResizeCoordinateTransformation>
    : StrictEnumCaster<nvinfer1::ResizeCoordinateTransformation> {};
template <>
struct type_caster<nvinfer1::ResizeRoundMode> : StrictEnumCaster<nvinfer1::ResizeRoundMode> {};
template <>
struct type_caster<nvinfer1::ResizeSelector> : StrictEnumCaster<nvinfer1::ResizeSelector> {};
template <>
struct type_caster<nvinfer1::RuntimePlatform> : StrictEnumCaster<nvinfer1::RuntimePlatform> {};
template <>
struct type_caster<nvinfer1::SampleMode> : StrictEnumCaster<nvinfer1::SampleMode> {};
template <>
struct type_caster<nvinfer1::ScaleMode> : StrictEnumCaster<nvinfer1::ScaleMode> {};
template <>
struct type_caster<nvinfer1::ScatterMode> : StrictEnumCaster<nvinfer1::ScatterMode> {};
template <>
struct type_caster<nvinfer1::SeekPosition> : StrictEnumCaster<nvinfer1::SeekPosition> {};
template <>
struct type_caster<nvinfer1::SerializationFlag> : StrictEnumCaster<nvinfer1::SerializationFlag> {};
template <>
struct type_caster<nvinfer1::TacticSource> : StrictEnumCaster<nvinfer1::TacticSource> {};
template <>
struct type_caster<nvinfer1::TempfileControlFlag> : StrictEnumCaster<nvinfer1::TempfileControlFlag> {};
template <>
struct type_caster<nvinfer1::TensorFormat> : StrictEnumCaster<nvinfer1::TensorFormat> {};
template <>
struct type_caster<nvinfer1::TensorIOMode> : StrictEnumCaster<nvinfer1::TensorIOMode> {};
template <>
struct type_caster<nvinfer1::TensorLocation> : StrictEnumCaster<nvinfer1::TensorLocation> {};
template <>
struct type_caster<nvinfer1::TensorRTPhase> : StrictEnumCaster<nvinfer1::TensorRTPhase> {};
template <>
struct type_caster<nvinfer1::TilingOptimizationLevel> : StrictEnumCaster<nvinfer1::TilingOptimizationLevel> {};
template <>
struct type_caster<nvinfer1::TopKOperation> : StrictEnumCaster<nvinfer1::TopKOperation> {};
template <>
struct type_caster<nvinfer1::TripLimit> : StrictEnumCaster<nvinfer1::TripLimit> {};
template <>
struct type_caster<nvinfer1::UnaryOperation> : StrictEnumCaster<nvinfer1::UnaryOperation> {};
template <>
struct type_caster<nvinfer1::WeightsRole> : StrictEnumCaster<nvinfer1::WeightsRole> {};
template <>
struct type_caster<nvonnxparser::ErrorCode> : StrictEnumCaster<nvonnxparser::ErrorCode> {};
template <>
struct type_caster<nvonnxparser::OnnxParserFlag> : StrictEnumCaster<nvonnxparser::OnnxParserFlag> {};

}  // namespace nanobind::detail
