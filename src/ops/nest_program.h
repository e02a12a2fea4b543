/// A chain (in general a DAG) of pointwise instructions, as data: what a plan stores of a fused region.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/field.h"
#include "ops/scalar.h"
#include "tensor/field_types.h"

namespace kiln {

std::span<const std::string_view> enum_names(ScalarFn);

/// An operand: the result of an instruction, or an input of the program.
///   at >= 0   the result of code[at], which stands before
///   at < 0    input ~at
using NestOperand = int;

/// result = fn(arguments). Values are held as f32 (f32, f16, bf16), f64, i64 (i64) or i32 (the other integers and bool
/// as 0 and 1); arithmetic on them is FP32, FP64, or wraps in the integer type.
struct NestInstruction {
  ScalarFn fn = ScalarFn::kIdentity;
  /// Type of the arguments: one type for all of them, but kSelect's condition, which is bool.
  DType type = DType::kF32;
  /// `type`, or bool for comparisons, or any for kCast. f16 and bf16 results are rounded to that type.
  DType result = DType::kF32;
  std::array<NestOperand, 3> args{};  ///< arity(fn) of them count
  double alpha = 0, beta = 0;         ///< of activations

  static void reflect(auto& self, auto f) {
    f("fn", self.fn), f("type", self.type), f("result", self.result), f("args", self.args);
    f("alpha", self.alpha), f("beta", self.beta);
  }
  std::span<const NestOperand> operands() const { return std::span(args).first(static_cast<size_t>(arity(fn))); }
  bool operator==(const NestInstruction&) const = default;
};

struct NestProgram {
  std::vector<NestInstruction> code;
  std::vector<DType> inputs;             ///< as they lie in memory
  std::vector<DType> outputs;            ///< as they lie in memory; each the type of its operand
  std::vector<NestOperand> output_regs;  ///< where each output comes from

  static void reflect(auto& self, auto f) {
    f("code", self.code), f("inputs", self.inputs), f("outputs", self.outputs), f("output_regs", self.output_regs);
  }
  bool operator==(const NestProgram&) const = default;
  /// The type of an operand that `validate` has accepted.
  DType type_of(NestOperand operand) const {
    return operand < 0 ? inputs[static_cast<size_t>(~operand)] : code[static_cast<size_t>(operand)].result;
  }
};

/// Types that inputs, outputs and results may have: f32, f64, f16, bf16, i32, i64, i8, u8, bool.
bool is_nest_type(DType type);
/// Whether nests of a device of its own may have the type: FP8 E4M3 besides, which is only converted.
bool is_device_nest_type(DType type);
/// The same for a nest behind a contraction, whose tile is f32: there is no f64.
bool is_hook_type(DType type);
bool is_device_hook_type(DType type);
/// Whether nests compute `fn` of arguments of `type`; what a tactic asks before it claims a node.
bool has_nest_function(ScalarFn fn, DType type);
/// Operands exist and stand before their use, types agree, nests have every function.
Status validate(const NestProgram& program);

}  // namespace kiln
