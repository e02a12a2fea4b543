// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The run side of the API: runtimes, engines, execution contexts, refitters; the interfaces that programs implement;
// plugins of version 3.

#ifndef KILN_NV_INFER_RUNTIME_H
#define KILN_NV_INFER_RUNTIME_H

#include "NvInferImpl.h"
#include "NvInferPluginBase.h"
#include "NvInferRuntimeCommon.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace nvinfer1 {

class IPluginFactory;
class ILogger;
//! Bits 1 << AllocatorFlag.
using AllocatorFlags = uint32_t;

}  // namespace nvinfer1

//! The registry that this process shares: where plugins are registered and looked up. Never null.
extern "C" TENSORRTAPI nvinfer1::IPluginRegistry* getPluginRegistry() noexcept;
//! The logger that the first builder, runtime or refitter was created with; null before that.
extern "C" TENSORRTAPI nvinfer1::ILogger* getLogger() noexcept;
//! Major version of the library that is loaded.
extern "C" TENSORRTAPI int32_t getInferLibMajorVersion() noexcept;
//! Minor version of the library that is loaded.
extern "C" TENSORRTAPI int32_t getInferLibMinorVersion() noexcept;
//! Patch version of the library that is loaded.
extern "C" TENSORRTAPI int32_t getInferLibPatchVersion() noexcept;
//! Build number of the library that is loaded.
extern "C" TENSORRTAPI int32_t getInferLibBuildVersion() noexcept;
//! Creates a runtime for headers of the given version; call nvinfer1::createInferRuntime instead.
extern "C" TENSORRTAPI void* createInferRuntime_INTERNAL(void* logger, int32_t version) noexcept;
//! Creates a refitter for headers of the given version; call nvinfer1::createInferRefitter instead.
extern "C" TENSORRTAPI void* createInferRefitter_INTERNAL(void* engine, void* logger, int32_t version) noexcept;

namespace nvinfer1 {

//! What an allocator is told about a request; a bit number in AllocatorFlags.
enum class AllocatorFlag : int32_t {
  kRESIZABLE = 0,  //!< The memory may later be passed to IGpuAllocator::reallocate.
};

template <>
struct impl::EnumMaxImpl<AllocatorFlag> : impl::EnumCount<1> {};

//! Kind of processor that a layer runs on.
enum class DeviceType : int32_t {
  kGPU = 0,  //!< The GPU; in Kiln also the CPU, where there is no GPU.
  kDLA = 1,  //!< A deep learning accelerator of an embedded system.
};

template <>
struct impl::EnumMaxImpl<DeviceType> : impl::EnumCount<2> {};

//! Where kernels may come from; a bit number in TacticSources.
enum class TacticSource : int32_t {
  kCUBLAS TRT_DEPRECATED_ENUM = 0,     //!< cuBLAS. Deprecated: off by default; nothing replaces it.
  kCUBLAS_LT TRT_DEPRECATED_ENUM = 1,  //!< cuBLASLt; until sources are set Kiln times it, too. Deprecated.
  kCUDNN TRT_DEPRECATED_ENUM = 2,      //!< cuDNN. Deprecated: off by default; nothing replaces it.
  kEDGE_MASK_CONVOLUTIONS = 3,         //!< Convolutions by masks at the edges.
  kJIT_CONVOLUTIONS = 4,               //!< Convolutions compiled when the engine is built.
};

template <>
struct impl::EnumMaxImpl<TacticSource> : impl::EnumCount<5> {};

//! How a runtime may store libraries that a plan holds; a bit number in TempfileControlFlags.
enum class TempfileControlFlag : int32_t {
  kALLOW_IN_MEMORY_FILES = 0,  //!< As files in memory.
  kALLOW_TEMPORARY_FILES = 1,  //!< As files in the temporary directory.
};

template <>
struct impl::EnumMaxImpl<TempfileControlFlag> : impl::EnumCount<2> {};

//! Base of the objects that the library creates: the program holds pointers to them and deletes them.
class INoCopy {
 protected:
  INoCopy() = default;
  virtual ~INoCopy() noexcept = default;
  INoCopy(INoCopy const& other) = delete;
  INoCopy& operator=(INoCopy const& other) = delete;
  INoCopy(INoCopy&& other) = delete;
  INoCopy& operator=(INoCopy&& other) = delete;
};

//! An array of constants. The library does not copy it unless it says so: it must live until the network is built.
class Weights {
 public:
  DataType type;       //!< Type of the elements.
  void const* values;  //!< The elements, or null if count is 0.
  int64_t count;       //!< Number of elements.
};

//! Receives messages. May be called by several threads at a time.
class ILogger {
 public:
  //! How serious a message is; smaller is more serious.
  enum class Severity : int32_t {
    kINTERNAL_ERROR = 0,  //!< A defect of the library; the process should not go on.
    kERROR = 1,           //!< A call has failed.
    kWARNING = 2,         //!< Something may be wrong or slow, and the library goes on.
    kINFO = 3,            //!< Progress.
    kVERBOSE = 4,         //!< Details for finding out why.
  };

  //! Receives a zero-terminated message; it is valid during the call only.
  virtual void log(Severity severity, AsciiChar const* msg) noexcept = 0;
  ILogger() = default;
  virtual ~ILogger() noexcept = default;

 protected:
  ILogger(ILogger const&) = default;
  ILogger(ILogger&&) = default;
  ILogger& operator=(ILogger const&) & = default;
  ILogger& operator=(ILogger&&) & = default;
};

template <>
struct impl::EnumMaxImpl<ILogger::Severity> : impl::EnumCount<5> {};

//! Bytes that the library hands out, as a plan. The program deletes it.
class IHostMemory : public INoCopy {
 public:
  virtual ~IHostMemory() noexcept = default;
  //! The bytes; null if there are none.
  void* data() const noexcept { return mImpl->data(); }
  //! Number of bytes.
  size_t size() const noexcept { return mImpl->size(); }
  //! Type of the elements: kINT8 for a plan.
  DataType type() const noexcept { return mImpl->type(); }

 protected:
  apiv::VHostMemory* mImpl;
};

namespace v_1_0 {

//! Gives the library device memory. May be called by several threads at a time.
class IGpuAllocator : public IVersionedInterface {
 public:
  //! Memory of a size in bytes at an alignment, which is a power of two; null if there is none. Deprecated: use
  //! allocateAsync.
  TRT_DEPRECATED virtual void* allocate(uint64_t size, uint64_t alignment, AllocatorFlags flags) noexcept = 0;
  ~IGpuAllocator() noexcept override = default;
  IGpuAllocator() = default;
  //! Memory at an address anew, in another size, with what it held; null, and it stays, if that cannot be.
  virtual void* reallocate(void*, uint64_t, uint64_t) noexcept { return nullptr; }
  //! Takes memory back; false if it is not its own. Deprecated: use deallocateAsync.
  TRT_DEPRECATED virtual bool deallocate(void* memory) noexcept = 0;
  //! Memory that work on the stream may use from now on; Kiln calls this one.
  virtual void* allocateAsync(uint64_t size, uint64_t alignment, AllocatorFlags flags, cudaStream_t) noexcept {
    return allocate(size, alignment, flags);
  }
  //! Takes memory back once the work that is now on the stream is done.
  virtual bool deallocateAsync(void* memory, cudaStream_t) noexcept { return deallocate(memory); }
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IGpuAllocator", 1, 0}; }

 protected:
  IGpuAllocator(IGpuAllocator const&) = default;
  IGpuAllocator(IGpuAllocator&&) = default;
  IGpuAllocator& operator=(IGpuAllocator const&) & = default;
  IGpuAllocator& operator=(IGpuAllocator&&) & = default;
};

}  // namespace v_1_0

//! The version in use.
using IGpuAllocator = v_1_0::IGpuAllocator;

namespace v_1_0 {

//! An allocator whose memory is ordered by streams.
class IGpuAsyncAllocator : public IGpuAllocator {
 public:
  IGpuAsyncAllocator() = default;
  ~IGpuAsyncAllocator() noexcept override = default;
  void* allocateAsync(uint64_t size, uint64_t alignment, AllocatorFlags flags, cudaStream_t) noexcept override = 0;
  bool deallocateAsync(void* memory, cudaStream_t) noexcept override = 0;
  //! allocateAsync on the default stream. Deprecated.
  TRT_DEPRECATED void* allocate(uint64_t size, uint64_t alignment, AllocatorFlags flags) noexcept override {
    return allocateAsync(size, alignment, flags, nullptr);
  }
  //! deallocateAsync on the default stream. Deprecated.
  TRT_DEPRECATED bool deallocate(void* memory) noexcept override { return deallocateAsync(memory, nullptr); }
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IGpuAllocator", 1, 0}; }
};

}  // namespace v_1_0

//! The version in use.
using IGpuAsyncAllocator = v_1_0::IGpuAsyncAllocator;

namespace v_1_0 {

//! Reads a plan in order. Its successor is IStreamReaderV2.
class IStreamReader : public IVersionedInterface {
 public:
  ~IStreamReader() noexcept override = default;
  IStreamReader() = default;
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IStreamReader", 1, 0}; }
  //! Gives at most `nbBytes` of the next bytes; answers how many: 0 at the end, negative on an error.
  virtual int64_t read(void* destination, int64_t nbBytes) = 0;

 protected:
  IStreamReader(IStreamReader const&) = default;
  IStreamReader(IStreamReader&&) = default;
  IStreamReader& operator=(IStreamReader const&) & = default;
  IStreamReader& operator=(IStreamReader&&) & = default;
};

}  // namespace v_1_0

//! The version in use.
using IStreamReader = v_1_0::IStreamReader;

//! Where an offset of a stream reader counts from.
enum class SeekPosition : int32_t {
  kSET = 0,  //!< The beginning.
  kCUR = 1,  //!< The current position.
  kEND = 2,  //!< The end.
};

namespace v_1_0 {

//! Reads a plan from any position, to host or device memory.
class IStreamReaderV2 : public IVersionedInterface {
 public:
  ~IStreamReaderV2() noexcept override = default;
  IStreamReaderV2() = default;
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IStreamReaderV2", 1, 0}; }
  //! Gives at most `nbBytes` of the next bytes; answers how many: 0 at the end, negative on an error.
  virtual int64_t read(void* destination, int64_t nbBytes, cudaStream_t stream) noexcept = 0;
  //! Goes on reading somewhere else; false if that cannot be. Kiln reads forward only.
  virtual bool seek(int64_t offset, SeekPosition where) noexcept = 0;

 protected:
  IStreamReaderV2(IStreamReaderV2 const&) = default;
  IStreamReaderV2(IStreamReaderV2&&) = default;
  IStreamReaderV2& operator=(IStreamReaderV2 const&) & = default;
  IStreamReaderV2& operator=(IStreamReaderV2&&) & = default;
};

}  // namespace v_1_0

//! The version in use.
using IStreamReaderV2 = v_1_0::IStreamReaderV2;

namespace v_1_0 {

//! Takes a plan's bytes in order.
class IStreamWriter : public IVersionedInterface {
 public:
  ~IStreamWriter() noexcept override = default;
  IStreamWriter() = default;
  InterfaceInfo getInterfaceInfo() const noexcept final { return InterfaceInfo{"IStreamWriter", 1, 0}; }
  //! Takes bytes and answers how many it took; less than 1 ends the writing with an error.
  virtual int64_t write(void const* data, int64_t nbBytes) = 0;

 protected:
  IStreamWriter(IStreamWriter const&) = default;
  IStreamWriter(IStreamWriter&&) = default;
  IStreamWriter& operator=(IStreamWriter const&) & = default;
  IStreamWriter& operator=(IStreamWriter&&) & = default;
};

}  // namespace v_1_0

//! The version in use.
using IStreamWriter = v_1_0::IStreamWriter;

namespace v_1_0 {

//! Gives memory for an output whose size is known only when it is computed, and learns its shape.
class IOutputAllocator : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IOutputAllocator", 1, 0}; }
  //! Memory for an output of `size` bytes, which may be what it had; null if there is none. Deprecated: use
  //! reallocateOutputAsync.
  TRT_DEPRECATED virtual void* reallocateOutput(char const* /*tensorName*/, void* /*currentMemory*/, uint64_t /*size*/,
                                                uint64_t /*alignment*/) noexcept {
    return nullptr;
  }
  //! Memory for an output of `size` bytes, asked at each enqueue, on whose stream it is written; null stops the
  //! enqueue.
  virtual void* reallocateOutputAsync(char const* tensorName, void* currentMemory, uint64_t size, uint64_t alignment,
                                      cudaStream_t) {
    return reallocateOutput(tensorName, currentMemory, size, alignment);
  }
  //! Told of the extents that the output will have, before it is written.
  virtual void notifyShape(char const* tensorName, Dims const& dims) noexcept = 0;
};

}  // namespace v_1_0

//! The version in use.
using IOutputAllocator = v_1_0::IOutputAllocator;

//! Which memory holds a tensor.
enum class TensorLocation : int32_t {
  kDEVICE = 0,  //!< That of the device.
  kHOST = 1,    //!< That of the host: shape tensors.
};

template <>
struct impl::EnumMaxImpl<TensorLocation> : impl::EnumCount<2> {};

namespace v_1_0 {

//! Receives the values of tensors that are marked for debugging.
class IDebugListener : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"IDebugListener", 1, 0}; }
  //! Gets a debug tensor's elements in linear order, valid during the call; false ends the run.
  virtual bool processDebugTensor(void const* addr, TensorLocation location, DataType type, Dims const& shape,
                                  char const* name, cudaStream_t stream) = 0;
  ~IDebugListener() noexcept override = default;
};

}  // namespace v_1_0

//! The version in use.
using IDebugListener = v_1_0::IDebugListener;

namespace v_1_0 {

//! Receives the time of every layer of an execution.
class IProfiler {
 public:
  //! Told of the time that one layer took in a run, in milliseconds. A loop or a conditional is told once a run, with
  //! the time of all that ran inside it.
  virtual void reportLayerTime(char const* layerName, float ms) noexcept = 0;
  virtual ~IProfiler() noexcept {}
};

}  // namespace v_1_0

//! The version in use.
using IProfiler = v_1_0::IProfiler;

//! An expression for an extent of a tensor, made by IExprBuilder.
class IDimensionExpr : public INoCopy {
 public:
  //! Whether its value is known while the network is built.
  bool isConstant() const noexcept { return mImpl->isConstant(); }
  //! The value of a constant; INT64_MIN for another expression.
  int64_t getConstantValue() const noexcept { return mImpl->getConstantValue(); }

 protected:
  virtual ~IDimensionExpr() noexcept = default;

 public:
  //! Whether declareSizeTensor made it.
  bool isSizeTensor() const noexcept { return mImpl->isSizeTensor(); }

 protected:
  apiv::VDimensionExpr* mImpl;
};

//! Operation on two dimension expressions.
enum class DimensionOperation : int32_t {
  kSUM = 0,        //!< a + b.
  kPROD = 1,       //!< a * b.
  kMAX = 2,        //!< The larger of a and b.
  kMIN = 3,        //!< The smaller of a and b.
  kSUB = 4,        //!< a - b.
  kEQUAL = 5,      //!< 1 if a equals b, else 0.
  kLESS = 6,       //!< 1 if a is less than b, else 0.
  kFLOOR_DIV = 7,  //!< a / b, rounded down.
  kCEIL_DIV = 8,   //!< a / b, rounded up.
};

template <>
struct impl::EnumMaxImpl<DimensionOperation> : impl::EnumCount<9> {};

//! Makes expressions for a plugin's output dimensions; it owns them.
class IExprBuilder : public INoCopy {
 public:
  //! A number.
  IDimensionExpr const* constant(int64_t value) noexcept { return mImpl->constant(value); }
  //! An operation on two expressions of this builder; null for one that there is not.
  IDimensionExpr const* operation(DimensionOperation op, IDimensionExpr const& first,
                                  IDimensionExpr const& second) noexcept {
    return mImpl->operation(op, first, second);
  }

 protected:
  virtual ~IExprBuilder() noexcept = default;

 public:
  //! An extent that the run decides and tells by an output, a scalar of type kINT32 or kINT64: upper is the most that it
  //! may be. Null where the output is none, or was declared before.
  IDimensionExpr const* declareSizeTensor(int32_t outputIndex, IDimensionExpr const& opt, IDimensionExpr const& upper) {
    return mImpl->declareSizeTensor(outputIndex, opt, upper);
  }

 protected:
  apiv::VExprBuilder* mImpl;
};

//! As Dims, with an expression for each extent.
class DimsExprs {
 public:
  int32_t nbDims;                           //!< Number of dimensions.
  IDimensionExpr const* d[Dims::MAX_DIMS];  //!< Their extents.
};

//! What is known about a plugin's input or output while an engine is built.
struct DynamicPluginTensorDesc {
  PluginTensorDesc desc;  //!< Type, format and dimensions; -1 where an extent is not known.
  Dims min;               //!< Smallest extents.
  Dims max;               //!< Largest extents.
  Dims opt;               //!< Extents to optimize for.
};

//! IPluginV2Ext for shapes that are known at run time. Deprecated: use IPluginV3.
class TRT_DEPRECATED IPluginV2DynamicExt : public IPluginV2Ext {
 public:
  //! Most combinations of formats that the builder tries.
  static constexpr int32_t kFORMAT_COMBINATION_LIMIT = 100;

  IPluginV2DynamicExt* clone() const noexcept override = 0;
  virtual DimsExprs getOutputDimensions(int32_t outputIndex, DimsExprs const* inputs, int32_t nbInputs,
                                        IExprBuilder& exprBuilder) noexcept = 0;
  virtual bool supportsFormatCombination(int32_t pos, PluginTensorDesc const* inOut, int32_t nbInputs,
                                         int32_t nbOutputs) noexcept = 0;
  virtual void configurePlugin(DynamicPluginTensorDesc const* in, int32_t nbInputs, DynamicPluginTensorDesc const* out,
                               int32_t nbOutputs) noexcept = 0;
  virtual size_t getWorkspaceSize(PluginTensorDesc const* inputs, int32_t nbInputs, PluginTensorDesc const* outputs,
                                  int32_t nbOutputs) const noexcept = 0;
  virtual int32_t enqueue(PluginTensorDesc const* inputDesc, PluginTensorDesc const* outputDesc,
                          void const* const* inputs, void* const* outputs, void* workspace,
                          cudaStream_t stream) noexcept = 0;

 protected:
  int32_t getTensorRTVersion() const noexcept override {
    return static_cast<int32_t>((static_cast<uint32_t>(PluginVersion::kV2_DYNAMICEXT) << 24U) |
                                (static_cast<uint32_t>(NV_TENSORRT_VERSION) & 0xFFFFFFU));
  }
  virtual ~IPluginV2DynamicExt() noexcept {}

 private:
  void configurePlugin(Dims const*, int32_t, Dims const*, int32_t, DataType const*, DataType const*, bool const*,
                       bool const*, PluginFormat, int32_t) noexcept final {}
  bool supportsFormat(DataType, PluginFormat) const noexcept final { return false; }
  Dims getOutputDimensions(int32_t, Dims const*, int32_t) noexcept final { return Dims{-1, {}}; }
  TRT_DEPRECATED bool isOutputBroadcastAcrossBatch(int32_t, bool const*, int32_t) const noexcept final { return false; }
  TRT_DEPRECATED bool canBroadcastInputAcrossBatch(int32_t) const noexcept final { return true; }
  size_t getWorkspaceSize(int32_t) const noexcept final { return 0; }
  int32_t enqueue(int32_t, void const* const*, void* const*, void*, cudaStream_t) noexcept final { return 1; }
};

//! What a plugin gets when it is attached to an execution context.
class IPluginResourceContext {
 public:
  virtual IGpuAllocator* getGpuAllocator() const noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
  virtual ~IPluginResourceContext() noexcept = default;

 protected:
  IPluginResourceContext() = default;
  IPluginResourceContext(IPluginResourceContext const&) = default;
  IPluginResourceContext(IPluginResourceContext&&) = default;
  IPluginResourceContext& operator=(IPluginResourceContext const&) & = default;
  IPluginResourceContext& operator=(IPluginResourceContext&&) & = default;
};

namespace v_1_0 {

//! The core part of a plugin: its name, version and namespace.
class IPluginV3OneCore : public IPluginCapability {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"PLUGIN_V3ONE_CORE", 1, 0}; }
  virtual AsciiChar const* getPluginName() const noexcept = 0;
  virtual AsciiChar const* getPluginVersion() const noexcept = 0;
  virtual AsciiChar const* getPluginNamespace() const noexcept = 0;
};

}  // namespace v_1_0

//! The version in use.
using IPluginV3OneCore = v_1_0::IPluginV3OneCore;

namespace v_1_0 {

//! The build part of a plugin: output types and shapes, formats, workspace, tactics.
class IPluginV3OneBuild : public IPluginCapability {
 public:
  //! Most combinations of formats that the builder tries, if the plugin says nothing.
  static constexpr int32_t kDEFAULT_FORMAT_COMBINATION_LIMIT = 100;

  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"PLUGIN_V3ONE_BUILD", 1, 0}; }
  virtual int32_t configurePlugin(DynamicPluginTensorDesc const* in, int32_t nbInputs,
                                  DynamicPluginTensorDesc const* out, int32_t nbOutputs) noexcept = 0;
  virtual int32_t getOutputDataTypes(DataType* outputTypes, int32_t nbOutputs, DataType const* inputTypes,
                                     int32_t nbInputs) const noexcept = 0;
  virtual int32_t getOutputShapes(DimsExprs const* inputs, int32_t nbInputs, DimsExprs const* shapeInputs,
                                  int32_t nbShapeInputs, DimsExprs* outputs, int32_t nbOutputs,
                                  IExprBuilder& exprBuilder) noexcept = 0;
  virtual bool supportsFormatCombination(int32_t pos, DynamicPluginTensorDesc const* inOut, int32_t nbInputs,
                                         int32_t nbOutputs) noexcept = 0;
  virtual int32_t getNbOutputs() const noexcept = 0;
  virtual size_t getWorkspaceSize(DynamicPluginTensorDesc const* /*inputs*/, int32_t /*nbInputs*/,
                                  DynamicPluginTensorDesc const* /*outputs*/, int32_t /*nbOutputs*/) const noexcept {
    return 0;
  }
  virtual int32_t getValidTactics(int32_t* /*tactics*/, int32_t /*nbTactics*/) noexcept { return 0; }
  virtual int32_t getNbTactics() noexcept { return 0; }
  virtual char const* getTimingCacheID() noexcept { return nullptr; }
  virtual int32_t getFormatCombinationLimit() noexcept { return kDEFAULT_FORMAT_COMBINATION_LIMIT; }
  virtual char const* getMetadataString() noexcept { return nullptr; }
};

}  // namespace v_1_0

//! The version in use.
using IPluginV3OneBuild = v_1_0::IPluginV3OneBuild;

namespace v_2_0 {

//! The build part of a plugin that may write its output over an input.
class IPluginV3OneBuild : public v_1_0::IPluginV3OneBuild {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"PLUGIN_V3ONE_BUILD", 2, 0}; }
  virtual int32_t getAliasedInput(int32_t /*outputIndex*/) noexcept { return -1; }
};

}  // namespace v_2_0

//! The version in use.
using IPluginV3OneBuildV2 = v_2_0::IPluginV3OneBuild;

namespace v_1_0 {

//! The run-time part of a plugin: shapes change, work is enqueued.
class IPluginV3OneRuntime : public IPluginCapability {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"PLUGIN_V3ONE_RUNTIME", 1, 0}; }
  virtual int32_t setTactic(int32_t /*tactic*/) noexcept { return 0; }
  virtual int32_t onShapeChange(PluginTensorDesc const* in, int32_t nbInputs, PluginTensorDesc const* out,
                                int32_t nbOutputs) noexcept = 0;
  virtual int32_t enqueue(PluginTensorDesc const* inputDesc, PluginTensorDesc const* outputDesc,
                          void const* const* inputs, void* const* outputs, void* workspace,
                          cudaStream_t stream) noexcept = 0;
  virtual IPluginV3* attachToContext(IPluginResourceContext* context) noexcept = 0;
  virtual PluginFieldCollection const* getFieldsToSerialize() noexcept = 0;
};

}  // namespace v_1_0

//! The version in use.
using IPluginV3OneRuntime = v_1_0::IPluginV3OneRuntime;

namespace v_1_0 {

//! Creates plugins of version 3.
class IPluginCreatorV3One : public IPluginCreatorInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"PLUGIN CREATOR_V3ONE", 1, 0}; }
  virtual IPluginV3* createPlugin(AsciiChar const* name, PluginFieldCollection const* fc,
                                  TensorRTPhase phase) noexcept = 0;
  virtual PluginFieldCollection const* getFieldNames() noexcept = 0;
  virtual AsciiChar const* getPluginName() const noexcept = 0;
  virtual AsciiChar const* getPluginVersion() const noexcept = 0;
  virtual AsciiChar const* getPluginNamespace() const noexcept = 0;
  IPluginCreatorV3One() = default;
  virtual ~IPluginCreatorV3One() noexcept = default;

 protected:
  IPluginCreatorV3One(IPluginCreatorV3One const&) = default;
  IPluginCreatorV3One(IPluginCreatorV3One&&) = default;
  IPluginCreatorV3One& operator=(IPluginCreatorV3One const&) & = default;
  IPluginCreatorV3One& operator=(IPluginCreatorV3One&&) & = default;
};

}  // namespace v_1_0

//! The version in use.
using IPluginCreatorV3One = v_1_0::IPluginCreatorV3One;

//! Which of a profile's three shapes.
enum class OptProfileSelector : int32_t {
  kMIN = 0,  //!< The smallest that is allowed.
  kOPT = 1,  //!< The one to optimize for.
  kMAX = 2,  //!< The largest that is allowed.
};

template <>
struct impl::EnumMaxImpl<OptProfileSelector> : impl::EnumCount<3> {};

//! Smallest, best and largest shapes of a network's inputs: what an engine is built for.
class IOptimizationProfile : public INoCopy {
 public:
  //! Smallest, best or largest extents of an input; false if they contradict those set before.
  bool setDimensions(char const* inputName, OptProfileSelector select, Dims const& dims) noexcept {
    return mImpl->setDimensions(inputName, select, dims);
  }
  //! What setDimensions set; nbDims is -1 if nothing was.
  Dims getDimensions(char const* inputName, OptProfileSelector select) const noexcept {
    return mImpl->getDimensions(inputName, select);
  }
  //! Values of a shape input; false on an error. Deprecated: use setShapeValuesV2.
  TRT_DEPRECATED bool setShapeValues(char const* inputName, OptProfileSelector select, int32_t const* values,
                                     int32_t nbValues) noexcept {
    return mImpl->setShapeValues(inputName, select, values, nbValues);
  }
  //! Number of values of a shape input; -1 if none were set.
  int32_t getNbShapeValues(char const* inputName) const noexcept { return mImpl->getNbShapeValues(inputName); }
  //! Values of a shape input, or null. Deprecated: use getShapeValuesV2.
  TRT_DEPRECATED int32_t const* getShapeValues(char const* inputName, OptProfileSelector select) const noexcept {
    return mImpl->getShapeValues(inputName, select);
  }
  //! Extra weights memory allowed for this profile, 0 (none) to 1 (all); false if out of range.
  bool setExtraMemoryTarget(float target) noexcept { return mImpl->setExtraMemoryTarget(target); }
  //! What setExtraMemoryTarget set; 1 by default.
  float getExtraMemoryTarget() const noexcept { return mImpl->getExtraMemoryTarget(); }
  //! Whether all that was set is complete and in order; the network decides the rest at the build.
  bool isValid() const noexcept { return mImpl->isValid(); }
  //! Smallest, best or largest values of a shape input; false if they contradict those set before.
  bool setShapeValuesV2(char const* inputName, OptProfileSelector select, int64_t const* values,
                        int32_t nbValues) noexcept {
    return mImpl->setShapeValuesV2(inputName, select, values, nbValues);
  }
  //! What setShapeValuesV2 set; null if nothing was.
  int64_t const* getShapeValuesV2(char const* inputName, OptProfileSelector select) const noexcept {
    return mImpl->getShapeValuesV2(inputName, select);
  }

 protected:
  virtual ~IOptimizationProfile() noexcept = default;

  apiv::VOptimizationProfile* mImpl;
};

//! Loads engines from plans.
class IRuntime : public INoCopy {
 public:
  virtual ~IRuntime() noexcept = default;
  //! Accelerator on which engines run; the call does nothing where there is none.
  void setDLACore(int32_t dlaCore) noexcept { mImpl->setDLACore(dlaCore); }
  //! What setDLACore set; -1 by default, and where there is no accelerator.
  int32_t getDLACore() const noexcept { return mImpl->getDLACore(); }
  //! Number of accelerators; 0 without any.
  int32_t getNbDLACores() const noexcept { return mImpl->getNbDLACores(); }
  //! Allocator for device memory, which must outlive the runtime's engines; null: the default one.
  void setGpuAllocator(IGpuAllocator* allocator) noexcept { mImpl->setGpuAllocator(allocator); }
  //! Where errors are recorded from now on; null: nowhere but in the log.
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  //! What setErrorRecorder set, or null.
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }
  //! Loads an engine from a plan in memory, which the caller deletes; null, with an error, if it cannot be run here.
  ICudaEngine* deserializeCudaEngine(void const* blob, size_t size) noexcept {
    return mImpl->deserializeCudaEngine(blob, size);
  }
  //! Loads an engine from a plan that is read in order. Deprecated: use the one for IStreamReaderV2.
  TRT_DEPRECATED ICudaEngine* deserializeCudaEngine(IStreamReader& streamReader) {
    return mImpl->deserializeCudaEngine(streamReader);
  }
  //! Loads an engine from a plan that is read from any position; null on an error.
  ICudaEngine* deserializeCudaEngine(IStreamReaderV2& streamReader) {
    return mImpl->deserializeCudaEngineV2(streamReader);
  }
  //! The logger that the runtime was created with.
  ILogger* getLogger() const noexcept { return mImpl->getLogger(); }
  //! Threads that the runtime may use, the caller's included; false if less than 1.
  bool setMaxThreads(int32_t maxThreads) noexcept { return mImpl->setMaxThreads(maxThreads); }
  //! What setMaxThreads set; 1 by default.
  int32_t getMaxThreads() const noexcept { return mImpl->getMaxThreads(); }
  //! Folder for temporary files; null: the system's.
  void setTemporaryDirectory(char const* path) noexcept { mImpl->setTemporaryDirectory(path); }
  //! What setTemporaryDirectory set, or null.
  char const* getTemporaryDirectory() const noexcept { return mImpl->getTemporaryDirectory(); }
  //! How libraries that a plan holds may be stored.
  void setTempfileControlFlags(TempfileControlFlags flags) noexcept { mImpl->setTempfileControlFlags(flags); }
  //! What setTempfileControlFlags set; all by default.
  TempfileControlFlags getTempfileControlFlags() const noexcept { return mImpl->getTempfileControlFlags(); }
  //! The runtime's plugin registry, whose parent is the process's.
  IPluginRegistry& getPluginRegistry() noexcept { return mImpl->getPluginRegistry(); }
  //! A runtime from a lean runtime's library; null if it cannot be loaded.
  IRuntime* loadRuntime(char const* path) noexcept { return mImpl->loadRuntime(path); }
  //! Whether plans that hold code for the host may be loaded.
  void setEngineHostCodeAllowed(bool allowed) noexcept { mImpl->setEngineHostCodeAllowed(allowed); }
  //! What setEngineHostCodeAllowed set; false by default.
  bool getEngineHostCodeAllowed() const noexcept { return mImpl->getEngineHostCodeAllowed(); }

 protected:
  apiv::VRuntime* mImpl;
};

//! Which weights of a layer.
enum class WeightsRole : int32_t {
  kKERNEL = 0,    //!< Those of a convolution, deconvolution or matrix.
  kBIAS = 1,      //!< Those that are added.
  kSHIFT = 2,     //!< The shift of a scale layer.
  kSCALE = 3,     //!< The scale of a scale layer.
  kCONSTANT = 4,  //!< The values of a constant layer.
  kANY = 5,       //!< Any of them.
};

template <>
struct impl::EnumMaxImpl<WeightsRole> : impl::EnumCount<6> {};

//! Replaces weights of an engine.
class IRefitter : public INoCopy {
 public:
  virtual ~IRefitter() noexcept = default;
  bool setWeights(char const* layerName, WeightsRole role, Weights weights) noexcept {
    return mImpl->setWeights(layerName, role, weights);
  }
  bool refitCudaEngine() noexcept { return mImpl->refitCudaEngine(); }
  int32_t getMissing(int32_t size, char const** layerNames, WeightsRole* roles) noexcept {
    return mImpl->getMissing(size, layerNames, roles);
  }
  int32_t getAll(int32_t size, char const** layerNames, WeightsRole* roles) noexcept {
    return mImpl->getAll(size, layerNames, roles);
  }
  TRT_DEPRECATED bool setDynamicRange(char const* tensorName, float min, float max) noexcept {
    return mImpl->setDynamicRange(tensorName, min, max);
  }
  TRT_DEPRECATED float getDynamicRangeMin(char const* tensorName) const noexcept {
    return mImpl->getDynamicRangeMin(tensorName);
  }
  TRT_DEPRECATED float getDynamicRangeMax(char const* tensorName) const noexcept {
    return mImpl->getDynamicRangeMax(tensorName);
  }
  TRT_DEPRECATED int32_t getTensorsWithDynamicRange(int32_t size, char const** tensorNames) const noexcept {
    return mImpl->getTensorsWithDynamicRange(size, tensorNames);
  }
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }
  bool setNamedWeights(char const* name, Weights weights) noexcept { return mImpl->setNamedWeights(name, weights); }
  int32_t getMissingWeights(int32_t size, char const** weightsNames) noexcept {
    return mImpl->getMissingWeights(size, weightsNames);
  }
  int32_t getAllWeights(int32_t size, char const** weightsNames) noexcept {
    return mImpl->getAllWeights(size, weightsNames);
  }
  ILogger* getLogger() const noexcept { return mImpl->getLogger(); }
  bool setMaxThreads(int32_t maxThreads) noexcept { return mImpl->setMaxThreads(maxThreads); }
  int32_t getMaxThreads() const noexcept { return mImpl->getMaxThreads(); }
  bool setNamedWeights(char const* name, Weights weights, TensorLocation location) noexcept {
    return mImpl->setNamedWeightsWithLocation(name, weights, location);
  }
  Weights getNamedWeights(char const* weightsName) const noexcept { return mImpl->getNamedWeights(weightsName); }
  TensorLocation getWeightsLocation(char const* weightsName) const noexcept {
    return mImpl->getWeightsLocation(weightsName);
  }
  bool unsetNamedWeights(char const* weightsName) noexcept { return mImpl->unsetNamedWeights(weightsName); }
  void setWeightsValidation(bool weightsValidation) noexcept { mImpl->setWeightsValidation(weightsValidation); }
  bool getWeightsValidation() const noexcept { return mImpl->getWeightsValidation(); }
  bool refitCudaEngineAsync(cudaStream_t stream) noexcept { return mImpl->refitCudaEngineAsync(stream); }
  Weights getWeightsPrototype(char const* weightsName) const noexcept {
    return mImpl->getWeightsPrototype(weightsName);
  }

 protected:
  apiv::VRefitter* mImpl;
};

//! Choices for writing a plan; a bit number in SerializationFlags.
enum class SerializationFlag : int32_t {
  kEXCLUDE_WEIGHTS = 0,       //!< Leave out the weights that a refit can supply.
  kEXCLUDE_LEAN_RUNTIME = 1,  //!< Leave out the lean runtime.
  kINCLUDE_REFIT = 2,         //!< Keep what is needed to refit again.
};

template <>
struct impl::EnumMaxImpl<SerializationFlag> : impl::EnumCount<3> {};

//! Choices for ICudaEngine::serializeWithConfig.
class ISerializationConfig : public INoCopy {
 public:
  virtual ~ISerializationConfig() noexcept = default;
  //! All choices at once, a bit each; false if a bit is no SerializationFlag.
  bool setFlags(SerializationFlags serializationFlags) noexcept { return mImpl->setFlags(serializationFlags); }
  //! What was chosen, a bit each.
  SerializationFlags getFlags() const noexcept { return mImpl->getFlags(); }
  //! Takes a choice back; false if it is no SerializationFlag.
  bool clearFlag(SerializationFlag serializationFlag) noexcept { return mImpl->clearFlag(serializationFlag); }
  //! Makes a choice; false if it is no SerializationFlag.
  bool setFlag(SerializationFlag serializationFlag) noexcept { return mImpl->setFlag(serializationFlag); }
  //! Whether a choice was made.
  bool getFlag(SerializationFlag serializationFlag) const noexcept { return mImpl->getFlag(serializationFlag); }

 protected:
  apiv::VSerializationConfig* mImpl;
};

//! When an execution context gets its memory for activations.
enum class ExecutionContextAllocationStrategy : int32_t {
  kSTATIC = 0,             //!< At once, for the profile that needs most.
  kON_PROFILE_CHANGE = 1,  //!< When a profile is chosen, as much as that one needs.
  kUSER_MANAGED = 2,       //!< The program supplies it with IExecutionContext::setDeviceMemoryV2.
};

template <>
struct impl::EnumMaxImpl<ExecutionContextAllocationStrategy> : impl::EnumCount<3> {};

//! Choices for an execution context.
class IRuntimeConfig : public INoCopy {
 public:
  virtual ~IRuntimeConfig() noexcept = default;
  //! Who gives a context its memory, and when.
  void setExecutionContextAllocationStrategy(ExecutionContextAllocationStrategy strategy) noexcept {
    mImpl->setExecutionContextAllocationStrategy(strategy);
  }
  //! What setExecutionContextAllocationStrategy set; kSTATIC by default.
  ExecutionContextAllocationStrategy getExecutionContextAllocationStrategy() const noexcept {
    return mImpl->getExecutionContextAllocationStrategy();
  }

 protected:
  apiv::VRuntimeConfig* mImpl;
};

//! Kind of runtime that an engine is for.
enum class EngineCapability : int32_t {
  kSTANDARD = 0,        //!< The normal runtime, all layers.
  kSAFETY = 1,          //!< The safety-certified runtime and its layers.
  kDLA_STANDALONE = 2,  //!< A deep learning accelerator without this library.
};

template <>
struct impl::EnumMaxImpl<EngineCapability> : impl::EnumCount<3> {};

//! Number about an engine.
enum class EngineStat : int32_t {
  kTOTAL_WEIGHTS_SIZE = 0,     //!< Size of all weights, bytes.
  kSTRIPPED_WEIGHTS_SIZE = 1,  //!< Size of the weights that were left out of the plan, bytes.
};

template <>
struct impl::EnumMaxImpl<EngineStat> : impl::EnumCount<2> {};

//! How much an engine tells about its layers.
enum class ProfilingVerbosity : int32_t {
  kLAYER_NAMES_ONLY = 0,  //!< What each layer is called, and no more.
  kNONE = 1,              //!< Nothing.
  kDETAILED = 2,          //!< What each layer is called, its parameters, formats and tactics.
};

template <>
struct impl::EnumMaxImpl<ProfilingVerbosity> : impl::EnumCount<3> {};

//! How the elements of a tensor lie in memory.
enum class TensorFormat : int32_t {
  kLINEAR = 0,      //!< Row by row, the last axis innermost.
  kCHW2 = 1,        //!< Pairs of channels innermost; the number of channels is rounded up to 2.
  kHWC8 = 2,        //!< Channels innermost; their number is rounded up to 8.
  kCHW4 = 3,        //!< Fours of channels innermost; the number of channels is rounded up to 4.
  kCHW16 = 4,       //!< Sixteens of channels innermost; the number of channels is rounded up to 16.
  kCHW32 = 5,       //!< Thirty-twos of channels innermost; the number of channels is rounded up to 32.
  kDHWC8 = 6,       //!< Volumes, channels innermost; their number is rounded up to 8.
  kCDHW32 = 7,      //!< Volumes, thirty-twos of channels innermost; the number of channels is rounded up to 32.
  kHWC = 8,         //!< Channels innermost, not rounded.
  kDLA_LINEAR = 9,  //!< Planar, rows rounded up to 64 bytes, for an accelerator.
  kDLA_HWC4 = 10,   //!< Images of 1, 3 or 4 channels, channels innermost, rows rounded up, for an accelerator.
  kHWC16 = 11,      //!< Channels innermost; their number is rounded up to 16.
  kDHWC = 12,       //!< Volumes, channels innermost, not rounded.
};

template <>
struct impl::EnumMaxImpl<TensorFormat> : impl::EnumCount<13> {};

//! A built network: what is needed to run it, shared by its execution contexts. Its functions may be called by several
//! threads.
class ICudaEngine : public INoCopy {
 public:
  virtual ~ICudaEngine() noexcept = default;
  //! Extents of an input or output, -1 where profiles leave a choice; nbDims is -1 if there is no such tensor.
  Dims getTensorShape(char const* tensorName) const noexcept { return mImpl->getTensorShape(tensorName); }
  //! Type of an input or output; kFLOAT if there is no such tensor.
  DataType getTensorDataType(char const* tensorName) const noexcept { return mImpl->getTensorDataType(tensorName); }
  //! Number of layers after optimization, those inside loops and conditionals included.
  int32_t getNbLayers() const noexcept { return mImpl->getNbLayers(); }
  //! The plan of the engine, which the caller deletes; null on an error.
  IHostMemory* serialize() const noexcept { return mImpl->serialize(); }
  //! A context, which the caller deletes before the engine; null, with an error, if memory does not suffice.
  IExecutionContext* createExecutionContext(
      ExecutionContextAllocationStrategy strategy = ExecutionContextAllocationStrategy::kSTATIC) noexcept {
    return mImpl->createExecutionContext(strategy);
  }
  //! Whether an input or output is in device or host memory; kDEVICE if there is no such tensor.
  TensorLocation getTensorLocation(char const* tensorName) const noexcept {
    return mImpl->getTensorLocation(tensorName);
  }
  //! Whether a tensor's values are needed for, or are, shapes; false if there is no such tensor.
  bool isShapeInferenceIO(char const* tensorName) const noexcept { return mImpl->isShapeInferenceIO(tensorName); }
  //! Whether a tensor is an input or an output; kNONE if it is neither.
  TensorIOMode getTensorIOMode(char const* tensorName) const noexcept { return mImpl->getTensorIOMode(tensorName); }
  //! The input whose memory an output shares; null if none.
  TRT_NODISCARD char const* getAliasedInputTensor(char const* tensorName) const noexcept {
    return mImpl->getAliasedInputTensor(tensorName);
  }
  //! A context whose memory the program supplies. Deprecated: use createExecutionContext with kUSER_MANAGED.
  TRT_DEPRECATED IExecutionContext* createExecutionContextWithoutDeviceMemory() noexcept {
    return mImpl->createExecutionContextWithoutDeviceMemory();
  }
  //! A context with given choices; null on an error.
  IExecutionContext* createExecutionContext(IRuntimeConfig* runtimeConfig) noexcept {
    return mImpl->createExecutionContextWithRuntimeConfig(runtimeConfig);
  }
  //! Choices for a context, which the caller deletes; null on an error.
  IRuntimeConfig* createRuntimeConfig() noexcept { return mImpl->createRuntimeConfig(); }
  //! Memory that a context needs, bytes. Deprecated: use getDeviceMemorySizeV2.
  TRT_DEPRECATED size_t getDeviceMemorySize() const noexcept { return mImpl->getDeviceMemorySize(); }
  //! Memory that a context needs for a profile, bytes. Deprecated: use getDeviceMemorySizeForProfileV2.
  TRT_DEPRECATED size_t getDeviceMemorySizeForProfile(int32_t profileIndex) const noexcept {
    return mImpl->getDeviceMemorySizeForProfile(profileIndex);
  }
  //! Memory that a context needs for the profile that needs most, bytes.
  int64_t getDeviceMemorySizeV2() const noexcept { return mImpl->getDeviceMemorySizeV2(); }
  //! Memory that a context needs for a profile, bytes; 0 if the index is out of range.
  int64_t getDeviceMemorySizeForProfileV2(int32_t profileIndex) const noexcept {
    return mImpl->getDeviceMemorySizeForProfileV2(profileIndex);
  }
  //! Whether weights can be replaced.
  bool isRefittable() const noexcept { return mImpl->isRefittable(); }
  //! Bytes of one component of a vectorized format's element; -1 if the format has none or there is no such tensor.
  int32_t getTensorBytesPerComponent(char const* tensorName) const noexcept {
    return mImpl->getTensorBytesPerComponent(tensorName);
  }
  //! The same for a profile.
  int32_t getTensorBytesPerComponent(char const* tensorName, int32_t profileIndex) const noexcept {
    return mImpl->getTensorBytesPerComponentV2(tensorName, profileIndex);
  }
  //! Components of a vectorized format's element; -1 if the format has none or there is no such tensor.
  int32_t getTensorComponentsPerElement(char const* tensorName) const noexcept {
    return mImpl->getTensorComponentsPerElement(tensorName);
  }
  //! The same for a profile.
  int32_t getTensorComponentsPerElement(char const* tensorName, int32_t profileIndex) const noexcept {
    return mImpl->getTensorComponentsPerElementV2(tensorName, profileIndex);
  }
  //! Memory layout of an input or output; kLINEAR if there is no such tensor.
  TensorFormat getTensorFormat(char const* tensorName) const noexcept { return mImpl->getTensorFormat(tensorName); }
  //! The same for a profile.
  TensorFormat getTensorFormat(char const* tensorName, int32_t profileIndex) const noexcept {
    return mImpl->getTensorFormatV2(tensorName, profileIndex);
  }
  //! The layout in words; empty if there is no such tensor.
  char const* getTensorFormatDesc(char const* tensorName) const noexcept {
    return mImpl->getTensorFormatDesc(tensorName);
  }
  //! The same for a profile.
  char const* getTensorFormatDesc(char const* tensorName, int32_t profileIndex) const noexcept {
    return mImpl->getTensorFormatDescV2(tensorName, profileIndex);
  }
  //! Axis that the format vectorizes; -1 if it does not or there is no such tensor.
  int32_t getTensorVectorizedDim(char const* tensorName) const noexcept {
    return mImpl->getTensorVectorizedDim(tensorName);
  }
  //! The same for a profile.
  int32_t getTensorVectorizedDim(char const* tensorName, int32_t profileIndex) const noexcept {
    return mImpl->getTensorVectorizedDimV2(tensorName, profileIndex);
  }
  //! Name of the network that the engine was built from.
  char const* getName() const noexcept { return mImpl->getName(); }
  //! Number of profiles: at least 1.
  int32_t getNbOptimizationProfiles() const noexcept { return mImpl->getNbOptimizationProfiles(); }
  //! Smallest, best or largest extents of an input in a profile; nbDims is -1 on an error.
  Dims getProfileShape(char const* tensorName, int32_t profileIndex, OptProfileSelector select) const noexcept {
    return mImpl->getProfileShape(tensorName, profileIndex, select);
  }
  //! Values of a shape input in a profile. Deprecated: use getProfileTensorValuesV2.
  TRT_DEPRECATED int32_t const* getProfileTensorValues(char const* tensorName, int32_t profileIndex,
                                                       OptProfileSelector select) const noexcept {
    return mImpl->getProfileTensorValues(tensorName, profileIndex, select);
  }
  //! Kind of runtime that the engine is for.
  EngineCapability getEngineCapability() const noexcept { return mImpl->getEngineCapability(); }
  //! Where errors are recorded from now on; null: nowhere but in the log.
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  //! What setErrorRecorder set, or null.
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }
  //! Always false. Deprecated: there are no implicit batches.
  TRT_DEPRECATED bool hasImplicitBatchDimension() const noexcept { return mImpl->hasImplicitBatchDimension(); }
  //! Where the engine's kernels may come from.
  TacticSources getTacticSources() const noexcept { return mImpl->getTacticSources(); }
  //! How much the engine tells about its layers.
  ProfilingVerbosity getProfilingVerbosity() const noexcept { return mImpl->getProfilingVerbosity(); }
  //! An inspector, which the caller deletes before the engine; null on an error.
  IEngineInspector* createEngineInspector() const noexcept { return mImpl->createEngineInspector(); }
  //! Number of inputs and outputs.
  int32_t getNbIOTensors() const noexcept { return mImpl->getNbIOTensors(); }
  //! Name of the input or output of this index; null if out of range.
  char const* getIOTensorName(int32_t index) const noexcept { return mImpl->getIOTensorName(index); }
  //! On which devices the engine runs.
  HardwareCompatibilityLevel getHardwareCompatibilityLevel() const noexcept {
    return mImpl->getHardwareCompatibilityLevel();
  }
  //! Streams that an execution uses beside the one it is given.
  int32_t getNbAuxStreams() const noexcept { return mImpl->getNbAuxStreams(); }
  //! Choices for serializeWithConfig, which the caller deletes; null on an error.
  ISerializationConfig* createSerializationConfig() noexcept { return mImpl->createSerializationConfig(); }
  //! The plan of the engine with given choices, which the caller deletes; null on an error.
  IHostMemory* serializeWithConfig(ISerializationConfig& config) const noexcept {
    return mImpl->serializeWithConfig(config);
  }
  //! Device memory for weights, bytes; false on an error. Deprecated: use setWeightStreamingBudgetV2.
  TRT_DEPRECATED bool setWeightStreamingBudget(int64_t gpuMemoryBudget) noexcept {
    return mImpl->setWeightStreamingBudget(gpuMemoryBudget);
  }
  //! That budget, bytes. Deprecated: use getWeightStreamingBudgetV2.
  TRT_DEPRECATED int64_t getWeightStreamingBudget() const noexcept { return mImpl->getWeightStreamingBudget(); }
  //! Its least value, bytes. Deprecated: the least value is 0.
  TRT_DEPRECATED int64_t getMinimumWeightStreamingBudget() const noexcept {
    return mImpl->getMinimumWeightStreamingBudget();
  }
  //! Weights that could stay on the host, bytes.
  int64_t getStreamableWeightsSize() const noexcept { return mImpl->getStreamableWeightsSize(); }
  //! Device memory for those weights, bytes; false if out of range or while contexts exist.
  bool setWeightStreamingBudgetV2(int64_t gpuMemoryBudget) noexcept {
    return mImpl->setWeightStreamingBudgetV2(gpuMemoryBudget);
  }
  //! That budget, bytes.
  int64_t getWeightStreamingBudgetV2() const noexcept { return mImpl->getWeightStreamingBudgetV2(); }
  //! A budget that leaves memory for everything else, bytes.
  int64_t getWeightStreamingAutomaticBudget() const noexcept { return mImpl->getWeightStreamingAutomaticBudget(); }
  //! What a context needs in addition for streaming, bytes.
  int64_t getWeightStreamingScratchMemorySize() const noexcept { return mImpl->getWeightStreamingScratchMemorySize(); }
  //! Whether a tensor is marked for debugging; false if there is no such tensor.
  bool isDebugTensor(char const* name) const noexcept { return mImpl->isDebugTensor(name); }
  //! Smallest, best or largest values of a shape input in a profile; null on an error.
  int64_t const* getProfileTensorValuesV2(char const* tensorName, int32_t profileIndex,
                                          OptProfileSelector select) const noexcept {
    return mImpl->getProfileTensorValuesV2(tensorName, profileIndex, select);
  }
  //! A number about the engine, bytes; -1 if it is not known.
  int64_t getEngineStat(EngineStat stat) const noexcept { return mImpl->getEngineStat(stat); }

 protected:
  apiv::VCudaEngine* mImpl;
};

//! Runs an engine: shapes, addresses and intermediate results of one execution at a time.
class IExecutionContext : public INoCopy {
 public:
  virtual ~IExecutionContext() noexcept = default;
  //! Wait and check for errors after every layer.
  void setDebugSync(bool sync) noexcept { mImpl->setDebugSync(sync); }
  //! What setDebugSync set; false by default.
  bool getDebugSync() const noexcept { return mImpl->getDebugSync(); }
  //! Who gets the times of layers; null: nobody.
  void setProfiler(IProfiler* profiler) noexcept { mImpl->setProfiler(profiler); }
  //! What setProfiler set, or null.
  IProfiler* getProfiler() const noexcept { return mImpl->getProfiler(); }
  //! The engine.
  ICudaEngine const& getEngine() const noexcept { return mImpl->getEngine(); }
  //! Name for messages and profiles.
  void setName(char const* name) noexcept { mImpl->setName(name); }
  //! What setName set.
  char const* getName() const noexcept { return mImpl->getName(); }
  //! Memory for activations, at least ICudaEngine::getDeviceMemorySizeV2 bytes. Prefer setDeviceMemoryV2, which checks.
  void setDeviceMemory(void* memory) noexcept { mImpl->setDeviceMemory(memory); }
  //! Memory for activations and its size, bytes; an error if that is too small.
  void setDeviceMemoryV2(void* memory, int64_t size) noexcept { mImpl->setDeviceMemoryV2(memory, size); }
  //! Elements between neighbours along each axis; nbDims is -1 if there is no such tensor or its shape is not known.
  Dims getTensorStrides(char const* tensorName) const noexcept { return mImpl->getTensorStrides(tensorName); }
  //! Index of the profile in use; -1 if none has been chosen.
  int32_t getOptimizationProfile() const noexcept { return mImpl->getOptimizationProfile(); }
  //! Extents of an input; false if there is no such input or they are outside the profile.
  bool setInputShape(char const* tensorName, Dims const& dims) noexcept {
    return mImpl->setInputShape(tensorName, dims);
  }
  //! Extents of an input or output as known now, -1 where they are not; nbDims is -1 if there is no such tensor.
  Dims getTensorShape(char const* tensorName) const noexcept { return mImpl->getTensorShape(tensorName); }
  //! Whether the extents of all inputs are known.
  bool allInputDimensionsSpecified() const noexcept { return mImpl->allInputDimensionsSpecified(); }
  //! Whether the values of all shape inputs are known. Deprecated: use inferShapes.
  TRT_DEPRECATED bool allInputShapesSpecified() const noexcept { return mImpl->allInputShapesSpecified(); }
  //! Where errors are recorded from now on; null: nowhere but in the log.
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  //! What setErrorRecorder set, or null.
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }
  //! Runs and waits; bindings has an address for each tensor, by index. False, with an error, if it failed.
  bool executeV2(void* const* bindings) noexcept { return mImpl->executeV2(bindings); }
  //! Chooses a profile; false if the index is out of range. Work enqueued before must be on the stream or done.
  bool setOptimizationProfileAsync(int32_t profileIndex, cudaStream_t stream) noexcept {
    return mImpl->setOptimizationProfileAsync(profileIndex, stream);
  }
  //! Whether an execution reports to the profiler at once; if not, reportToProfiler does.
  void setEnqueueEmitsProfile(bool enqueueEmitsProfile) noexcept { mImpl->setEnqueueEmitsProfile(enqueueEmitsProfile); }
  //! What setEnqueueEmitsProfile set; true by default.
  bool getEnqueueEmitsProfile() const noexcept { return mImpl->getEnqueueEmitsProfile(); }
  //! Waits for the last execution and reports it; false if there is nothing to report, as while it is captured. A
  //! graph's launch is waited for on the stream that was captured. Does nothing where enqueueV3 reports.
  bool reportToProfiler() const noexcept { return mImpl->reportToProfiler(); }
  //! Where an input or output is; false if there is no such tensor. Its memory must stay until the execution is done.
  bool setTensorAddress(char const* tensorName, void* data) noexcept {
    return mImpl->setTensorAddress(tensorName, data);
  }
  //! What setTensorAddress set; null if nothing was or there is no such tensor.
  void const* getTensorAddress(char const* tensorName) const noexcept { return mImpl->getTensorAddress(tensorName); }
  //! As setTensorAddress, for outputs only.
  bool setOutputTensorAddress(char const* tensorName, void* data) noexcept {
    return mImpl->setOutputTensorAddress(tensorName, data);
  }
  //! As setTensorAddress, for inputs only.
  bool setInputTensorAddress(char const* tensorName, void const* data) noexcept {
    return mImpl->setInputTensorAddress(tensorName, data);
  }
  //! Address of an output; null if there is none.
  void* getOutputTensorAddress(char const* tensorName) const noexcept {
    return mImpl->getOutputTensorAddress(tensorName);
  }
  //! Computes all shapes; the number of inputs that are still needed for that, of which it writes nbMaxNames names; -1
  //! on an error.
  int32_t inferShapes(int32_t nbMaxNames, char const** tensorNames) noexcept {
    return mImpl->inferShapes(nbMaxNames, tensorNames);
  }
  //! Memory for activations that the present shapes need, bytes; 0 on an error.
  size_t updateDeviceMemorySizeForShapes() noexcept { return mImpl->updateDeviceMemorySizeForShapes(); }
  //! Event that is recorded when inputs may be written again; false on an error.
  bool setInputConsumedEvent(cudaEvent_t event) noexcept { return mImpl->setInputConsumedEvent(event); }
  //! What setInputConsumedEvent set, or null.
  cudaEvent_t getInputConsumedEvent() const noexcept { return mImpl->getInputConsumedEvent(); }
  //! Who gives memory for an output; null: setTensorAddress does. False if there is no such output.
  bool setOutputAllocator(char const* tensorName, IOutputAllocator* outputAllocator) noexcept {
    return mImpl->setOutputAllocator(tensorName, outputAllocator);
  }
  //! What setOutputAllocator set, or null.
  IOutputAllocator* getOutputAllocator(char const* tensorName) const noexcept {
    return mImpl->getOutputAllocator(tensorName);
  }
  //! Most bytes that an output can need with the present shapes; -1 on an error, and where nothing bounds them: such
  //! an output needs setOutputAllocator.
  int64_t getMaxOutputSize(char const* tensorName) const noexcept { return mImpl->getMaxOutputSize(tensorName); }
  //! Who gives memory that is needed during an execution; null: the engine's allocator. False on an error.
  bool setTemporaryStorageAllocator(IGpuAllocator* allocator) noexcept {
    return mImpl->setTemporaryStorageAllocator(allocator);
  }
  //! What setTemporaryStorageAllocator set, or null.
  IGpuAllocator* getTemporaryStorageAllocator() const noexcept { return mImpl->getTemporaryStorageAllocator(); }
  //! Enqueues an execution on a stream and returns; false, with an error, if it could not be enqueued. The context must
  //! not be changed before it is done.
  bool enqueueV3(cudaStream_t stream) noexcept { return mImpl->enqueueV3(stream); }
  //! Share of the L2 cache for data that stays, bytes.
  void setPersistentCacheLimit(size_t size) noexcept { mImpl->setPersistentCacheLimit(size); }
  //! What setPersistentCacheLimit set; 0 by default.
  size_t getPersistentCacheLimit() const noexcept { return mImpl->getPersistentCacheLimit(); }
  //! How much executions tell to tracing tools; false if the engine cannot tell that.
  bool setNvtxVerbosity(ProfilingVerbosity verbosity) noexcept { return mImpl->setNvtxVerbosity(verbosity); }
  //! What setNvtxVerbosity set.
  ProfilingVerbosity getNvtxVerbosity() const noexcept { return mImpl->getNvtxVerbosity(); }
  //! Streams to use beside the one that enqueueV3 gets.
  void setAuxStreams(cudaStream_t* auxStreams, int32_t nbStreams) noexcept {
    mImpl->setAuxStreams(auxStreams, nbStreams);
  }
  //! Who gets the values of debug tensors; false on an error.
  bool setDebugListener(IDebugListener* listener) noexcept { return mImpl->setDebugListener(listener); }
  //! What setDebugListener set, or null.
  IDebugListener* getDebugListener() noexcept { return mImpl->getDebugListener(); }
  //! Whether the listener gets a tensor; false if it is not marked.
  bool setTensorDebugState(char const* name, bool flag) noexcept { return mImpl->setTensorDebugState(name, flag); }
  //! What setTensorDebugState set; false if the tensor is not marked.
  bool getDebugState(char const* name) const noexcept { return mImpl->getDebugState(name); }
  //! A copy of the context's choices, which the caller deletes; null on an error.
  IRuntimeConfig* getRuntimeConfig() const noexcept { return mImpl->getRuntimeConfig(); }
  //! Whether the listener gets all marked tensors, if there are any; false on an error.
  bool setAllTensorsDebugState(bool flag) noexcept { return mImpl->setAllTensorsDebugState(flag); }
  //! Whether the listener gets the unfused tensors; false on an error.
  bool setUnfusedTensorsDebugState(bool flag) noexcept { return mImpl->setUnfusedTensorsDebugState(flag); }
  //! What setUnfusedTensorsDebugState set.
  bool getUnfusedTensorsDebugState() const noexcept { return mImpl->getUnfusedTensorsDebugState(); }
  //! Communicator between devices; false if it is not supported.
  bool setCommunicator(void* communicator) noexcept { return mImpl->setCommunicator(communicator); }

 protected:
  apiv::VExecutionContext* mImpl;
};

//! Form in which an engine inspector writes.
enum class LayerInformationFormat : int32_t {
  kONELINE = 0,  //!< Text, one line a layer.
  kJSON = 1,     //!< JSON.
};

template <>
struct impl::EnumMaxImpl<LayerInformationFormat> : impl::EnumCount<2> {};

//! Describes an engine's layers in text or JSON.
class IEngineInspector : public INoCopy {
 public:
  virtual ~IEngineInspector() noexcept = default;
  //! Answers are then for this context's profile; null: for profile 0. False if it is of another engine.
  bool setExecutionContext(IExecutionContext const* context) noexcept { return mImpl->setExecutionContext(context); }
  //! What setExecutionContext set, or null.
  IExecutionContext const* getExecutionContext() const noexcept { return mImpl->getExecutionContext(); }
  //! One layer as text, which lives until the next call; how much it tells, the build decided. Null on an error.
  char const* getLayerInformation(int32_t layerIndex, LayerInformationFormat format) const noexcept {
    return mImpl->getLayerInformation(layerIndex, format);
  }
  //! All layers, inputs and outputs as text, which lives until the next call. Null on an error.
  char const* getEngineInformation(LayerInformationFormat format) const noexcept {
    return mImpl->getEngineInformation(format);
  }
  //! Where errors are recorded from now on; null: nowhere but in the log.
  void setErrorRecorder(IErrorRecorder* recorder) noexcept { mImpl->setErrorRecorder(recorder); }
  //! What setErrorRecorder set, or null.
  IErrorRecorder* getErrorRecorder() const noexcept { return mImpl->getErrorRecorder(); }

 protected:
  apiv::VEngineInspector* mImpl;
};

//! Finds the logger for plugins of a library that is loaded by the registry.
class ILoggerFinder {
 public:
  //! The logger that plugins of a library are to use.
  virtual ILogger* findLogger() = 0;

 protected:
  virtual ~ILoggerFinder() noexcept = default;
};

//! Registers a creator of class T when it is constructed.
template <typename T>
class PluginRegistrar {
 public:
  PluginRegistrar() { getPluginRegistry()->registerCreator(instance, ""); }

 private:
  T instance{};
};

namespace {

//! Creates a runtime that reports to the logger; null, with a message to the logger, if the library is older than these
//! headers. The caller deletes it, after its engines.
inline IRuntime* createInferRuntime(ILogger& logger) noexcept {
  return static_cast<IRuntime*>(createInferRuntime_INTERNAL(&logger, NV_TENSORRT_VERSION));
}

//! Creates a refitter for an engine that was built with BuilderFlag::kREFIT; null if the engine cannot be refitted.
//! The caller deletes it.
inline IRefitter* createInferRefitter(ICudaEngine& engine, ILogger& logger) noexcept {
  return static_cast<IRefitter*>(createInferRefitter_INTERNAL(&engine, &logger, NV_TENSORRT_VERSION));
}

}  // namespace
}  // namespace nvinfer1

//! Registers the plugin creator class `name` when the program or library that contains this line is loaded.
#define REGISTER_TENSORRT_PLUGIN(name) \
  static nvinfer1::PluginRegistrar<name> pluginRegistrar##name {}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_NV_INFER_RUNTIME_H
