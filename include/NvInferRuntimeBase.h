// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What everything else is made of: types, dimensions, versions, errors.

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
//! The EnumCount of T; every enum specializes it.
template <typename T>
struct EnumMaxImpl;
//! A number of enumerators.
template <int32_t kCOUNT>
struct EnumCount {
  static constexpr int32_t kVALUE = kCOUNT;
};
}  // namespace impl

//! Number of enumerators of T, as the API counts them: different values; of the parser's ErrorCode all but the last.
template <typename T>
constexpr inline int32_t EnumMax() noexcept {
  return impl::EnumMaxImpl<T>::kVALUE;
}

//! Type of a tensor's or weight's elements.
enum class DataType : int32_t {
  kFLOAT = 0,  //!< 32-bit IEEE float.
  kHALF = 1,   //!< 16-bit IEEE float.
  kINT8 = 2,   //!< Signed 8-bit integer; as a quantized type it stands for a value times a scale.
  kINT32 = 3,  //!< Signed 32-bit integer.
  kBOOL = 4,   //!< One byte: 0 is false, 1 is true.
  kUINT8 = 5,  //!< Unsigned 8-bit integer; at a network's inputs and outputs only, converted by a cast.
  kFP8 = 6,    //!< 8-bit float: 4 bits of exponent, 3 of mantissa, no infinities.
  kBF16 = 7,   //!< 16-bit float with the exponent of a 32-bit one.
  kINT64 = 8,  //!< Signed 64-bit integer.
  kINT4 = 9,   //!< Signed 4-bit integer, two in a byte, the first in the lower half.
  kFP4 = 10,   //!< 4-bit float: 2 bits of exponent, 1 of mantissa, two in a byte.
  kE8M0 = 11,  //!< 8 bits of exponent and nothing else: a power of two, used as a block scale.
};

template <>
struct impl::EnumMaxImpl<DataType> : impl::EnumCount<12> {};

//! Role of a tensor of an engine.
enum class TensorIOMode : int32_t {
  kNONE = 0,    //!< Neither input nor output, or not a tensor of the engine.
  kINPUT = 1,   //!< Input.
  kOUTPUT = 2,  //!< Output.
};

template <>
struct impl::EnumMaxImpl<TensorIOMode> : impl::EnumCount<3> {};

//! Extents of a tensor, outermost first. An extent of -1 is not known yet; nbDims of -1 marks an invalid value.
class Dims64 {
 public:
  //! Most dimensions that a tensor can have.
  static constexpr int32_t MAX_DIMS = 8;

  int32_t nbDims;       //!< Number of dimensions: 0 to MAX_DIMS.
  int64_t d[MAX_DIMS];  //!< Their extents.
};

//! The dimensions of a tensor.
using Dims = Dims64;

//! Kind and version of an interface that a program implements.
class InterfaceInfo {
 public:
  InterfaceKind kind;  //!< Name of the kind.
  int32_t major;       //!< Changes when the interface's functions change.
  int32_t minor;       //!< Changes when functions are added.
};

//! Language in which an interface is implemented.
enum class APILanguage : int32_t {
  kCPP = 0,     //!< C++.
  kPYTHON = 1,  //!< Python.
};

template <>
struct impl::EnumMaxImpl<APILanguage> : impl::EnumCount<2> {};

//! Base of the interfaces that programs implement: it tells their kind and version.
class IVersionedInterface {
 public:
  //! Language in which the program implements the interface.
  virtual APILanguage getAPILanguage() const noexcept { return APILanguage::kCPP; }
  //! Kind and version of the interface; do not override it.
  virtual InterfaceInfo getInterfaceInfo() const noexcept = 0;
  virtual ~IVersionedInterface() noexcept = default;

 protected:
  IVersionedInterface() = default;
  IVersionedInterface(IVersionedInterface const&) = default;
  IVersionedInterface(IVersionedInterface&&) = default;
  IVersionedInterface& operator=(IVersionedInterface const&) & = default;
  IVersionedInterface& operator=(IVersionedInterface&&) & = default;
};

//! Kind of an error, as the error recorder gets it.
enum class ErrorCode : int32_t {
  kSUCCESS = 0,                //!< No error.
  kUNSPECIFIED_ERROR = 1,      //!< None of the other kinds.
  kINTERNAL_ERROR = 2,         //!< A defect of the library.
  kINVALID_ARGUMENT = 3,       //!< An argument that the call does not accept.
  kINVALID_CONFIG = 4,         //!< Settings that contradict each other or the state.
  kFAILED_ALLOCATION = 5,      //!< Not enough memory, of the host or the device.
  kFAILED_INITIALIZATION = 6,  //!< Something that is needed could not be started.
  kFAILED_EXECUTION = 7,       //!< A failure while a network ran.
  kFAILED_COMPUTATION = 8,     //!< A result that is not valid.
  kINVALID_STATE = 9,          //!< The object is not in a state for this call.
  kUNSUPPORTED_STATE = 10,     //!< A combination that the library or the device cannot do.
};

template <>
struct impl::EnumMaxImpl<ErrorCode> : impl::EnumCount<11> {};

namespace v_1_0 {

//! Collects the errors of the objects that it is set on. Its functions may be called by several threads at a time.
class IErrorRecorder : public IVersionedInterface {
 public:
  using ErrorDesc = char const*;
  using RefCount = int32_t;
  static constexpr size_t kMAX_DESC_LENGTH = 127;

  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IErrorRecorder", 1, 0}; }
  IErrorRecorder() = default;
  ~IErrorRecorder() noexcept override = default;
  //! How many errors it holds.
  virtual int32_t getNbErrors() const noexcept = 0;
  //! An error's code; the index counts from the oldest.
  virtual ErrorCode getErrorCode(int32_t errorIdx) const noexcept = 0;
  //! An error's text; the index counts from the oldest.
  virtual ErrorDesc getErrorDesc(int32_t errorIdx) const noexcept = 0;
  //! Whether errors were dropped because it was full.
  virtual bool hasOverflowed() const noexcept = 0;
  //! Forgets all errors.
  virtual void clear() noexcept = 0;
  //! Told of an error, from any thread; the answer says whether it ends what is going on, and Kiln does not read it.
  virtual bool reportError(ErrorCode val, ErrorDesc desc) noexcept = 0;
  //! Counts one more object that reports here.
  virtual RefCount incRefCount() noexcept = 0;
  //! Counts one object less.
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
