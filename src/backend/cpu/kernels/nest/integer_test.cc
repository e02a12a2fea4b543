// Integer kernels and conversions against the ops' references, for every pair of types.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "backend/cpu/kernels/nest/kernel.h"
#include "backend/cpu/kernels/testing.h"
#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/element_wise.h"
#include "ops/nest_program.h"
#include "ops/reference_context.h"
#include "ops/unary.h"

namespace kiln::cpu {
namespace {

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32,
                            DType::kI64, DType::kI8,  DType::kU8,   DType::kBool};
constexpr DType kIntegers[] = {DType::kI32, DType::kI64, DType::kI8, DType::kU8};

HostTensor interesting(DType type) {
  const int64_t integers[] = {0,           1,         -1,           2,         -2,
                              3,           7,         -7,           100,       127,
                              128,         -128,      255,          256,       -129,
                              300,         32767,     65535,        65536,     2147483647,
                              -2147483647, INT32_MIN, INT64_MAX,    INT64_MIN, int64_t{1} << 40,
                              2049,        16777217,  4'000'000'000};
  const double floats[] = {0,     -0.0,       0.4,           0.5,    -0.5,    0.99,
                           1.5,   -1.5,       127.9,         128.2,  -128.9,  -129.1,
                           255.5, 256.5,      2049,          65504,  70000,   3e9,
                           -3e9,  2147483520, -2147483648.0, 9.3e18, -9.3e18, 1e30,
                           -1e30, INFINITY,   -INFINITY,     NAN,    1e-6,    3.0517578125e-05};
  if (is_float(type)) return HostTensor::of(type, {static_cast<int64_t>(std::size(floats))}, floats);
  return HostTensor::of_ints(type, {static_cast<int64_t>(std::size(integers))}, integers);
}

/// Elements in memory to elements in registers, which hold 8 bytes at most.
std::vector<std::byte> loaded(const HostTensor& tensor) {
  std::vector<std::byte> held(static_cast<size_t>(tensor.volume()) * 8);
  if (const NestKernel load = find_nest_load(tensor.dtype()))
    load({{tensor.bytes().data()}, held.data(), tensor.volume(), 0, 0});
  else
    std::copy(tensor.bytes().begin(), tensor.bytes().end(), held.begin());
  return held;
}
HostTensor stored(DType type, const std::vector<std::byte>& held, int64_t count) {
  HostTensor::Fresh fresh = *HostTensor::make(type, {count});
  if (const NestKernel store = find_nest_store(type))
    store({{held.data()}, fresh.data.data(), count, 0, 0});
  else
    std::copy_n(held.begin(), fresh.data.size(), fresh.data.begin());
  return fresh.tensor;
}
void expect_same(const HostTensor& found, const HostTensor& expected, const std::string& what) {
  ASSERT_EQ(found.dtype(), expected.dtype()) << what;
  const View a(found), b(expected);
  for (int64_t i = 0; i < a.volume(); ++i) {
    if (is_float(found.dtype()))
      EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
          << what << ", element " << i << ": " << a[i] << ", not " << b[i];
    else
      EXPECT_EQ(a.integer(i), b.integer(i)) << what << ", element " << i;
  }
}

TEST(NestConvert, EveryPairOfTypesAsCastDefinesIt) {
  for_each_target([&] {
    for (const DType from : kTypes)
      for (const DType to : kTypes) {
        const HostTensor x = interesting(from);
        std::vector<std::byte> held = loaded(x), result(held.size());
        if (const NestKernel cast = find_nest_cast(from, to))
          cast({{held.data()}, result.data(), x.volume(), 0, 0});
        else
          result = held;
        const HostTensor expected = (*run_reference(ops::Cast{to}, std::span(&x, 1)))[0];
        expect_same(stored(to, result, x.volume()), expected, str(from, " to ", to));
      }
  });
}

/// Runs a kernel as an instruction of a nest does: load, compute, round, store.
HostTensor run_kernel(ScalarFn fn, DType result, const HostTensor& a, const HostTensor& b) {
  const std::vector<std::byte> at = loaded(a), bt = loaded(b);
  std::vector<std::byte> held(at.size());
  find_nest_kernel(fn, a.dtype())({{at.data(), bt.data()}, held.data(), a.volume(), 0, 0});
  if (const NestKernel round = find_nest_round(result)) round({{held.data()}, held.data(), a.volume(), 0, 0});
  return stored(result, held, a.volume());
}

TEST(NestInteger, EveryFunctionOfTwoArguments) {
  for_each_target([&] {
    for (const DType type : kIntegers) {
      const HostTensor x = interesting(type);
      for (int64_t shift = 0; shift < x.volume(); ++shift) {
        std::vector<int64_t> a = View(x).integers(), b = a;
        std::rotate(b.begin(), b.begin() + shift, b.end());
        const HostTensor inputs[] = {x, HostTensor::of_ints(type, x.extents(), b)};
        for (int kind = 0; kind <= static_cast<int>(ops::ElementWiseKind::kLess); ++kind) {
          const ops::ElementWise op{static_cast<ops::ElementWiseKind>(kind)};
          if (kind >= static_cast<int>(ops::ElementWiseKind::kAnd) &&
              kind <= static_cast<int>(ops::ElementWiseKind::kXor))
            continue;
          const HostTensor expected = (*run_reference(op, inputs))[0];
          expect_same(run_kernel(op.scalar().fn, expected.dtype(), inputs[0], inputs[1]), expected,
                      str(Op(op), " of ", type));
        }
      }
    }
  });
}
TEST(NestInteger, EveryFunctionOfOneArgument) {
  for_each_target([&] {
    for (const DType type : kIntegers) {
      const HostTensor x = interesting(type);
      for (const Op& op : {Op(ops::Activation{}), Op(ops::Unary{ops::UnaryKind::kAbs}),
                           Op(ops::Unary{ops::UnaryKind::kNeg}), Op(ops::Unary{ops::UnaryKind::kSign})}) {
        const HostTensor expected = (*run_reference(op, std::span(&x, 1)))[0];
        expect_same(run_kernel(op.scalar().fn, type, x, x), expected, str(op, " of ", type));
      }
    }
  });
}
TEST(NestInteger, Logic) {
  const double a[] = {0, 0, 1, 1}, b[] = {0, 1, 0, 1};
  const HostTensor inputs[] = {HostTensor::of(DType::kBool, {4}, a), HostTensor::of(DType::kBool, {4}, b)};
  using enum ops::ElementWiseKind;
  for (const auto kind : {kAnd, kOr, kXor, kEqual}) {
    const ops::ElementWise op{kind};
    expect_same(run_kernel(op.scalar().fn, DType::kBool, inputs[0], inputs[1]), (*run_reference(op, inputs))[0],
                str(Op(op)));
  }
  const ops::Unary logical_not{ops::UnaryKind::kNot};
  expect_same(run_kernel(ScalarFn::kNot, DType::kBool, inputs[0], inputs[1]),
              (*run_reference(logical_not, std::span(inputs, 1)))[0], "not");
}

}  // namespace
}  // namespace kiln::cpu
