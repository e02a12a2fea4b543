/// A quick plugin whose kernel was compiled ahead of time, and which writes down what it is asked. Through the public
/// API alone.
#pragma once

#include <NvInfer.h>
#include <impl/NvInferPythonPlugin.h>

#include <functional>
#include <list>
#include <string>
#include <vector>

namespace kiln::promises {

namespace nv = nvinfer1;

/// y = x + addend, for n elements of FP32, as PTX for GPUs of compute capability 8.0 and later.
inline constexpr const char* kAddScalar = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry add_scalar(.param .u64 x, .param .u32 n, .param .s16 addend, .param .u64 y)
{
  .reg .pred %beyond;
  .reg .b16 %narrow;
  .reg .b32 %i, %n, %block, %threads, %thread;
  .reg .f32 %value, %addend;
  .reg .b64 %x, %y, %offset;
  ld.param.u64 %x, [x];
  ld.param.u32 %n, [n];
  ld.param.s16 %narrow, [addend];
  ld.param.u64 %y, [y];
  cvta.to.global.u64 %x, %x;
  cvta.to.global.u64 %y, %y;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %i, %block, %threads, %thread;
  setp.ge.u32 %beyond, %i, %n;
  @%beyond ret;
  mul.wide.u32 %offset, %i, 4;
  add.u64 %x, %x, %offset;
  add.u64 %y, %y, %offset;
  ld.global.f32 %value, [%x];
  cvt.rn.f32.s16 %addend, %narrow;
  add.f32 %value, %value, %addend;
  st.global.f32 [%y], %value;
  ret;
}
)";

/// An integer of a launch, as a plugin makes them.
struct SymInt final : nv::ISymExpr {
  nv::PluginArgType type = nv::PluginArgType::kINT;
  nv::PluginArgDataType data_type = nv::PluginArgDataType::kINT32;
  const nv::IDimensionExpr* expression = nullptr;
  explicit SymInt(const nv::IDimensionExpr* expression, nv::PluginArgDataType data_type = nv::PluginArgDataType::kINT32)
      : data_type(data_type), expression(expression) {}
  nv::PluginArgType getType() const noexcept override { return type; }
  nv::PluginArgDataType getDataType() const noexcept override { return data_type; }
  void* getExpr() noexcept override { return const_cast<nv::IDimensionExpr*>(expression); }
};

/// What the plugin is given to tell its launch.
struct LaunchCall {
  const nv::DimsExprs& x;
  const nv::DimsExprs& y;  ///< as this copy told it last, by getOutputShapes
  const nv::DynamicPluginTensorDesc* tensors;
  int32_t tactic;
  nv::IKernelLaunchParams& launch;
  nv::ISymExprs& arguments;
  nv::IExprBuilder& builder;

  const nv::IDimensionExpr* constant(int64_t value) const { return builder.constant(value); }
  /// The number of elements of x.
  const nv::IDimensionExpr* volume() const {
    const nv::IDimensionExpr* result = builder.constant(1);
    for (int32_t i = 0; i < x.nbDims; ++i) result = builder.operation(nv::DimensionOperation::kPROD, *result, *x.d[i]);
    return result;
  }
};
/// A launch of add_scalar with a block of 32 threads, which adds `addend`. Its numbers are gone when it returns.
void launch_add(const LaunchCall& call, int64_t addend);

/// What the plugin says. By default it is add_scalar, and adds 3.
struct Ahead {
  std::string entry = "add_scalar", code = kAddScalar;
  std::vector<int32_t> tactics;
  const char* timing_id = nullptr;
  std::string fails_in;  ///< the call that returns an error code
  bool gives_name = true, gives_code = true;
  int32_t aliased_input = -1;
  int32_t num_outputs = 1;
  nv::PluginFormat format = nv::PluginFormat::kLINEAR;
  std::function<void(const LaunchCall&)> launch = [](const LaunchCall& call) { launch_add(call, 3); };
  std::function<void(const nv::DimsExprs& x, nv::DimsExprs* outputs, nv::IExprBuilder&)> shapes;

  mutable std::vector<std::string> calls;  ///< of all copies
  mutable int alive = 0;
};

class AheadPlugin final : public nv::IPluginV3, public nv::IPluginV3QuickCore, public nv::IPluginV3QuickAOTBuild {
 public:
  explicit AheadPlugin(const Ahead& says) : says_(says) { ++says.alive; }
  AheadPlugin(const AheadPlugin& other) : says_(other.says_), tactic_(other.tactic_) { ++says_.alive; }
  ~AheadPlugin() override { --says_.alive; }

  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override;
  nv::IPluginV3* clone() noexcept override { return fails("clone") ? nullptr : new AheadPlugin(*this); }
  const char* getPluginName() const noexcept override { return "Ahead"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return "quick"; }

  int32_t getNbOutputs() const noexcept override { return says_.num_outputs; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t num_out, const nv::DataType* in, const int32_t* ranks,
                             int32_t num_in) const noexcept override;
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t num_in, const nv::DimsExprs* shapes, int32_t num_shapes,
                          nv::DimsExprs* out, int32_t num_out, nv::IExprBuilder& builder) noexcept override;
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return fails("configurePlugin");
  }
  int32_t getNbSupportedFormatCombinations(const nv::DynamicPluginTensorDesc*, int32_t, int32_t) noexcept override {
    return 1;
  }
  int32_t getSupportedFormatCombinations(const nv::DynamicPluginTensorDesc* tensors, int32_t num_in, int32_t num_out,
                                         nv::PluginTensorDesc* supported, int32_t count) noexcept override;
  int32_t getAliasedInput(int32_t) noexcept override { return says_.aliased_input; }
  int32_t getNbTactics() noexcept override { return static_cast<int32_t>(says_.tactics.size()); }
  int32_t getValidTactics(int32_t* tactics, int32_t count) noexcept override;
  const char* getTimingCacheID() noexcept override { return says_.timing_id; }
  int32_t setTactic(int32_t tactic) noexcept override {
    tactic_ = tactic;
    return fails("setTactic", " " + std::to_string(tactic));
  }
  int32_t getLaunchParams(const nv::DimsExprs* in, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                          int32_t num_out, nv::IKernelLaunchParams* launch, nv::ISymExprs* arguments,
                          nv::IExprBuilder& builder) noexcept override;
  int32_t getKernel(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out, int32_t num_out,
                    const char** name, char** code, int32_t* size) noexcept override;

 private:
  /// Writes a call down; whether it is to fail.
  bool fails(const std::string& call, const std::string& more = "") const {
    says_.calls.push_back(call + more);
    return says_.fails_in == call;
  }

  const Ahead& says_;
  int32_t tactic_ = -1;
  nv::DimsExprs y_{};
  std::string code_;
};

}  // namespace kiln::promises
