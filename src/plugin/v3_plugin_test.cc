#include "plugin/v3_plugin.h"

#include <gtest/gtest.h>
#include <impl/NvInferPythonPlugin.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace kiln::plugin {
namespace {

namespace nv = nvinfer1;

/// Two threads that are to be inside one call of a plugin at once.
class Meeting {
 public:
  /// Whether the other thread came, too.
  bool wait() {
    if (++num_here_ == 2) both_.set_value();
    return is_both_.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  }

 private:
  std::atomic<int> num_here_ = 0;
  std::promise<void> both_;
  const std::shared_future<void> is_both_ = both_.get_future().share();
};

/// A quick plugin that is ahead of time, whose kernel has the name of its tactic.
class Ahead final : public nv::IPluginV3, public nv::IPluginV3QuickCore, public nv::IPluginV3QuickAOTBuild {
 public:
  struct Shared {
    Meeting in_set_tactic;
    std::atomic<int> num_alone = 0;  ///< calls of setTactic that waited for nothing
    std::atomic<int> num_alive = 0;
  };
  explicit Ahead(Shared& shared) : shared_(shared) { ++shared.num_alive; }
  Ahead(const Ahead& other) : shared_(other.shared_), tactic_(other.tactic_) { ++shared_.num_alive; }
  ~Ahead() override { --shared_.num_alive; }

  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    if (type == nv::PluginCapabilityType::kCORE) return static_cast<nv::IPluginV3QuickCore*>(this);
    return type == nv::PluginCapabilityType::kBUILD ? static_cast<nv::IPluginV3QuickAOTBuild*>(this) : nullptr;
  }
  nv::IPluginV3* clone() noexcept override { return new Ahead(*this); }
  const char* getPluginName() const noexcept override { return "Ahead"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return "quick"; }

  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t, const nv::DataType* in, const int32_t*,
                             int32_t) const noexcept override {
    out[0] = in[0];
    return 0;
  }
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs*, int32_t, nv::DimsExprs* out, int32_t,
                          nv::IExprBuilder&) noexcept override {
    out[0] = in[0];
    return 0;
  }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return 0;
  }
  int32_t getNbSupportedFormatCombinations(const nv::DynamicPluginTensorDesc*, int32_t, int32_t) noexcept override {
    return 1;
  }
  int32_t getSupportedFormatCombinations(const nv::DynamicPluginTensorDesc*, int32_t, int32_t,
                                         nv::PluginTensorDesc* supported, int32_t) noexcept override {
    for (int i = 0; i < 2; ++i)
      supported[i].type = nv::DataType::kFLOAT, supported[i].format = nv::PluginFormat::kLINEAR;
    return 0;
  }
  int32_t getNbTactics() noexcept override { return 2; }
  int32_t getValidTactics(int32_t* tactics, int32_t) noexcept override {
    tactics[0] = 1, tactics[1] = 2;
    return 0;
  }
  int32_t setTactic(int32_t tactic) noexcept override {
    tactic_ = tactic;
    if (!shared_.in_set_tactic.wait()) ++shared_.num_alone;
    return 0;
  }
  int32_t getLaunchParams(const nv::DimsExprs*, const nv::DynamicPluginTensorDesc*, int32_t, int32_t,
                          nv::IKernelLaunchParams*, nv::ISymExprs*, nv::IExprBuilder&) noexcept override {
    return 0;
  }
  int32_t getKernel(const nv::PluginTensorDesc*, int32_t, const nv::PluginTensorDesc*, int32_t, const char** name,
                    char** code, int32_t* size) noexcept override {
    name_ = "of_tactic_" + std::to_string(tactic_);
    *name = name_.c_str(), *code = code_.data(), *size = static_cast<int32_t>(code_.size());
    return 0;
  }

 private:
  Shared& shared_;
  int32_t tactic_ = 0;
  std::string name_, code_ =
                         "\x7f"
                         "ELF";
};

TEST(AheadOfTimePlugins, ThreadsAskForKernelsOfTheirOwnTacticsAtOnce) {
  Ahead::Shared shared;
  {
    const auto made = adopt_v3(new Ahead(shared), nv::TensorRTPhase::kBUILD, {});
    ASSERT_TRUE(made) << made.error().message;
    const std::vector<PluginTensor> x(1, {.extents = {4}, .min = {4}, .opt = {4}, .max = {4}});
    const auto configured = (*made)->configure(x, x);
    ASSERT_TRUE(configured) << configured.error().message;
    ASSERT_EQ(configured->tactics, (std::vector<int>{1, 2}));

    std::array<std::string, 2> kernels;
    std::vector<std::thread> threads;
    for (const int tactic : configured->tactics)
      threads.emplace_back([&, tactic] {
        sym::Table table;
        const TensorType type(DType::kF32, {4});
        const std::vector<InferInput> inputs{{.type = &type, .constant = nullptr}};
        InferContext cx(table, inputs, 1);
        const auto kernel = configured->object->kernel(cx, x, x, tactic);
        kernels[static_cast<size_t>(tactic - 1)] = kernel ? kernel->entry : kernel.error().message;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(shared.num_alone, 0) << "a thread waited in setTactic for 20 s: the other one could not enter";
    EXPECT_EQ(kernels, (std::array<std::string, 2>{"of_tactic_1", "of_tactic_2"}));
  }
  EXPECT_EQ(shared.num_alive, 0);
}

}  // namespace
}  // namespace kiln::plugin
