#include "ops/nest_program.h"

#include "ops/activation.h"
#include "ops/element_wise.h"
#include "ops/unary.h"
#include "ops/with_scalar_fn.h"

namespace kiln {

std::span<const std::string_view> enum_names(ScalarFn) {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const auto names :
         {enum_names(ops::ActivationKind()), enum_names(ops::UnaryKind()), enum_names(ops::ElementWiseKind())})
      all.insert(all.end(), names.begin(), names.end());
    all.insert(all.end() - 1, {"select", "cast", "identity"});  // mod came behind them
    return all;
  }();
  return names;
}
std::string_view name_of(ScalarFn fn) { return enum_names(fn)[static_cast<size_t>(fn)]; }

bool is_nest_type(DType type) {
  switch (type) {
    case DType::kF32:
    case DType::kF64:
    case DType::kF16:
    case DType::kBF16:
    case DType::kI32:
    case DType::kI64:
    case DType::kI8:
    case DType::kU8:
    case DType::kBool: return true;
    default: return false;
  }
}

bool is_device_nest_type(DType type) { return type == DType::kF8E4M3 || is_nest_type(type); }
bool is_hook_type(DType type) { return type != DType::kF64 && is_nest_type(type); }
bool is_device_hook_type(DType type) { return type != DType::kF64 && is_device_nest_type(type); }

bool has_nest_function(ScalarFn fn, DType type) {
  using enum ScalarFn;
  if (!is_device_nest_type(type)) return false;
  if (fn == kIdentity || fn == kCast || fn == kSelect) return true;
  if (type == DType::kF8E4M3) return false;
  if (type == DType::kBool) return fn == kNot || fn == kAnd || fn == kOr || fn == kXor || fn == kEqual;
  constexpr auto kIsThere = []<ScalarFn>() {};
  if (is_float(type)) return with_float_fn(fn, kIsThere, kIsThere, kIsThere);
  if (fn == kRelu || fn == kAbs || fn == kNeg || fn == kSign) return true;
  return (fn >= kSum && fn <= kFloorDiv) || (fn >= kEqual && fn <= kLess);
}

namespace {
bool gives_bool(ScalarFn fn) {
  return fn == ScalarFn::kIsInf || fn == ScalarFn::kIsNan || (fn >= ScalarFn::kEqual && fn <= ScalarFn::kLess);
}

Status validate_operand(const NestProgram& program, NestOperand operand, int64_t before) {
  const bool exists = operand < 0 ? static_cast<size_t>(~operand) < program.inputs.size() : operand < before;
  return require(exists, "operand ", operand, " is neither an input nor an earlier instruction");
}

Status validate_instruction(const NestProgram& program, int64_t at) {
  const NestInstruction& i = program.code[static_cast<size_t>(at)];
  TRY(require(is_device_nest_type(i.type) && is_device_nest_type(i.result), name_of(i.fn), " from ", i.type, " to ",
              i.result, "; nests have no such type"));
  TRY(require(has_nest_function(i.fn, i.type), "nests have no ", name_of(i.fn), " of ", i.type));
  for (int a = 0; a < arity(i.fn); ++a) {
    TRY(validate_operand(program, i.args[a], at));
    const DType wanted = i.fn == ScalarFn::kSelect && a == 0 ? DType::kBool : i.type;
    TRY(require(program.type_of(i.args[a]) == wanted, name_of(i.fn), " takes ", wanted, " as argument ", a,
                "; operand ", i.args[a], " is ", program.type_of(i.args[a])));
  }
  const DType expected = gives_bool(i.fn) ? DType::kBool : i.fn == ScalarFn::kCast ? i.result : i.type;
  return require(i.result == expected, name_of(i.fn), " of ", i.type, " gives ", expected, ", not ", i.result);
}
}  // namespace

Status validate(const NestProgram& program) {
  for (const DType type : program.inputs)
    TRY(require(is_device_nest_type(type), "an input is ", type, "; nests have no such type"));
  const auto count = static_cast<int64_t>(program.code.size());
  for (int64_t i = 0; i < count; ++i)
    TRY(in_context(validate_instruction(program, i), [&] { return str("nest instruction ", i); }));
  TRY(require(program.outputs.size() == program.output_regs.size(), "a nest has ", program.outputs.size(),
              " output types for ", program.output_regs.size(), " outputs"));
  TRY(require(!program.outputs.empty(), "a nest has no output"));
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    TRY(validate_operand(program, program.output_regs[i], count));
    TRY(require(program.type_of(program.output_regs[i]) == program.outputs[i], "nest output ", i, " is ",
                program.outputs[i], ", its operand ", program.type_of(program.output_regs[i])));
  }
  return {};
}

}  // namespace kiln
