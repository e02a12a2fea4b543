/// NVIDIA's library of deep learning by its backend API, through declarations of our own, loaded when first needed.
/// cudnn_header_test.cc compares them with NVIDIA's where its header is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backend/cuda/device/driver_types.h"
#include "base/error.h"

namespace kiln::cuda {

struct CudnnContext;  ///< theirs

/// cudnnDataType_t
enum CudnnDataType : int { kCudnnF32 = 0, kCudnnF16 = 2, kCudnnBF16 = 9 };
/// cudnnConvolutionMode_t
enum CudnnConvolutionMode : int { kCudnnCorrelation = 1 };
/// cudnnPointwiseMode_t
enum CudnnPointwiseMode : int { kCudnnAdd = 0, kCudnnRelu = 100 };
/// cudnnBackendHeurMode_t
enum CudnnHeuristic : int { kCudnnModeB = 1, kCudnnModeFallback = 2, kCudnnModeA = 3 };
/// cudnnBackendNumericalNote_t
enum CudnnNumericalNote : int {
  kCudnnTensorCore = 0,
  kCudnnDownConverts = 1,
  kCudnnReducedReduction = 2,
  kCudnnFft = 3,
  kCudnnNondeterministic = 4,
  kCudnnWinograd = 5,
  kCudnnWinograd4 = 6,
  kCudnnWinograd6 = 7,
  kCudnnWinograd13 = 8
};
/// cudnnBackendBehaviorNote_t
enum CudnnBehaviorNote : int { kCudnnCompilesAtRunTime = 0 };

/// cudnnBackendAttributeType_t
enum CudnnType : int {
  kCudnnHandle = 0,
  kCudnnTypeOfData = 1,
  kCudnnBool = 2,
  kCudnnInt64 = 3,
  kCudnnFloat = 4,
  kCudnnPointer = 6,
  kCudnnTypeOfConvolution = 7,
  kCudnnTypeOfHeuristic = 8,
  kCudnnTypeOfKnob = 9,
  kCudnnTypeOfNumericalNote = 11,
  kCudnnTypeOfPointwise = 14,
  kCudnnDescriptor = 15,
  kCudnnTypeOfBehaviorNote = 19,
  kCudnnChar = 24
};

/// cudnnBackendDescriptorType_t
enum CudnnKind : int {
  kCudnnPointwise = 0,
  kCudnnConvolution = 1,
  kCudnnEngine = 2,
  kCudnnEngineConfig = 3,
  kCudnnEngineHeuristic = 4,
  kCudnnExecutionPlan = 5,
  kCudnnKnobChoice = 7,
  kCudnnConvolutionForward = 10,
  kCudnnPointwiseOperation = 13,
  kCudnnOperationGraph = 15,
  kCudnnVariantPack = 16,
  kCudnnTensor = 17,
  kCudnnDeviceProperties = 38
};

/// cudnnBackendAttributeName_t
enum CudnnAttribute : int {
  kPointwiseMode = 0,
  kPointwisePrecision = 1,
  kConvolutionPrecision = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPostPads = 104,
  kConvolutionPrePads = 105,
  kConvolutionAxes = 106,
  kHeuristicMode = 200,
  kHeuristicGraph = 201,
  kHeuristicResults = 202,
  kHeuristicDevice = 204,
  kConfigEngine = 300,
  kConfigKnobs = 302,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspaceBytes = 402,
  kPlanDevice = 407,
  kKnobType = 600,
  kKnobValue = 601,
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kPointwiseDescriptor = 750,
  kPointwiseX = 751,
  kPointwiseB = 752,
  kPointwiseY = 753,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorExtents = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorIsVirtual = 907,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineGraph = 1300,
  kEngineIndex = 1301,
  kEngineNumericalNotes = 1303,
  kEngineBehaviorNotes = 1305,
  kEngineDevice = 1307,
  kDeviceJson = 2702
};

/// Its functions, named as there without `cudnn`; results are cudnnStatus_t, 0 for success.
struct Cudnn {
  size_t (*get_version)();
  const char* (*get_error_string)(int status);
  void (*get_last_error_string)(char* message, size_t most);
  int (*create)(CudnnContext** context);
  int (*destroy)(CudnnContext* context);
  int (*set_stream)(CudnnContext* context, StreamHandle stream);
  int (*create_descriptor)(int kind, void** descriptor);
  int (*destroy_descriptor)(void* descriptor);
  int (*finalize)(void* descriptor);
  int (*set_attribute)(void* descriptor, int attribute, int type, int64_t count, const void* elements);
  int (*get_attribute)(void* descriptor, int attribute, int type, int64_t most, int64_t* count, void* elements);
  int (*execute)(CudnnContext* context, void* plan, void* variant_pack);

  std::string path;     ///< where it was found
  int64_t version = 0;  ///< 91400 is 9.14.0

  /// The process's, searched once: KILN_CUDNN (a path), then where device/cuda_paths.h says. kNotFound says where it
  /// looked.
  static Result<Ref<const Cudnn>> instance();

  /// Success, or what failed in the library's words.
  template <class... Parts>
  Status check(int status, const Parts&... what) const {
    return status == 0 ? Status() : failure(status, str(what...));
  }

 private:
  Status failure(int status, const std::string& what) const;
};

/// One of the objects that the backend API is made of. The library outlives it.
class CudnnObject {
 public:
  static Result<CudnnObject> make(const Cudnn& library, CudnnKind kind);
  CudnnObject(CudnnObject&& other) noexcept : library_(other.library_), handle_(other.handle_) {
    other.handle_ = nullptr;
  }
  CudnnObject& operator=(CudnnObject&& other) noexcept {
    std::swap(library_, other.library_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~CudnnObject() {
    if (handle_) library_->destroy_descriptor(handle_);
  }

  void* handle() const { return handle_; }
  template <class T>
  Status set(CudnnAttribute attribute, CudnnType type, const T& value) {
    return set(attribute, type, 1, &value);
  }
  Status set(CudnnAttribute attribute, CudnnType type, int64_t count, const void* elements) {
    return library_->check(library_->set_attribute(handle_, attribute, type, count, elements), "setting attribute ",
                           static_cast<int>(attribute));
  }
  Status set(CudnnAttribute attribute, const CudnnObject& object) {
    return set(attribute, kCudnnDescriptor, 1, &object.handle_);
  }
  Status finalize() { return library_->check(library_->finalize(handle_), "finalizing"); }
  /// How many elements were there, of which at most `most` are written.
  Result<int64_t> get(CudnnAttribute attribute, CudnnType type, int64_t most, void* elements) const;

 private:
  CudnnObject(const Cudnn& library, void* handle) : library_(&library), handle_(handle) {}
  const Cudnn* library_;
  void* handle_;
};

/// "9.14.0"
std::string version_text(const Cudnn& library);

}  // namespace kiln::cuda
