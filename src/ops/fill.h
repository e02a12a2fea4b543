/// Generated tensors: affine in the index, or random.
#pragma once

#include <array>

#include "ops/op.h"
#include "ops/random_state.h"

namespace kiln {

/// nvinfer1::FillOperation.
enum class FillOperation : int32_t {
  kLinspace,       ///< alpha + beta . index
  kRandomUniform,  ///< in [alpha, beta)
  kRandomNormal    ///< of mean alpha and standard deviation beta
};
inline std::span<const std::string_view> enum_names(FillOperation) {
  static constexpr std::array<std::string_view, 3> kNames = {"linspace", "random_uniform", "random_normal"};
  return kNames;
}

/// 64 well-mixed bits that depend on `seed` and `counter` alone: what every backend draws element `counter` from.
constexpr uint64_t random_bits(uint64_t seed, uint64_t counter) {
  uint64_t z = (seed + 0x632be59bd9b4e019) * 0x9e3779b97f4a7c15 ^ counter * 0xd1342543de82ef95;
  for (int round = 0; round < 2; ++round) {
    z ^= z >> 32;
    z *= 0xd6e8feb86659fd93;
  }
  return z ^ (z >> 32);
}
double random_uniform(uint64_t seed, uint64_t counter);  ///< in [0, 1), 24 bits: the same in float
double random_normal(uint64_t seed, uint64_t counter);   ///< standard normal

}  // namespace kiln

namespace kiln::ops {

/// y of `dims` (or `shape`) and type `to`.
///   in   shape  i32 or i64 vector, on the host; optional, overrides `dims`
///        alpha  scalar; optional, overrides the attribute
///        beta   scalar, or for kLinspace a vector with a step for each axis of y; optional, overrides the attribute
///   out  y      kLinspace: i32, i64 or float, with symbolic values if those of alpha and beta are known; else float
/// Random elements depend on `seed` and on how many were drawn before: each context of an engine has a generator that
/// moves on with every run, so that runs of 3 and 4 elements give what one of 7 would. Its start is `seed` where that
/// is fixed, the same in every context; else chance decides it. Two Fills that must differ have different seeds.
struct Fill {
  static constexpr std::string_view name = "Fill";
  static constexpr Trait traits = Trait::kNondeterministic;
  static constexpr int min_inputs = 0, max_inputs = 3;
  static constexpr uint32_t host_inputs = 1 << 0;
  FillOperation operation = FillOperation::kLinspace;
  std::vector<int64_t> dims;
  double alpha = 0;
  double beta = 1;  ///< of kLinspace: the step of a y of rank 1
  DType to = DType::kF32;
  int64_t seed = 0;
  bool fixed_start = true;  ///< the sequence starts where `seed` says; else somewhere else in each context
  static void reflect(auto& self, auto f) {
    f("operation", self.operation);
    f("dims", self.dims);
    f("alpha", self.alpha);
    f("beta", self.beta);
    f("to", self.to);
    f("seed", self.seed);
    f("fixed_start", self.fixed_start);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops

namespace kiln {

/// The generator of a random fill before its first run, as bytes for steps to keep; empty for every other op.
std::vector<std::byte> initial_state(const Op& op);
/// The same as a number: of a fill whose start is fixed, or that no context runs.
RandomState initial_random_state(const ops::Fill& fill);

}  // namespace kiln
