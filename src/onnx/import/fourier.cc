#include "onnx/import/fourier.h"

#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

#include "ops/concatenation.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

using Complex = std::complex<double>;

constexpr int64_t kLongest = 1 << 25;      // numbers of a transform
constexpr int64_t kQuickMatrix = 1 << 19;  // elements up to which one product is quicker than the steps of a split

/// e^(2 pi i * turns / length)
Complex root_of_unity(int64_t turns, int64_t length) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(turns % length) / static_cast<double>(length));
}

/// The direction that the exponents of a transform have: -1, or 1 for an inverse one.
Complex turned_for(const Transform& by, Complex root) { return by.inverse ? root : std::conj(root); }

/// Complex numbers as a constant [rows, numbers / rows, 2], or [numbers, 2] where rows is 0.
Result<ValueId> complex_constant(ImportContext& cx, const std::vector<Complex>& numbers, int64_t rows, DType type) {
  const auto count = static_cast<int64_t>(numbers.size());
  HostTensor::Fresh fresh = TRY(HostTensor::make(type, rows > 0 ? Extents{rows, count / rows, 2} : Extents{count, 2}));
  int64_t at = 0;
  for (const Complex& number : numbers) {
    store_number(type, fresh.data.data(), at++, number.real());
    store_number(type, fresh.data.data(), at++, number.imag());
  }
  return cx.add_constant(std::move(fresh.tensor));
}

/// The matrix of a transform, [samples * parts, outputs * 2].
Result<ValueId> constant_matrix(ImportContext& cx, const Transform& by, DType type) {
  const int64_t length = by.length.value(), samples = by.samples.value(), outputs = by.outputs.value();
  std::vector<Complex> roots;  // by the turns, modulo the length
  for (int64_t turns = 0; turns < length; ++turns)
    roots.push_back(turned_for(by, root_of_unity(turns, length)) / (by.inverse ? static_cast<double>(length) : 1.0));
  HostTensor::Fresh fresh = TRY(HostTensor::make(type, {samples * by.parts, outputs * 2}));
  int64_t at = 0;
  for (int64_t sample = 0; sample < samples; ++sample)
    for (int64_t part = 0; part < by.parts; ++part)
      for (int64_t output = 0; output < outputs; ++output) {
        const Complex root = roots[static_cast<size_t>(sample * output % length)];
        store_number(type, fresh.data.data(), at++, part == 0 ? root.real() : -root.imag());
        store_number(type, fresh.data.data(), at++, part == 0 ? root.imag() : root.real());
      }
  return cx.add_constant(std::move(fresh.tensor));
}

Result<ValueId> float_of(ImportContext& cx, sym::Expr e, DType type, int rank) {
  return cast(cx, TRY(with_rank(cx, TRY(scalar_value(cx, e)), rank)), type);
}

struct Waves {
  ValueId cosine, sine;
};
/// Cosine and sine of `turns` in [0, 1). Half turns are taken off, and cosines are sines of what a quarter lacks, so
/// that zeros are exact.
Result<Waves> cosine_and_sine(ImportContext& cx, ValueId turns) {
  using enum ElementWiseKind;
  const ValueId halves = TRY(unary(cx, UnaryKind::kRound, TRY(binary(cx, kProd, turns, 2))));
  const ValueId rest = TRY(binary(cx, kSub, turns, TRY(binary(cx, kProd, halves, 0.5))));  // in [-1/4, 1/4]
  const ValueId is_odd = TRY(binary(cx, kEqual, halves, 1));
  const ValueId sign = TRY(select(cx, is_odd, scalar_like(cx, -1, turns), scalar_like(cx, 1, turns)));
  const auto signed_sine = [&](ValueId of) -> Result<ValueId> {
    const ValueId angle = TRY(binary(cx, kProd, of, 2 * std::numbers::pi));
    return binary(cx, kProd, TRY(unary(cx, UnaryKind::kSin, angle)), sign);
  };
  const ValueId size = TRY(unary(cx, UnaryKind::kAbs, rest));
  const ValueId lacking = TRY(binary(cx, kSub, scalar_like(cx, 0.25, size), size));
  return Waves{TRY(signed_sine(lacking)), TRY(signed_sine(rest))};
}

/// The matrix of a transform whose extents are not known yet.
Result<ValueId> computed_matrix(ImportContext& cx, const Transform& by, DType type) {
  using enum ElementWiseKind;
  const ValueId sample = TRY(indices_along(cx, by.samples, 0, 2)), output = TRY(indices_along(cx, by.outputs, 1, 2));
  const ValueId length = TRY(with_rank(cx, TRY(scalar_value(cx, by.length)), 2));
  const ValueId product = TRY(binary(cx, kProd, sample, output));
  const ValueId whole = TRY(binary(cx, kProd, TRY(binary(cx, kFloorDiv, product, length)), length));
  const ValueId scale = TRY(float_of(cx, by.length, DType::kF32, 2));
  const ValueId rest = TRY(cast(cx, TRY(binary(cx, kSub, product, whole)), DType::kF32));
  auto [cosine, sine] = TRY(cosine_and_sine(cx, TRY(binary(cx, kDiv, rest, scale))));
  if (by.inverse) {
    cosine = TRY(binary(cx, kDiv, cosine, scale));
    sine = TRY(binary(cx, kDiv, sine, scale));
  }
  const ValueId negative = TRY(unary(cx, UnaryKind::kNeg, sine));
  const auto pair = [&](ValueId a, ValueId b) -> Result<ValueId> {  // [samples, 1, outputs, 2]
    return cx.add(ops::Concatenation{3}, {TRY(unsqueeze(cx, a, {1, 3})), TRY(unsqueeze(cx, b, {1, 3}))});
  };
  ValueId parts = TRY(pair(cosine, by.inverse ? sine : negative));
  if (by.parts == 2)
    parts = TRY(cx.add(ops::Concatenation{1}, {parts, TRY(pair(by.inverse ? negative : sine, cosine))}));
  return reshape(cx, TRY(cast(cx, parts, type)), {by.samples * by.parts, by.outputs * 2});
}

/// The largest divisor up to the square root; 1 of a prime.
int64_t middle_divisor(int64_t number) {
  int64_t found = 1;
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0) found = divisor;
  return found;
}

/// x, complex or real, times complex constants, which broadcast with it.
Result<ValueId> times(ImportContext& cx, ValueId x, std::vector<Complex> factors, int64_t rows) {
  using enum ElementWiseKind;
  const DType type = cx.dtype(x);
  const int last = cx.rank(x) - 1;
  if (cx.extent(x, last).value() == 1) return binary(cx, kProd, x, TRY(complex_constant(cx, factors, rows, type)));
  std::vector<Complex> same, other;  // (a + bi)(c + di) = (a, b)(c, c) + (b, a)(-d, d)
  for (const Complex& factor : factors) {
    same.emplace_back(factor.real(), factor.real());
    other.emplace_back(-factor.imag(), factor.imag());
  }
  const ValueId swapped = TRY(slice(cx, x, {{1}, {2}, {-1}, {last}}));
  return binary(cx, kSum, TRY(binary(cx, kProd, x, TRY(complex_constant(cx, same, rows, type)))),
                TRY(binary(cx, kProd, swapped, TRY(complex_constant(cx, other, rows, type)))));
}

/// The first `count` numbers of [rows, numbers, parts], behind which there are zeros.
Result<ValueId> first_numbers(ImportContext& cx, ValueId x, int64_t count) {
  const sym::Expr extent = cx.extent(x, 1);
  if (sym::provably_equal(extent, count)) return x;
  return slice(cx, x, {{0}, {count}, {1}, {1}, SliceMode::kFill});
}

Result<ValueId> transformed_rows(ImportContext& cx, ValueId x, const Transform& by);

/// Sample M * t + s, of t < N and s < M, belongs to the t-th place of the s-th of M transforms of N numbers; their k-th
/// outputs, turned by s * k of N * M, are the samples of N transforms of M, whose j-th outputs are those of k + N * j.
Result<ValueId> split(ImportContext& cx, ValueId x, const Transform& by, int64_t n) {
  const int64_t length = by.length.value(), m = length / n, outputs = by.outputs.value();
  const sym::Expr rows = cx.extent(x, 0);
  x = TRY(reshape(cx, TRY(first_numbers(cx, x, length)), {rows, n, m, by.parts}));
  x = TRY(reshape(cx, TRY(transpose(cx, x, {0, 2, 1, 3})), {rows * m, n, by.parts}));
  x = TRY(transformed_rows(cx, x, {n, n, n, by.parts, by.inverse}));
  std::vector<Complex> turns;
  for (int64_t s = 0; s < m; ++s)
    for (int64_t k = 0; k < n; ++k) turns.push_back(turned_for(by, root_of_unity(s * k, length)));
  x = TRY(times(cx, TRY(reshape(cx, x, {rows, m, n, 2})), std::move(turns), m));
  x = TRY(reshape(cx, TRY(transpose(cx, x, {0, 2, 1, 3})), {rows * n, m, 2}));
  const int64_t wanted = (outputs + n - 1) / n;
  x = TRY(transformed_rows(cx, x, {m, m, wanted, 2, by.inverse}));
  x = TRY(transpose(cx, TRY(reshape(cx, x, {rows, n, wanted, 2})), {0, 2, 1, 3}));
  return first_numbers(cx, TRY(reshape(cx, x, {rows, wanted * n, 2})), outputs);
}

/// The transform of 2^n numbers, in place.
void transform(std::vector<Complex>& numbers) {
  const size_t count = numbers.size();
  if (count == 1) return;
  std::vector<Complex> even, odd;
  for (size_t i = 0; i < count; i += 2) even.push_back(numbers[i]), odd.push_back(numbers[i + 1]);
  transform(even);
  transform(odd);
  for (size_t k = 0; k < count / 2; ++k) {
    const Complex turned = odd[k] * std::conj(root_of_unity(static_cast<int64_t>(k), static_cast<int64_t>(count)));
    numbers[k] = even[k] + turned;
    numbers[k + count / 2] = even[k] - turned;
  }
}

/// 2 t k = t^2 + k^2 - (k - t)^2: the transform is the convolution of x, turned by half of t^2, with turns by half of
/// squares, and of a length for which that is a product of transforms.
Result<ValueId> as_convolution(ImportContext& cx, ValueId x, const Transform& by) {
  const int64_t length = by.length.value(), samples = by.samples.value(), outputs = by.outputs.value();
  const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(samples + outputs - 1)));
  const auto chirp = [&](int64_t t) { return turned_for(by, root_of_unity(t * t % (2 * length), 2 * length)); };
  std::vector<Complex> before, behind, filter(static_cast<size_t>(padded));
  for (int64_t t = 0; t < samples; ++t) before.push_back(chirp(t));
  for (int64_t k = 0; k < outputs; ++k) behind.push_back(chirp(k) / (by.inverse ? static_cast<double>(length) : 1.0));
  for (int64_t k = 0; k < outputs; ++k) filter[static_cast<size_t>(k)] = std::conj(chirp(k));
  for (int64_t t = 1; t < samples; ++t) filter[static_cast<size_t>(padded - t)] = std::conj(chirp(t));
  transform(filter);
  x = TRY(times(cx, x, std::move(before), 0));
  x = TRY(transformed_rows(cx, x, {padded, samples, padded, 2, false}));
  x = TRY(times(cx, x, std::move(filter), 0));
  x = TRY(transformed_rows(cx, x, {padded, padded, outputs, 2, true}));
  return times(cx, x, std::move(behind), 0);
}

/// Transforms [rows, samples, parts] to [rows, outputs, 2].
Result<ValueId> transformed_rows(ImportContext& cx, ValueId x, const Transform& by) {
  const bool is_known = by.length.is_const() && by.samples.is_const() && by.outputs.is_const();
  if (is_known) {
    const int64_t length = by.length.value(), samples = by.samples.value(), outputs = by.outputs.value();
    TRY(require(length <= kLongest, "a transform of length ", length, "; at most ", kLongest, " is supported"));
    if (samples * by.parts > kQuickMatrix / (2 * outputs)) {
      const int64_t n = middle_divisor(length);
      return n > 1 ? split(cx, x, by, n) : as_convolution(cx, x, by);
    }
  }
  const DType type = cx.dtype(x);
  const ValueId matrix = is_known ? TRY(constant_matrix(cx, by, type)) : TRY(computed_matrix(cx, by, type));
  const sym::Expr rows = cx.extent(x, 0);
  const ValueId y = TRY(matrix_multiply(cx, TRY(reshape(cx, x, {rows, by.samples * by.parts})), matrix));
  return reshape(cx, y, {rows, by.outputs, 2});
}

}  // namespace

Result<ValueId> transformed(ImportContext& cx, ValueId x, const Transform& by) {
  Shape shape = cx.type(x).shape;
  const size_t axis = shape.size() - 2;
  sym::Expr rows = 1;
  for (size_t i = 0; i < axis; ++i) rows = rows * shape[i];
  const ValueId y = TRY(transformed_rows(cx, TRY(reshape(cx, x, {rows, by.samples, by.parts})), by));
  shape[axis] = by.outputs;
  shape[axis + 1] = 2;
  return reshape(cx, y, shape);
}

}  // namespace kiln::onnx
