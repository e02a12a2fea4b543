#include <gtest/gtest.h>

#include "steps/executor.h"
#include "steps/softmax.h"

namespace kiln {
namespace {

TEST(Steps, NamesAreUnique) {
  for (const StepKind* kind : all_step_kinds()) EXPECT_EQ(find_step_kind(kind->name), kind);
  EXPECT_EQ(find_step_kind("no such kind"), nullptr);
}

TEST(Steps, EveryKindIsReadAsItIsWritten) {
  for (const StepKind* kind : all_step_kinds()) {
    const AnyStep step(*kind, kind->make_default());
    const Result<AnyStep> again = step_from_record(*kind, step.to_record());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, step);
    EXPECT_FALSE(step_from_record(*kind, Record().set("no such field", 1))) << kind->name;
  }
}

TEST(Steps, KindsDiffer) {
  const AnyStep zero = steps::Softmax{.axis = 0}, one = steps::Softmax{.axis = 1};
  EXPECT_NE(zero, one);
  EXPECT_EQ(one, AnyStep(steps::Softmax{.axis = 1}));
  EXPECT_EQ(str(one), "softmax{axis=1}");
  EXPECT_EQ(one.as<steps::Softmax>()->axis, 1);
}

struct Holder {
  AnyStep step;
  static void reflect(auto& self, auto f) { f("step", self.step); }
};

TEST(Steps, AStepIsAField) {
  const Holder holder{steps::Softmax{.axis = 1}};
  const Record record = to_record(holder);
  EXPECT_EQ(str(record), R"({step={kind="softmax", version=1, fields={axis=1}}})");
  EXPECT_EQ(from_record<Holder>(record)->step, holder.step);
  const auto error_of = [](std::string_view kind, int version, const Record& fields) {
    const Record step = Record().set("kind", kind).set("version", version).set("fields", fields);
    const Error error = from_record<Holder>(Record().set("step", step)).error();
    EXPECT_EQ(error.code, fields.empty() ? Code::kVersion : Code::kCorrupt);
    return error.message;
  };
  EXPECT_EQ(error_of("softmax", 2, {}),
            "field 'step': this plan has softmax of version 2, this Kiln reads 1: build the network again");
  EXPECT_EQ(error_of("softmux", 1, {}), "field 'step': this Kiln has no kind of step that is called 'softmux'");
  EXPECT_EQ(error_of("softmax", 1, Record().set("axes", 1)),
            "field 'step': step kind 'softmax': field 'axis' is missing");
}

/// Takes every softmax, and remembers how it was asked.
class Recorder final : public Executor {
 public:
  std::string_view name() const override { return "recorder"; }
  int num_loads = 0, num_binds = 0;

 protected:
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec& spec, std::span<const HostTensor* const>) override {
    ++num_loads;
    EXPECT_EQ(spec.step.name(), "softmax");
    return std::make_unique<Loaded>(num_binds);
  }

 private:
  class Loaded final : public LoadedStep {
   public:
    explicit Loaded(int& num_binds) : num_binds_(num_binds) {}

   protected:
    Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes&) const override {
      ++num_binds_;
      return nullptr;
    }

   private:
    int& num_binds_;
  };
};

StepSpec softmax_of(DType dtype, int rank) {
  StepSpec spec;
  spec.step = steps::Softmax{.axis = 1};
  spec.inputs = spec.outputs = {{.dtype = dtype, .format = {}, .rank = rank}};
  return spec;
}

TEST(Executor, ChecksTypesBeforeItLoads) {
  Recorder executor;
  const auto error_of = [&](const StepSpec& spec) { return executor.load(spec, {}).error().message; };
  EXPECT_EQ(error_of(softmax_of(DType::kI32, 2)), "a softmax of i32; f32, f16 and bf16 are possible");
  EXPECT_EQ(error_of(softmax_of(DType::kF32, 1)), "a softmax's axis 1 is outside [0, 1)");
  EXPECT_EQ(error_of({}), "a view has no step to load");
  EXPECT_EQ(executor.num_loads, 0);
  EXPECT_TRUE(executor.load(softmax_of(DType::kF32, 2), {}));
  EXPECT_EQ(executor.num_loads, 1);
}

TEST(Executor, ChecksShapesBeforeItBinds) {
  Recorder executor;
  const auto loaded = executor.load(softmax_of(DType::kF16, 2), {});
  ASSERT_TRUE(loaded);
  const std::vector<Extents> x = {{2, 3}}, other = {{3, 2}};
  const auto refused = (*loaded)->bind({.inputs = x, .outputs = other, .params = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kCorrupt);
  EXPECT_EQ(executor.num_binds, 0);
  EXPECT_TRUE((*loaded)->bind({.inputs = x, .outputs = x, .params = {}}));
  EXPECT_EQ(executor.num_binds, 1);
}

}  // namespace
}  // namespace kiln
