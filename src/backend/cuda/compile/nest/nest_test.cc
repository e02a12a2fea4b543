#include "backend/cuda/compile/nest/nest.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/cuda/compile/testing.h"

namespace kiln::cuda {
namespace {

using enum ScalarFn;
constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI32,
                            DType::kI64, DType::kI8,  DType::kU8,  DType::kBool};

/// gelu(x + b) * s of f16, s one element.
NestProgram chain() {
  return {{{kSum, DType::kF16, DType::kF16, {~0, ~1}},
           {kGeluErf, DType::kF16, DType::kF16, {0}},
           {kProd, DType::kF16, DType::kF16, {1, ~2}}},
          {DType::kF16, DType::kF16, DType::kF16},
          {DType::kF16},
          {2}};
}

/// Every function of a type, each an output.
NestProgram every_function_of(DType type) {
  NestProgram program{{}, {type, type, DType::kBool}, {}, {}};
  for (int fn = 0; fn < kNumScalarFns; ++fn) {
    const auto f = static_cast<ScalarFn>(fn);
    if (f == kCast || !has_nest_function(f, type)) continue;
    const bool truth = f == kIsInf || f == kIsNan || (f >= kEqual && f <= kLess);
    NestInstruction i{f, type, truth ? DType::kBool : type, {~0, ~1, ~1}, 0.5F, 2};
    if (f == kSelect) i.args[0] = ~2, i.args[1] = ~0;
    program.code.push_back(i);
  }
  for (const DType to : kTypes) program.code.push_back({kCast, type, to, {~0}});
  for (size_t i = 0; i < program.code.size(); ++i) {
    program.outputs.push_back(program.code[i].result);
    program.output_regs.push_back(static_cast<int>(i));
  }
  return program;
}

TEST(NestFunction, IsReadable) {
  EXPECT_EQ(
      nest_device_function({{{kSum, DType::kF32, DType::kF32, {~0, ~1}}, {kRelu, DType::kF32, DType::kF32, {0}}},
                            {DType::kF32, DType::kF32},
                            {DType::kF32},
                            {1}},
                           "epilogue"),
      "__device__ __forceinline__ float epilogue(float x0, float x1) {\n" +
          str("  const float r0 = kiln::device::element_wise<static_cast<kiln::ScalarFn>(", int(kSum),
              ")>(x0, x1);  // sum\n") +
          "  const float r1 = kiln::device::activation<static_cast<kiln::ScalarFn>(0)>(r0, 0.0f, 0.0f);  // relu\n"
          "  return r1;\n}\n");
}
TEST(NestFunction, RoundsHalvesAsToldAndNeverTwice) {
  const auto rounds = [](NestRounding rounding) {
    const std::string text = nest_device_function(chain(), "f", rounding);
    int count = 0;
    for (size_t at = text.find("round_f16"); at != text.npos; at = text.find("round_f16", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(rounds(NestRounding::kEveryResult), 2);  // the last one is rounded by its store
  EXPECT_EQ(rounds(NestRounding::kStores), 0);
}
TEST(NestFunction, DoublesNeverPassThroughFloats) {
  const NestProgram program{{{kCast, DType::kF32, DType::kF64, {~0}},
                             {kSin, DType::kF64, DType::kF64, {0}},
                             {kLeakyRelu, DType::kF64, DType::kF64, {1}, 0.1},
                             {kCast, DType::kF64, DType::kF16, {2}}},
                            {DType::kF32},
                            {DType::kF16},
                            {3}};
  EXPECT_EQ(nest_device_function(program, "f"),
            "__device__ __forceinline__ float f(float x0) {\n  const double r0 = double(x0);  // cast\n" +
                str("  const double r1 = kiln::device::unary<static_cast<kiln::ScalarFn>(", int(kSin),
                    ")>(r0);  // sin\n  const double r2 = kiln::device::activation<static_cast<kiln::ScalarFn>(",
                    int(kLeakyRelu), ")>(r1, 0.10000000000000001, 0.0);  // leaky_relu\n") +
                "  const float r3 = kiln::device::double_to_odd(r2);  // cast\n  return r3;\n}\n");
  EXPECT_EQ(nest_includes(program), "#include \"nest/doubles.cuh\"\n#include \"nest/nest.cuh\"\n");
  EXPECT_EQ(nest_includes(chain()), "#include \"nest/nest.cuh\"\n");  // as it was before there were doubles
  EXPECT_FALSE(only_halves(program));                                 // quick functions have no digits of doubles
}
TEST(NestFunction, BoundsOfDoublesAreExact) {
  NestProgram program{{{kClip, DType::kF64, DType::kF64, {~0}, 1e-60, 1 - 1e-12},
                       {kClip, DType::kF64, DType::kF64, {0}, -INFINITY, INFINITY},
                       {kThresholdedRelu, DType::kF64, DType::kF64, {1}, NAN}},
                      {DType::kF64},
                      {DType::kF64},
                      {2}};
  const std::string text = nest_device_function(program, "f");
  const auto has = [&](std::string_view part) { EXPECT_NE(text.find(part), text.npos) << part << " in\n" << text; };
  has("(x0, 9.9999999999999997e-61, 0.99999999999900002)");
  has("(r0, -__longlong_as_double(0x7ff0000000000000ll), __longlong_as_double(0x7ff0000000000000ll))");
  has("(r1, __longlong_as_double(0x7fffffffffffffffll), 0.0)");
  KernelSource source;
  source.prelude = nest_includes(program) + text + "extern \"C\" __global__ void all(double* y) { y[0] = f(y[1]); }\n";
  source.entry = "all";
  expect_compiles(source);
}
TEST(NestKernel, EveryFunctionOfEveryTypeCompiles) {
  for (const DType type : kTypes) {
    const NestProgram program = every_function_of(type);
    ASSERT_TRUE(validate(program)) << validate(program).error().message;
    KernelSource source;
    source.prelude = nest_includes(program) + nest_device_procedure(program, "compute", NestRounding::kEveryResult) +
                     "extern \"C\" __global__ void all(float a, int64_t b, int c, double d, void* y) {\n  ";
    for (size_t i = 0; i < program.outputs.size(); ++i)
      source.prelude += str(register_name(program.outputs[i]), " y", i, ";\n  ");
    source.prelude += str("compute(",
                          register_name(type) == "float"    ? "a, a"
                          : register_name(type) == "double" ? "d, d"
                          : register_name(type) == "int"    ? "c, c"
                                                            : "b, b",
                          ", c");
    for (size_t i = 0; i < program.outputs.size(); ++i) source.prelude += str(", y", i);
    source.prelude += ");\n";
    for (size_t i = 0; i < program.outputs.size(); ++i)
      source.prelude += str("  static_cast<", register_name(program.outputs[i]), "*>(y)[", i, "] = y", i, ";\n");
    source.prelude += "}\n";
    source.entry = "all";
    ASSERT_NO_FATAL_FAILURE(expect_compiles(source));
    if (::testing::Test::IsSkipped()) return;
  }
}
TEST(NestKernel, EveryVariantCompiles) {
  const std::vector<NestVariant> variants{{8, "rr1r", false},
                                          {4, "ra1r", false},
                                          {2, "11rr", true},
                                          plain_variant(chain(), false),
                                          plain_variant(chain(), true)};
  expect_compiles(nest_kernels(chain(), variants, NestRounding::kStores));
}
TEST(NestKernel, EveryTypeInMemoryCompiles) {
  NestProgram program;
  for (const DType type : kTypes) {
    program.inputs.push_back(type);
    program.outputs.push_back(type);
    program.output_regs.push_back(~static_cast<int>(program.output_regs.size()));
  }
  const std::vector<NestVariant> variants{{8, std::string(2 * std::size(kTypes), 'r'), false},
                                          plain_variant(program, false)};
  expect_compiles(nest_kernels(program, variants, NestRounding::kStores));
}

AxisStrides strides(std::initializer_list<int64_t> list) {
  AxisStrides result{};
  std::copy(list.begin(), list.end(), result.begin());
  return result;
}
MergedAxes axes_of(Extents extents, std::vector<AxisStrides> tensors) {
  return merge_axes(extents, tensors, tensors.size() - 1);
}
TEST(NestVariant, AVectorWhereAllIsDense) {
  const AxisStrides dense = strides({768, 1}), row = strides({0, 1}), one = strides({0, 0});
  const NestVariant best = best_variant(chain(), axes_of({128, 768}, {dense, row, one, dense}));
  EXPECT_EQ(best, (NestVariant{8, "rr1r", false, 1}));
  EXPECT_TRUE(suits(best, axes_of({128, 768}, {dense, row, one, dense})));
  // A channel of the same program that lies otherwise needs another kernel.
  EXPECT_FALSE(suits(best, axes_of({128, 768}, {dense, strides({1, 0}), one, dense})));
  EXPECT_TRUE(suits(plain_variant(chain(), false), axes_of({128, 768}, {dense, strides({1, 0}), one, dense})));
}
TEST(NestVariant, WidthDividesRowsThatAreNotAll) {
  const AxisStrides dense = strides({12, 1}), row = strides({0, 1}), one = strides({0, 0});
  EXPECT_EQ(best_variant(chain(), axes_of({7, 12}, {dense, row, one, dense})).width, 4);
  const AxisStrides odd = strides({13, 1});
  EXPECT_EQ(best_variant(chain(), axes_of({7, 13}, {odd, row, one, odd})).width, 1);
  EXPECT_EQ(best_variant(chain(), axes_of({7, 13}, {odd, odd, one, odd})).width, 8);  // one axis: a tail
}
TEST(NestVariant, SurvivesARecord) {
  const NestVariant variant{4, "r1a", true, 2};
  const auto copy = from_record<NestVariant>(to_record(variant));
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(*copy, variant);
  Record damaged = to_record(variant);
  damaged.set("width", 3);
  EXPECT_FALSE(from_record<NestVariant>(damaged));
}

}  // namespace
}  // namespace kiln::cuda
