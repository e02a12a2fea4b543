/// Activations of a recurrence's gates, for the host and for kernels, which NVRTC compiles.
#pragma once

#include <cstdint>

namespace kiln::ops {

/// Activations of gates: ONNX's list.
enum class GateFunction : int32_t {
  kSigmoid,
  kTanh,
  kRelu,
  kLeakyRelu,
  kElu,
  kSoftsign,
  kSoftplus,  ///< log(1 + exp(x))
  kHardSigmoid,
  kScaledTanh,
  kThresholdedRelu,
  kAffine  ///< alpha * x + beta; the others are ActivationKind's of the same name
};

}  // namespace kiln::ops
