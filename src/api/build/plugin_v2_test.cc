// Plugins of version 2 in networks, plans and runs on the CPU, whose host code they need.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include "api/build/testing/workbench.h"
#include "api/run/testing/logged_plugins_v2.h"

namespace kiln::api {
namespace {

using testing::list;
using testing::LoggedCreatorV2;
using testing::PluginLog;
using testing::Running;
using testing::ScaleDynamic;
using testing::ScaleExt;
using testing::ScaleIo;
using testing::ScalePlain;
using testing::Shared;
using testing::Workbench;
namespace nv = nvinfer1;
using Calls = std::vector<std::string>;
using Floats = std::vector<float>;

template <class Plugin>
constexpr const char* kNameOf = nullptr;
template <>
constexpr const char* kNameOf<ScaleDynamic> = "TestScaleDynamic";
template <>
constexpr const char* kNameOf<ScaleIo> = "TestScaleIo";
template <>
constexpr const char* kNameOf<ScaleExt> = "TestScaleExt";
template <>
constexpr const char* kNameOf<ScalePlain> = "TestScalePlain";

nv::IPluginV2Layer* add_scale(Workbench& w, nv::ITensor* x, nv::IPluginV2& plugin) {
  nv::IPluginV2Layer* layer = w->addPluginV2(&x, 1, plugin);
  if (layer) layer->setName("scale"), w.mark(layer->getOutput(0));
  return layer;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A network of one plugin that multiplies x[2, 3] by 3.
template <class Plugin>
struct OneScale {
  explicit OneScale(const char* plugin_namespace = "") : creator(log, kNameOf<Plugin>, plugin_namespace) {
    Plugin plugin(log, 3);
    plugin.setPluginNamespace(plugin_namespace);
    layer = add_scale(w, w.input("x", {2, 3}), plugin);
  }
  PluginLog log;
  LoggedCreatorV2<Plugin> creator;
  Workbench w;
  nv::IPluginV2Layer* layer;
};

/// A context of a network's engine with memory for x and y.
struct Run {
  explicit Run(Workbench& w) : running(w) {
    if (running.context) running.feed("x", x), running.feed("y", y);
  }
  Running running;
  Shared<float> x{1, 2, 3, 4, 5, 6}, y = Shared<float>(6, 0);
};

/// The plugins here compute on the host.
template <class Plugin>
class PluginV2 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::is_on_gpu()) GTEST_SKIP() << "these plugins have host code alone; KILN_DEVICE=cpu runs them";
  }
};
struct Names {
  template <class Plugin>
  static std::string GetName(int) {
    return kNameOf<Plugin>;
  }
};
using Interfaces = ::testing::Types<ScaleDynamic, ScaleIo, ScaleExt, ScalePlain>;
TYPED_TEST_SUITE(PluginV2, Interfaces, Names);

TYPED_TEST(PluginV2, RunsFromThePlan) {
  OneScale<TypeParam> s;
  ASSERT_TRUE(s.layer) << s.w.take_error();
  EXPECT_EQ(s.layer->getType(), nv::LayerType::kPLUGIN_V2);
  EXPECT_STREQ(s.layer->getPlugin().getPluginType(), kNameOf<TypeParam>);
  EXPECT_EQ(list(s.layer->getOutput(0)->getDimensions()), (std::vector<int64_t>{2, 3}));
  s.log.workspace_bytes = 1 << 16;
  Run r(s.w);
  ASSERT_TRUE(r.running.context) << r.running.error;
  EXPECT_EQ(s.log.count("deserializePlugin scale"), 1);
  ASSERT_TRUE(r.running.run()) << r.running.last_error();
  EXPECT_EQ(r.y, (Floats{3, 6, 9, 12, 15, 18}));
  ASSERT_TRUE(r.running.run()) << r.running.last_error();
  EXPECT_EQ(r.y[0], 1003) << "the context's copy has counted";
  EXPECT_EQ(s.log.count("serialize unconfigured"), 0);
}

TYPED_TEST(PluginV2, EachCopyIsDestroyedOnce) {
  PluginLog log;
  {
    LoggedCreatorV2<TypeParam> creator(log, kNameOf<TypeParam>);
    Workbench w;
    {
      TypeParam plugin(log, 3);
      ASSERT_TRUE(add_scale(w, w.input("x", {2, 3}), plugin));
      EXPECT_EQ(log.alive, 2) << "the network has a copy of its own";
    }
    Run r(w);
    ASSERT_TRUE(r.running.context) << r.running.error;
    ASSERT_TRUE(r.running.run()) << r.running.last_error();
    EXPECT_EQ(log.alive, 3) << "the network's, the engine's and the context's";
  }
  EXPECT_EQ(log.alive, 0);
  EXPECT_EQ(log.count("initialize"), log.count("terminate"));
  EXPECT_EQ(log.count("attachToContext"), log.count("detachFromContext"));
}

TYPED_TEST(PluginV2, ContextsHaveCopiesOfTheEnginesPlugin) {
  OneScale<TypeParam> s;
  Run r(s.w);
  ASSERT_TRUE(r.running.context) << r.running.error;
  ASSERT_TRUE(r.running.run()) << r.running.last_error();
  s.log.calls.clear();
  std::unique_ptr<nv::IExecutionContext> other(r.running.engine->createExecutionContext());
  constexpr bool kAttaches = !std::is_same_v<TypeParam, ScalePlain>;
  EXPECT_EQ(s.log.calls, kAttaches ? (Calls{"clone", "attachToContext"}) : Calls{"clone"});
  other.reset();
  EXPECT_EQ(s.log.count("initialize"), 0) << "a clone is initialized as soon as it is made";
  s.log.calls.clear();
  r.running.context.reset();
  EXPECT_EQ(s.log.calls, kAttaches ? (Calls{"detachFromContext", "destroy"}) : Calls{"destroy"});
  s.log.calls.clear();
  r.running.engine.reset();
  EXPECT_EQ(s.log.calls, (Calls{"terminate", "destroy"}));
}

TYPED_TEST(PluginV2, TheNamespaceOfThePlanIsSetAgain) {
  OneScale<TypeParam> s("mine");
  Run r(s.w);
  ASSERT_TRUE(r.running.context) << r.running.error;
  ASSERT_TRUE(r.running.run()) << r.running.last_error();
  EXPECT_EQ(r.y[5], 18);
}

TYPED_TEST(PluginV2, PlansAreTheSameByteForByte) {
  OneScale<TypeParam> s;
  const auto build = [&] {
    const std::unique_ptr<nv::IHostMemory> plan(s.w.builder->buildSerializedNetwork(*s.w.network, *s.w.config));
    const char* const bytes = plan ? static_cast<const char*>(plan->data()) : "";
    return std::string(bytes, plan ? plan->size() : 0);
  };
  const std::string plan = build();
  ASSERT_FALSE(plan.empty()) << s.w.take_error();
  EXPECT_EQ(build(), plan);
}

// A plugin that fails in one call after the other: each is an error that names plugin and call, and nothing leaks.
TYPED_TEST(PluginV2, FailingCallsAreErrors) {
  for (const std::string call : {"clone", "getOutputDimensions", "getOutputDataType"}) {
    if (call == "getOutputDataType" && std::is_same_v<TypeParam, ScalePlain>) continue;  // it has no such call
    PluginLog log;
    log.fails_in = call;
    Workbench w;
    {
      TypeParam plugin(log, 3);
      EXPECT_EQ(add_scale(w, w.input("x", {2, 3}), plugin), nullptr);
    }
    const std::string text = w.take_error();
    EXPECT_TRUE(has(text, call)) << call << ": " << text;
    EXPECT_EQ(log.alive, 0) << call;
  }
  constexpr bool kOneFormat = std::is_same_v<TypeParam, ScaleExt> || std::is_same_v<TypeParam, ScalePlain>;
  const std::string supports = kOneFormat ? "supportsFormat" : "supportsFormatCombination";
  for (const std::string& call : {supports, std::string("clone"), std::string("initialize"), std::string("serialize"),
                                  std::string("deserializePlugin")}) {
    OneScale<TypeParam> s;
    s.log.fails_in = call;
    {
      Running r(s.w);
      EXPECT_EQ(r.engine, nullptr) << call;
      const std::string text = r.error + s.w.take_error() + r.last_error();
      EXPECT_TRUE(has(text, str("'", kNameOf<TypeParam>, "'"))) << text;
      EXPECT_TRUE(has(text, call)) << call << ": " << text;
    }
    EXPECT_EQ(s.log.alive, 1) << "the network's copy; " << call;
    s.log.fails_in.clear();
    EXPECT_EQ(s.w.run({{"x", {{2, 3}, {1, 2, 3, 4, 5, 6}}}}).at(5), 18) << "the builder goes on: " << call;
    EXPECT_EQ(s.log.count("initialize"), s.log.count("terminate")) << call;
  }
}

TYPED_TEST(PluginV2, FailuresOfContextsAndRunsAreErrors) {
  OneScale<TypeParam> s;
  Run r(s.w);
  ASSERT_TRUE(r.running.context) << r.running.error;
  const auto expect_error = [&](std::string_view call) {
    EXPECT_TRUE(has(r.running.last_error(), str("plugin '", kNameOf<TypeParam>, "' version '1': ", call, " returned")))
        << r.running.last_error();
    s.log.fails_in.clear();
  };
  s.log.fails_in = "clone";
  EXPECT_EQ(r.running.engine->createExecutionContext(), nullptr);
  expect_error("clone");
  s.log.fails_in = "enqueue";
  EXPECT_FALSE(r.running.run());
  expect_error("enqueue");
  ASSERT_TRUE(r.running.run()) << r.running.last_error();
  EXPECT_EQ(r.y[5], 18);
}

TYPED_TEST(PluginV2, NumbersOfOutputsAreChecked) {
  PluginLog log;
  Workbench w;
  TypeParam plugin(log, 3);
  log.num_outputs = 0;
  EXPECT_EQ(add_scale(w, w.input("x", {2, 3}), plugin), nullptr);
  EXPECT_TRUE(has(w.take_error(), "getNbOutputs returned 0; 1 is the least"));
  log.num_outputs = 10'001;
  EXPECT_EQ(add_scale(w, w.input("z", {2, 3}), plugin), nullptr);
  EXPECT_TRUE(has(w.take_error(), "getNbOutputs returned 10001; 1 is the least, 10000 the most"));
  OneScale<TypeParam> s;
  Run r(s.w);
  s.log.num_outputs = 2;
  EXPECT_FALSE(r.running.run());
  EXPECT_TRUE(has(r.running.last_error(), "getNbOutputs returned 2; the plan has 1 outputs")) << r.running.last_error();
}

}  // namespace
}  // namespace kiln::api
