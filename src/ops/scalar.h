/// The scalar functions of pointwise ops, named once: the reference, the CPU's vector code and CUDA's generated source
/// all derive theirs from the templates in ops/*-inl.h that these enumerators stand for.
#pragma once

#include <cstdint>
#include <string_view>

namespace kiln {

enum class ScalarFn : uint8_t {
  // Activation (ops/activation-inl.h): one argument; alpha, beta as nvinfer1::ActivationType defines them
  kRelu,
  kSigmoid,
  kTanh,
  kLeakyRelu,
  kElu,
  kSelu,
  kSoftsign,
  kSoftplus,
  kClip,
  kHardSigmoid,
  kScaledTanh,
  kThresholdedRelu,
  kGeluErf,
  kGeluTanh,
  // Unary (ops/unary-inl.h)
  kExp,
  kLog,
  kSqrt,
  kRecip,
  kAbs,
  kNeg,
  kSin,
  kCos,
  kTan,
  kSinh,
  kCosh,
  kAsin,
  kAcos,
  kAtan,
  kAsinh,
  kAcosh,
  kAtanh,
  kCeil,
  kFloor,
  kErf,
  kNot,
  kSign,
  kRound,
  kIsInf,
  kIsNan,
  // ElementWise (ops/element_wise-inl.h): two arguments
  kSum,
  kProd,
  kMax,
  kMin,
  kSub,
  kDiv,
  kPow,
  kFloorDiv,
  kAnd,
  kOr,
  kXor,
  kEqual,
  kGreater,
  kLess,
  // Others
  kSelect,    ///< three: condition, then, else
  kCast,      ///< one; rounds to the output's type
  kIdentity,  ///< one
  // ElementWise again
  kMod  ///< two
};
inline constexpr int kNumScalarFns = static_cast<int>(ScalarFn::kMod) + 1;

struct Scalar {
  ScalarFn fn = ScalarFn::kIdentity;
  double alpha = 0, beta = 0;
};

constexpr int arity(ScalarFn fn) {
  if (fn == ScalarFn::kSelect) return 3;
  return fn == ScalarFn::kMod || (fn >= ScalarFn::kSum && fn <= ScalarFn::kLess) ? 2 : 1;
}
std::string_view name_of(ScalarFn fn);

}  // namespace kiln
