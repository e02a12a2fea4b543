#include "ops/fill.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include "ops/define.h"
#include "ops/movement.h"
#include "sym/real.h"

namespace kiln {
template const OpInfo& op_info<ops::Fill>();

double random_uniform(uint64_t seed, uint64_t counter) {
  return static_cast<double>(random_bits(seed, counter) >> 40) * 0x1p-24;
}

double random_normal(uint64_t seed, uint64_t counter) {
  // Box and Muller's transform of two uniforms from the halves of one draw; the first is never 0.
  const uint64_t bits = random_bits(seed, counter);
  const double radius = static_cast<double>((bits >> 40) + 1) * 0x1p-24;
  const double angle = static_cast<double>((bits >> 8) & 0xffffff) * 0x1p-24;
  return std::sqrt(-2 * std::log(radius)) * std::cos(2 * std::numbers::pi * angle);
}

namespace {

/// Bits that differ from call to call and from process to process.
uint64_t bits_of_chance() {
  try {
    std::random_device device;
    return uint64_t{device()} << 32 | device();
  } catch (const std::exception&) {  // a system without a source of entropy
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
}

}  // namespace

RandomState initial_random_state(const ops::Fill& fill) { return {.key = static_cast<uint64_t>(fill.seed)}; }

std::vector<std::byte> initial_state(const Op& op) {
  const auto* fill = op.as<ops::Fill>();
  if (!fill || fill->operation == FillOperation::kLinspace) return {};
  RandomState state = initial_random_state(*fill);
  if (!fill->fixed_start) state.key = random_bits(state.key, bits_of_chance());
  std::vector<std::byte> bytes(sizeof(state));
  std::memcpy(bytes.data(), &state, sizeof(state));
  return bytes;
}

namespace {
Status require_parameter(InferContext& cx, int i, const char* what, const ops::Fill& fill, int rank) {
  if (!cx.has_input(i)) return {};
  const TensorType& p = TRY(cx.input(i));
  TRY(cx.require(p.dtype == fill.to, what, " is ", p, " and y is ", fill.to, "; they must have one element type"));
  if (i == 2 && fill.operation == FillOperation::kLinspace && p.rank() == 1)
    return cx.assume_equal(p.shape[0], rank, str("beta is ", p, "; it needs one element, a step, for each axis of y"));
  return cx.assume_equal(p.volume(), 1, str(what, " is ", p, "; it must have one element"));
}

/// Values of alpha (input 1) or beta (input 2), where known.
std::optional<SymbolicValues> parameter_values(InferContext& cx, int i, DType to, double attribute) {
  if (cx.has_input(i)) return small_values(cx, i);
  if (is_float(to)) return SymbolicValues{sym::real_of(attribute)};
  if (attribute != std::floor(attribute) || std::abs(attribute) > 0x1p53) return std::nullopt;
  return SymbolicValues{static_cast<int64_t>(attribute)};
}

void add_values(InferContext& cx, const ops::Fill& fill, TensorType& y) {
  if (fill.operation != FillOperation::kLinspace || !carries_values(y)) return;
  const auto first = parameter_values(cx, 1, fill.to, fill.alpha), step = parameter_values(cx, 2, fill.to, fill.beta);
  if (!first || !step || first->size() != 1 || static_cast<int>(step->size()) < y.rank()) return;
  const Extents extents = *y.extents();
  SymbolicValues values(static_cast<size_t>(volume(extents)));
  for_each_index(extents, [&](int64_t linear, std::span<const int64_t> index) {
    sym::Expr value = (*first)[0];
    for (size_t i = 0; i < index.size(); ++i) {
      const sym::Expr by = (*step)[i];
      value = is_float(y.dtype) ? sym::real_sum(value, sym::real_prod(sym::real(index[i]), by)) : value + index[i] * by;
    }
    values[static_cast<size_t>(linear)] = value;
  });
  give_values(y, std::move(values));
}

/// Integers are exact: they do not pass through double.
Status linspace(ReferenceContext& cx, const ops::Fill& fill, const MutableView& y) {
  const HostTensor attributes[2] = {HostTensor::scalar(DType::kF64, fill.alpha),
                                    HostTensor::scalar(DType::kF64, fill.beta)};
  const View first = cx.has_input(1) ? TRY(cx.input(1)) : View(attributes[0]);
  const View step = cx.has_input(2) ? TRY(cx.input(2)) : View(attributes[1]);
  for_each_index(y.extents(), [&](int64_t linear, std::span<const int64_t> index) {
    double number = first[0];
    int64_t integer = first.integer(0);
    for (size_t i = 0; i < index.size(); ++i) {
      number += step[static_cast<int64_t>(i)] * static_cast<double>(index[i]);
      integer += step.integer(static_cast<int64_t>(i)) * index[i];
    }
    is_index(y.dtype()) ? y.set_integer(linear, integer) : y.set(linear, number);
  });
  return {};
}
}  // namespace

namespace ops {

Status Fill::infer(InferContext& cx) const {
  kiln::Shape shape = TRY(dims_of(cx, 0, dims, "shape"));
  const int rank = static_cast<int>(shape.size());
  const bool linspace = operation == FillOperation::kLinspace;
  TRY(cx.require(is_float(to) || (linspace && is_index(to)), "fill ", operation, " cannot make ", to,
                 linspace ? "; i32, i64 or a float type needed" : "; a float type needed"));
  TRY(require_parameter(cx, 1, "alpha", *this, rank));
  TRY(require_parameter(cx, 2, "beta", *this, rank));
  const bool one_step = !cx.has_input(2) || TRY(cx.input(2)).get().rank() == 0;
  TRY(cx.require(!linspace || !one_step || rank <= 1, "linspace of rank ", rank,
                 " has one step; a beta input with a step for each axis is needed"));
  TensorType y(to, std::move(shape));
  add_values(cx, *this, y);
  return cx.set_output(0, std::move(y));
}

Status Fill::reference(ReferenceContext& cx) const {
  const MutableView y = TRY(cx.output(0));
  if (operation == FillOperation::kLinspace) return linspace(cx, *this, y);
  const double low = cx.has_input(1) ? TRY(cx.input(1))[0] : alpha, high = cx.has_input(2) ? TRY(cx.input(2))[0] : beta;
  RandomState first = initial_random_state(*this);
  RandomState& state = cx.state() ? *reinterpret_cast<RandomState*>(cx.state()) : first;
  for (int64_t i = 0; i < y.volume(); ++i) {
    const uint64_t counter = state.position++;
    y.set(i, operation == FillOperation::kRandomUniform ? low + (high - low) * random_uniform(state.key, counter)
                                                        : low + high * random_normal(state.key, counter));
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
