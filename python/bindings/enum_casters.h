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

namespace kiln::python {

/// As nanobind's conversion of enums, without those that change the value's type.
template <class T>
struct StrictEnumCaster {
  bool from_python(nanobind::handle src, uint32_t flags, nanobind::detail::cleanup_list* cleanup) noexcept {
    (void)cleanup;
    int64_t result = 0;
    const uint32_t exact = flags & ~static_cast<uint32_t>(nanobind::detail::cast_flags::convert);
    if (!NB_CALL(enum_from_python)(NB_CTX_C(cleanup), &typeid(T), src.ptr(), &result, exact)) return false;
    value = static_cast<T>(result);
    return true;
  }
  static nanobind::handle from_cpp(T src, nanobind::rv_policy, nanobind::detail::cleanup_list* cleanup) noexcept {
    (void)cleanup;
    return NB_CALL(enum_from_cpp)(NB_CTX_C(cleanup), &typeid(T), static_cast<int64_t>(src));
  }
  NB_TYPE_CASTER(T, nanobind::detail::const_name<T>())
};

}  // namespace kiln::python

namespace nanobind::detail {

template <>
struct type_caster<nvinfer1::APILanguage> : kiln::python::StrictEnumCaster<nvinfer1::APILanguage> {};
template <>
struct type_caster<nvinfer1::ActivationType> : kiln::python::StrictEnumCaster<nvinfer1::ActivationType> {};
template <>
struct type_caster<nvinfer1::AllocatorFlag> : kiln::python::StrictEnumCaster<nvinfer1::AllocatorFlag> {};
template <>
struct type_caster<nvinfer1::AttentionNormalizationOp>
    : kiln::python::StrictEnumCaster<nvinfer1::AttentionNormalizationOp> {};
template <>
struct type_caster<nvinfer1::BoundingBoxFormat> : kiln::python::StrictEnumCaster<nvinfer1::BoundingBoxFormat> {};
template <>
struct type_caster<nvinfer1::BuilderFlag> : kiln::python::StrictEnumCaster<nvinfer1::BuilderFlag> {};
template <>
struct type_caster<nvinfer1::CalibrationAlgoType> : kiln::python::StrictEnumCaster<nvinfer1::CalibrationAlgoType> {};
template <>
struct type_caster<nvinfer1::CollectiveOperation> : kiln::python::StrictEnumCaster<nvinfer1::CollectiveOperation> {};
template <>
struct type_caster<nvinfer1::CumulativeOperation> : kiln::python::StrictEnumCaster<nvinfer1::CumulativeOperation> {};
template <>
struct type_caster<nvinfer1::DataType> : kiln::python::StrictEnumCaster<nvinfer1::DataType> {};
template <>
struct type_caster<nvinfer1::DeviceType> : kiln::python::StrictEnumCaster<nvinfer1::DeviceType> {};
template <>
struct type_caster<nvinfer1::DimensionOperation> : kiln::python::StrictEnumCaster<nvinfer1::DimensionOperation> {};
template <>
struct type_caster<nvinfer1::ElementWiseOperation> : kiln::python::StrictEnumCaster<nvinfer1::ElementWiseOperation> {};
template <>
struct type_caster<nvinfer1::EngineCapability> : kiln::python::StrictEnumCaster<nvinfer1::EngineCapability> {};
template <>
struct type_caster<nvinfer1::EngineStat> : kiln::python::StrictEnumCaster<nvinfer1::EngineStat> {};
template <>
struct type_caster<nvinfer1::ErrorCode> : kiln::python::StrictEnumCaster<nvinfer1::ErrorCode> {};
template <>
struct type_caster<nvinfer1::ExecutionContextAllocationStrategy>
    : kiln::python::StrictEnumCaster<nvinfer1::ExecutionContextAllocationStrategy> {};
template <>
struct type_caster<nvinfer1::FillOperation> : kiln::python::StrictEnumCaster<nvinfer1::FillOperation> {};
template <>
struct type_caster<nvinfer1::GatherMode> : kiln::python::StrictEnumCaster<nvinfer1::GatherMode> {};
template <>
struct type_caster<nvinfer1::HardwareCompatibilityLevel>
    : kiln::python::StrictEnumCaster<nvinfer1::HardwareCompatibilityLevel> {};
template <>
struct type_caster<nvinfer1::ILogger::Severity> : kiln::python::StrictEnumCaster<nvinfer1::ILogger::Severity> {};
template <>
struct type_caster<nvinfer1::InterpolationMode> : kiln::python::StrictEnumCaster<nvinfer1::InterpolationMode> {};
template <>
struct type_caster<nvinfer1::KVCacheMode> : kiln::python::StrictEnumCaster<nvinfer1::KVCacheMode> {};
template <>
struct type_caster<nvinfer1::LayerInformationFormat>
    : kiln::python::StrictEnumCaster<nvinfer1::LayerInformationFormat> {};
template <>
struct type_caster<nvinfer1::LayerType> : kiln::python::StrictEnumCaster<nvinfer1::LayerType> {};
template <>
struct type_caster<nvinfer1::LoopOutput> : kiln::python::StrictEnumCaster<nvinfer1::LoopOutput> {};
template <>
struct type_caster<nvinfer1::MatrixOperation> : kiln::python::StrictEnumCaster<nvinfer1::MatrixOperation> {};
template <>
struct type_caster<nvinfer1::MemoryPoolType> : kiln::python::StrictEnumCaster<nvinfer1::MemoryPoolType> {};
template <>
struct type_caster<nvinfer1::MoEActType> : kiln::python::StrictEnumCaster<nvinfer1::MoEActType> {};
template <>
struct type_caster<nvinfer1::NetworkDefinitionCreationFlag>
    : kiln::python::StrictEnumCaster<nvinfer1::NetworkDefinitionCreationFlag> {};
template <>
struct type_caster<nvinfer1::PaddingMode> : kiln::python::StrictEnumCaster<nvinfer1::PaddingMode> {};
template <>
struct type_caster<nvinfer1::PluginArgDataType> : kiln::python::StrictEnumCaster<nvinfer1::PluginArgDataType> {};
template <>
struct type_caster<nvinfer1::PluginArgType> : kiln::python::StrictEnumCaster<nvinfer1::PluginArgType> {};
template <>
struct type_caster<nvinfer1::PluginCapabilityType> : kiln::python::StrictEnumCaster<nvinfer1::PluginCapabilityType> {};
template <>
struct type_caster<nvinfer1::PluginCreatorVersion> : kiln::python::StrictEnumCaster<nvinfer1::PluginCreatorVersion> {};
template <>
struct type_caster<nvinfer1::PluginFieldType> : kiln::python::StrictEnumCaster<nvinfer1::PluginFieldType> {};
template <>
struct type_caster<nvinfer1::PoolingType> : kiln::python::StrictEnumCaster<nvinfer1::PoolingType> {};
template <>
struct type_caster<nvinfer1::PreviewFeature> : kiln::python::StrictEnumCaster<nvinfer1::PreviewFeature> {};
template <>
struct type_caster<nvinfer1::ProfilingVerbosity> : kiln::python::StrictEnumCaster<nvinfer1::ProfilingVerbosity> {};
template <>
struct type_caster<nvinfer1::QuantizationFlag> : kiln::python::StrictEnumCaster<nvinfer1::QuantizationFlag> {};
template <>
struct type_caster<nvinfer1::QuickPluginCreationRequest>
    : kiln::python::StrictEnumCaster<nvinfer1::QuickPluginCreationRequest> {};
template <>
struct type_caster<nvinfer1::ReduceOperation> : kiln::python::StrictEnumCaster<nvinfer1::ReduceOperation> {};
template <>
struct type_caster<nvinfer1::ResizeCoordinateTransformation>
    : kiln::python::StrictEnumCaster<nvinfer1::ResizeCoordinateTransformation> {};
template <>
struct type_caster<nvinfer1::ResizeRoundMode> : kiln::python::StrictEnumCaster<nvinfer1::ResizeRoundMode> {};
template <>
struct type_caster<nvinfer1::ResizeSelector> : kiln::python::StrictEnumCaster<nvinfer1::ResizeSelector> {};
template <>
struct type_caster<nvinfer1::RuntimePlatform> : kiln::python::StrictEnumCaster<nvinfer1::RuntimePlatform> {};
template <>
struct type_caster<nvinfer1::SampleMode> : kiln::python::StrictEnumCaster<nvinfer1::SampleMode> {};
template <>
struct type_caster<nvinfer1::ScaleMode> : kiln::python::StrictEnumCaster<nvinfer1::ScaleMode> {};
template <>
struct type_caster<nvinfer1::ScatterMode> : kiln::python::StrictEnumCaster<nvinfer1::ScatterMode> {};
template <>
struct type_caster<nvinfer1::SeekPosition> : kiln::python::StrictEnumCaster<nvinfer1::SeekPosition> {};
template <>
struct type_caster<nvinfer1::SerializationFlag> : kiln::python::StrictEnumCaster<nvinfer1::SerializationFlag> {};
template <>
struct type_caster<nvinfer1::TacticSource> : kiln::python::StrictEnumCaster<nvinfer1::TacticSource> {};
template <>
struct type_caster<nvinfer1::TempfileControlFlag> : kiln::python::StrictEnumCaster<nvinfer1::TempfileControlFlag> {};
template <>
struct type_caster<nvinfer1::TensorFormat> : kiln::python::StrictEnumCaster<nvinfer1::TensorFormat> {};
template <>
struct type_caster<nvinfer1::TensorIOMode> : kiln::python::StrictEnumCaster<nvinfer1::TensorIOMode> {};
template <>
struct type_caster<nvinfer1::TensorLocation> : kiln::python::StrictEnumCaster<nvinfer1::TensorLocation> {};
template <>
struct type_caster<nvinfer1::TensorRTPhase> : kiln::python::StrictEnumCaster<nvinfer1::TensorRTPhase> {};
template <>
struct type_caster<nvinfer1::TilingOptimizationLevel>
    : kiln::python::StrictEnumCaster<nvinfer1::TilingOptimizationLevel> {};
template <>
struct type_caster<nvinfer1::TopKOperation> : kiln::python::StrictEnumCaster<nvinfer1::TopKOperation> {};
template <>
struct type_caster<nvinfer1::TripLimit> : kiln::python::StrictEnumCaster<nvinfer1::TripLimit> {};
template <>
struct type_caster<nvinfer1::UnaryOperation> : kiln::python::StrictEnumCaster<nvinfer1::UnaryOperation> {};
template <>
struct type_caster<nvinfer1::WeightsRole> : kiln::python::StrictEnumCaster<nvinfer1::WeightsRole> {};
template <>
struct type_caster<nvonnxparser::ErrorCode> : kiln::python::StrictEnumCaster<nvonnxparser::ErrorCode> {};
template <>
struct type_caster<nvonnxparser::OnnxParserFlag> : kiln::python::StrictEnumCaster<nvonnxparser::OnnxParserFlag> {};

}  // namespace nanobind::detail
