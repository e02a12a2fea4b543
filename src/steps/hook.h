/// A nest behind a contraction.
#pragma once

#include "ops/nest_program.h"

namespace kiln::steps {

/// How an operand of a hook lies against the contraction's result.
enum class HookOperand : uint8_t {
  kWhole,    ///< of the result's extents and order
  kChannel,  ///< one element a channel
  kScalar
};
std::span<const std::string_view> enum_names(HookOperand);

/// Input 0 of the program is the contraction's result; the others are `operands`, in order. It has one output.
struct Hook {
  NestProgram program{.code = {}, .inputs = {DType::kF32}, .outputs = {DType::kF32}, .output_regs = {~0}};
  std::vector<HookOperand> operands;

  Hook() = default;
  Hook(const Hook&) = default;
  Hook(Hook&&) = default;
  Hook& operator=(const Hook&) = default;
  Hook& operator=(Hook&&) = default;
  ~Hook();  // not inline: of an absent one g++ 12 warns that it reads what was never set
  static void reflect(auto& self, auto f) { f("program", self.program), f("operands", self.operands); }
  bool operator==(const Hook&) const = default;
  Status check() const;
};

}  // namespace kiln::steps
