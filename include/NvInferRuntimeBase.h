// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// NvInferRuntimeBase.h

#ifndef KILN_NV_INFER_RUNTIME_BASE_H
#define KILN_NV_INFER_RUNTIME_BASE_H

#include <cuda_runtime_api.h>
#include <cstddef>
#include <cstdint>

#include "NvInferVersion.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

//! A version as one number, for comparisons.
#define NV_TENSORRT_VERSION_INT(major, minor, patch) ((major)*10000 + (minor)*100 + (patch)*1)
//! The version of this API as one number: 10.16.0 is 101600.
#define NV_TENSORRT_VERSION NV_TENSORRT_VERSION_INT(NV_TENSORRT_MAJOR, NV_TENSORRT_MINOR, NV_TENSORRT_PATCH)

// Deprecation marks: a program that uses the marked entity gets a warning.
#if defined(__GNUC__)
#define TRT_DEPRECATED __attribute__((deprecated))
#define TRT_DEPRECATED_BECAUSE(REASON) __attribute__((deprecated(REASON)))
#define TRT_DEPRECATED_ENUM __attribute__((deprecated))
#else
#define TRT_DEPRECATED
#define TRT_DEPRECATED_BECAUSE(REASON)
#define TRT_DEPRECATED_ENUM
#endif

// A result that must not be ignored, where the language can say so.
#if __cplusplus >= 201703L
#define TRT_NODISCARD [[nodiscard]]
#define TRT_NODISCARD_BECAUSE(REASON) [[nodiscard]]
#else
#define TRT_NODISCARD
#define TRT_NODISCARD_BECAUSE(REASON)
#endif

// Exported functions are visible from the library that defines them.
#if defined(TENSORRT_BUILD_LIB) && defined(__GNUC__)
#define TENSORRTAPI __attribute__((visibility("default")))
#else
#define TENSORRTAPI
#endif
#define TRTNOEXCEPT
//! A deprecated exported function.
#define TRT_DEPRECATED_API TRT_DEPRECATED TENSORRTAPI

//! Handle of a cuDNN library context; deprecated plugin interfaces pass it.
struct cudnnContext;
//! Handle of a cuBLAS library context; deprecated plugin interfaces pass it.
struct cublasContext;

//! Version of the library that is loaded: NV_TENSORRT_VERSION of the headers that it was built with.
extern "C" TENSORRTAPI int32_t getInferLibVersion() noexcept;

namespace nvinfer1 {

//! One byte of text.
using char_t = char;
//! A character of the zero-terminated strings in this API.
using AsciiChar = char_t;
//! Name of an interface's kind: classes of one kind differ in version only.
using InterfaceKind = char const*;

namespace impl {
//! Holds the number of enumerators of T as kVALUE; every enum specializes it.
template <typename T>
struct EnumMaxImpl;
}  // namespace impl

//! Number of enumerators of T: its values are 0 to EnumMax<T>() - 1.
template <typename T>
constexpr inline int32_t EnumMax() noexcept {
  return impl::EnumMaxImpl<T>::kVALUE;
}

enum class DataType : int32_t {
  kFLOAT = 0,
  kHALF = 1,
  kINT8 = 2,
  kINT32 = 3,
  kBOOL = 4,
  kUINT8 = 5,
  kFP8 = 6,
  kBF16 = 7,
  kINT64 = 8,
  kINT4 = 9,
  kFP4 = 10,
  kE8M0 = 11,
};

namespace impl {
template <>
struct EnumMaxImpl<DataType> {
  static constexpr int32_t kVALUE = 12;
};
}  // namespace impl

enum class TensorIOMode : int32_t {
  kNONE = 0,
  kINPUT = 1,
  kOUTPUT = 2,
};

namespace impl {
template <>
struct EnumMaxImpl<TensorIOMode> {
  static constexpr int32_t kVALUE = 3;
};
}  // namespace impl

class Dims64 {
 public:
  static constexpr int32_t MAX_DIMS = 8;

  int32_t nbDims;
  int64_t d[MAX_DIMS];
};

//! The dimensions of a tensor.
using Dims = Dims64;

class InterfaceInfo {
 public:
  InterfaceKind kind;
  int32_t major;
  int32_t minor;
};

enum class APILanguage : int32_t {
  kCPP = 0,
  kPYTHON = 1,
};

namespace impl {
template <>
struct EnumMaxImpl<APILanguage> {
  static constexpr int32_t kVALUE = 2;
};
}  // namespace impl

class IVersionedInterface {
 public:
  virtual APILanguage getAPILanguage() const noexcept { return APILanguage::kCPP; }
  virtual InterfaceInfo getInterfaceInfo() const noexcept = 0;
  virtual ~IVersionedInterface() noexcept = default;

 protected:
  IVersionedInterface() = default;
  IVersionedInterface(IVersionedInterface const&) = default;
  IVersionedInterface(IVersionedInterface&&) = default;
  IVersionedInterface& operator=(IVersionedInterface const&) & = default;
  IVersionedInterface& operator=(IVersionedInterface&&) & = default;
};

enum class ErrorCode : int32_t {
  kSUCCESS = 0,
  kUNSPECIFIED_ERROR = 1,
  kINTERNAL_ERROR = 2,
  kINVALID_ARGUMENT = 3,
  kINVALID_CONFIG = 4,
  kFAILED_ALLOCATION = 5,
  kFAILED_INITIALIZATION = 6,
  kFAILED_EXECUTION = 7,
  kFAILED_COMPUTATION = 8,
  kINVALID_STATE = 9,
  kUNSUPPORTED_STATE = 10,
};

namespace impl {
template <>
struct EnumMaxImpl<ErrorCode> {
  static constexpr int32_t kVALUE = 11;
};
}  // namespace impl

namespace v_1_0 {

class IErrorRecorder : public IVersionedInterface {
 public:
  using ErrorDesc = char const*;
  using RefCount = int32_t;
  static constexpr size_t kMAX_DESC_LENGTH = 127;

  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IErrorRecorder", 1, 0}; }
  IErrorRecorder() = default;
  ~IErrorRecorder() noexcept override = default;
  virtual int32_t getNbErrors() const noexcept = 0;
  virtual ErrorCode getErrorCode(int32_t errorIdx) const noexcept = 0;
  virtual ErrorDesc getErrorDesc(int32_t errorIdx) const noexcept = 0;
  virtual bool hasOverflowed() const noexcept = 0;
  virtual void clear() noexcept = 0;
  virtual bool reportError(ErrorCode val, ErrorDesc desc) noexcept = 0;
  virtual RefCount incRefCount() noexcept = 0;
  virtual RefCount decRefCount() noexcept = 0;

 protected:
  IErrorRecorder(IErrorRecorder const&) = default;
  IErrorRecorder(IErrorRecorder&&) = default;
  IErrorRecorder& operator=(IErrorRecorder const&) & = default;
  IErrorRecorder& operator=(IErrorRecorder&&) & = default;
};

}  // namespace v_1_0

//! The version in use.
using IErrorRecorder = v_1_0::IErrorRecorder;

}  // namespace nvinfer1

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_NV_INFER_RUNTIME_BASE_H
