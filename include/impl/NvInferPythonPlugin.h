// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Plugins written in Python in the short form; the bindings use it.

#ifndef KILN_IMPL_NV_INFER_PYTHON_PLUGIN_H
#define KILN_IMPL_NV_INFER_PYTHON_PLUGIN_H

#include "NvInfer.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace nvinfer1 {

//! Type of an extra argument of a plugin's kernel.
enum class PluginArgDataType : int32_t {
  kINT8 = 0,   //!< 8-bit integer.
  kINT16 = 1,  //!< 16-bit integer.
  kINT32 = 2,  //!< 32-bit integer.
};

//! Kind of an extra argument of a plugin's kernel.
enum class PluginArgType : int32_t {
  kINT = 0,  //!< Integer.
};

//! An expression for a launch parameter or argument of a kernel.
class ISymExpr {
 public:
  virtual PluginArgType getType() const noexcept = 0;
  virtual PluginArgDataType getDataType() const noexcept = 0;
  virtual void* getExpr() noexcept = 0;
};

//! Virtual table behind ISymExprs; the library implements it.
class ISymExprsImpl {
 public:
  virtual ISymExpr* getSymExpr(int32_t index) const noexcept = 0;
  virtual bool setSymExpr(int32_t index, ISymExpr* symExpr) noexcept = 0;
  virtual int32_t getNbSymExprs() const noexcept = 0;
  virtual bool setNbSymExprs(int32_t count) noexcept = 0;
  virtual ~ISymExprsImpl() noexcept = default;
};

//! A list of expressions.
class ISymExprs {
 public:
  ISymExpr* getSymExpr(int32_t index) const noexcept { return mImpl->getSymExpr(index); }
  bool setSymExpr(int32_t index, ISymExpr* symExpr) noexcept { return mImpl->setSymExpr(index, symExpr); }
  int32_t getNbSymExprs() const noexcept { return mImpl->getNbSymExprs(); }
  bool setNbSymExprs(int32_t count) noexcept { return mImpl->setNbSymExprs(count); }

 protected:
  virtual ~ISymExprs() noexcept = default;

  ISymExprsImpl* mImpl = nullptr;
};

//! Virtual table behind IKernelLaunchParams; the library implements it.
class IKernelLaunchParamsImpl {
 public:
  virtual ISymExpr* getGridX() noexcept = 0;
  virtual bool setGridX(ISymExpr* gridX) noexcept = 0;
  virtual ISymExpr* getGridY() noexcept = 0;
  virtual bool setGridY(ISymExpr* gridY) noexcept = 0;
  virtual ISymExpr* getGridZ() noexcept = 0;
  virtual bool setGridZ(ISymExpr* gridZ) noexcept = 0;
  virtual ISymExpr* getBlockX() noexcept = 0;
  virtual bool setBlockX(ISymExpr* blockX) noexcept = 0;
  virtual ISymExpr* getBlockY() noexcept = 0;
  virtual bool setBlockY(ISymExpr* blockY) noexcept = 0;
  virtual ISymExpr* getBlockZ() noexcept = 0;
  virtual bool setBlockZ(ISymExpr* blockZ) noexcept = 0;
  virtual ISymExpr* getSharedMem() noexcept = 0;
  virtual bool setSharedMem(ISymExpr* sharedMem) noexcept = 0;
  virtual ~IKernelLaunchParamsImpl() noexcept = default;
};

//! Grid, block and shared memory of a kernel launch, as expressions.
class IKernelLaunchParams {
 public:
  ISymExpr* getGridX() noexcept { return mImpl->getGridX(); }
  bool setGridX(ISymExpr* gridX) noexcept { return mImpl->setGridX(gridX); }
  ISymExpr* getGridY() noexcept { return mImpl->getGridY(); }
  bool setGridY(ISymExpr* gridY) noexcept { return mImpl->setGridY(gridY); }
  ISymExpr* getGridZ() noexcept { return mImpl->getGridZ(); }
  bool setGridZ(ISymExpr* gridZ) noexcept { return mImpl->setGridZ(gridZ); }
  ISymExpr* getBlockX() noexcept { return mImpl->getBlockX(); }
  bool setBlockX(ISymExpr* blockX) noexcept { return mImpl->setBlockX(blockX); }
  ISymExpr* getBlockY() noexcept { return mImpl->getBlockY(); }
  bool setBlockY(ISymExpr* blockY) noexcept { return mImpl->setBlockY(blockY); }
  ISymExpr* getBlockZ() noexcept { return mImpl->getBlockZ(); }
  bool setBlockZ(ISymExpr* blockZ) noexcept { return mImpl->setBlockZ(blockZ); }
  ISymExpr* getSharedMem() noexcept { return mImpl->getSharedMem(); }
  bool setSharedMem(ISymExpr* sharedMem) noexcept { return mImpl->setSharedMem(sharedMem); }

 protected:
  virtual ~IKernelLaunchParams() noexcept = default;

  IKernelLaunchParamsImpl* mImpl = nullptr;
};

namespace v_1_0 {

//! The core part of a plugin written in Python in the short form.
class IPluginV3QuickCore : public IPluginCapability {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"PLUGIN_V3QUICK_CORE", 1, 0}; }
  virtual AsciiChar const* getPluginName() const noexcept = 0;
  virtual AsciiChar const* getPluginVersion() const noexcept = 0;
  virtual AsciiChar const* getPluginNamespace() const noexcept = 0;
};

}  // namespace v_1_0

//! The version in use.
using IPluginV3QuickCore = v_1_0::IPluginV3QuickCore;

namespace v_1_0 {

//! The build part of a plugin written in Python in the short form.
class IPluginV3QuickBuild : public IPluginCapability {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"PLUGIN_V3QUICK_BUILD", 1, 0}; }
  virtual int32_t getOutputDataTypes(DataType* outputTypes, int32_t nbOutputs, DataType const* inputTypes,
                                     int32_t const* inputRanks, int32_t nbInputs) const noexcept = 0;
  virtual int32_t getOutputShapes(DimsExprs const* inputs, int32_t nbInputs, DimsExprs const* shapeInputs,
                                  int32_t nbShapeInputs, DimsExprs* outputs, int32_t nbOutputs,
                                  IExprBuilder& exprBuilder) noexcept = 0;
  virtual int32_t configurePlugin(DynamicPluginTensorDesc const* in, int32_t nbInputs,
                                  DynamicPluginTensorDesc const* out, int32_t nbOutputs) noexcept = 0;
  virtual int32_t getNbSupportedFormatCombinations(DynamicPluginTensorDesc const* inOut, int32_t nbInputs,
                                                   int32_t nbOutputs) noexcept = 0;
  virtual int32_t getSupportedFormatCombinations(DynamicPluginTensorDesc const* inOut, int32_t nbInputs,
                                                 int32_t nbOutputs, PluginTensorDesc* supportedCombinations,
                                                 int32_t nbFormatCombinations) noexcept = 0;
  virtual int32_t getNbOutputs() const noexcept = 0;
  virtual int32_t getAliasedInput(int32_t /*outputIndex*/) noexcept { return -1; }
  virtual int32_t getValidTactics(int32_t* /*tactics*/, int32_t /*nbTactics*/) noexcept { return 0; }
  virtual int32_t getNbTactics() noexcept { return 0; }
  virtual char const* getTimingCacheID() noexcept { return nullptr; }
  virtual char const* getMetadataString() noexcept { return nullptr; }
};

}  // namespace v_1_0

//! The version in use.
using IPluginV3QuickBuild = v_1_0::IPluginV3QuickBuild;

namespace v_1_0 {

//! The build part of such a plugin that is compiled at build time.
class IPluginV3QuickAOTBuild : public IPluginV3QuickBuild {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"PLUGIN_V3QUICKAOT_BUILD", 1, 0}; }
  virtual int32_t getLaunchParams(DimsExprs const* inputs, DynamicPluginTensorDesc const* inOut, int32_t nbInputs,
                                  int32_t nbOutputs, IKernelLaunchParams* launchParams, ISymExprs* extraArgs,
                                  IExprBuilder& exprBuilder) noexcept = 0;
  virtual int32_t getKernel(PluginTensorDesc const* in, int32_t nbInputs, PluginTensorDesc const* out,
                            int32_t nbOutputs, char const** kernelName, char** compiledKernel,
                            int32_t* compiledKernelSize) noexcept = 0;
  virtual int32_t setTactic(int32_t /*tactic*/) noexcept { return 0; }
};

}  // namespace v_1_0

//! The version in use.
using IPluginV3QuickAOTBuild = v_1_0::IPluginV3QuickAOTBuild;

namespace v_1_0 {

//! The run-time part of such a plugin that is run by Python.
class IPluginV3QuickRuntime : public IPluginCapability {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"PLUGIN_V3QUICK_RUNTIME", 1, 0}; }
  virtual int32_t setTactic(int32_t /*tactic*/) noexcept { return 0; }
  virtual int32_t enqueue(PluginTensorDesc const* inputDesc, PluginTensorDesc const* outputDesc,
                          void const* const* inputs, void* const* outputs, Dims const* inputStrides,
                          Dims const* outputStrides, int32_t nbInputs, int32_t nbOutputs,
                          cudaStream_t stream) noexcept = 0;
  virtual PluginFieldCollection const* getFieldsToSerialize() noexcept = 0;
};

}  // namespace v_1_0

//! The version in use.
using IPluginV3QuickRuntime = v_1_0::IPluginV3QuickRuntime;

//! Which form of a Python plugin its creator is asked for.
enum class QuickPluginCreationRequest : int32_t {
  kUNKNOWN = 0,     //!< No wish.
  kPREFER_JIT = 1,  //!< Compiled at run time if there is such a form.
  kPREFER_AOT = 2,  //!< Compiled at build time if there is such a form.
  kSTRICT_JIT = 3,  //!< Compiled at run time, or null.
  kSTRICT_AOT = 4,  //!< Compiled at build time, or null.
};

namespace v_1_0 {

//! Creates plugins written in Python in the short form.
class IPluginCreatorV3Quick : public IPluginCreatorInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return InterfaceInfo{"PLUGIN CREATOR_V3QUICK", 1, 0}; }
  virtual IPluginV3* createPlugin(AsciiChar const* name, AsciiChar const* nspace, PluginFieldCollection const* fc,
                                  TensorRTPhase phase,
                                  QuickPluginCreationRequest quickPluginCreationRequest) noexcept = 0;
  virtual PluginFieldCollection const* getFieldNames() noexcept = 0;
  virtual AsciiChar const* getPluginName() const noexcept = 0;
  virtual AsciiChar const* getPluginVersion() const noexcept = 0;
  virtual AsciiChar const* getPluginNamespace() const noexcept = 0;
  IPluginCreatorV3Quick() = default;
  virtual ~IPluginCreatorV3Quick() noexcept = default;

 protected:
  IPluginCreatorV3Quick(IPluginCreatorV3Quick const&) = default;
  IPluginCreatorV3Quick(IPluginCreatorV3Quick&&) = default;
  IPluginCreatorV3Quick& operator=(IPluginCreatorV3Quick const&) & = default;
  IPluginCreatorV3Quick& operator=(IPluginCreatorV3Quick&&) & = default;
};

}  // namespace v_1_0

//! The version in use.
using IPluginCreatorV3Quick = v_1_0::IPluginCreatorV3Quick;

}  // namespace nvinfer1

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_IMPL_NV_INFER_PYTHON_PLUGIN_H
