#include "backend/cuda/compile/nest/function.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace kiln::cuda {
namespace {

enum class Held : uint8_t { kFloat, kDouble, kLong, kInt };
Held held_as(DType type) {
  if (is_kernel_float(type) || type == DType::kF8E4M3) return Held::kFloat;
  if (type == DType::kF64) return Held::kDouble;
  return type == DType::kI64 ? Held::kLong : Held::kInt;
}

/// A value of ScalarFn; its name stands in a comment behind it.
std::string enumerator(ScalarFn fn) { return str("static_cast<kiln::ScalarFn>(", static_cast<int>(fn), ')'); }

/// A finite number in so many digits, with a point or an exponent.
std::string digits_of(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strpbrk(text, ".e") ? text : str(text, ".0");
}
/// A number exactly, as a float or as a double.
std::string literal(float value) {
  if (std::isnan(value)) return "__int_as_float(0x7fffffff)";
  if (std::isinf(value)) return value > 0 ? "__int_as_float(0x7f800000)" : "__int_as_float(0xff800000)";
  return digits_of(static_cast<double>(value), std::numeric_limits<float>::max_digits10) + 'f';
}
std::string literal(double value) {
  if (std::isnan(value)) return "__longlong_as_double(0x7fffffffffffffffll)";
  if (std::isinf(value)) return str(value > 0 ? "" : "-", "__longlong_as_double(0x7ff0000000000000ll)");
  return digits_of(value, std::numeric_limits<double>::max_digits10);
}

class Writer {
 public:
  Writer(const NestProgram& program, NestRounding rounding) : program_(program), rounding_(rounding) {}

  std::string parameters() const {
    std::string text;
    for (size_t i = 0; i < program_.inputs.size(); ++i)
      text += str(i ? ", " : "", register_name(program_.inputs[i]), " x", i);
    return text;
  }
  std::string body() const {
    std::string text;
    for (size_t i = 0; i < program_.code.size(); ++i) {
      const NestInstruction& at = program_.code[i];
      text += str("  const ", register_name(at.result), " r", i, " = ", rounded(static_cast<int>(i)), ";  // ",
                  name_of(at.fn), '\n');
    }
    return text;
  }
  static std::string operand(NestOperand operand) { return operand < 0 ? str('x', ~operand) : str('r', operand); }

 private:
  /// Whether all that reads a result stores it in its own type.
  bool only_stored(int at) const {
    const auto reads = [&](const NestInstruction& i) { return std::ranges::count(i.operands(), at) > 0; };
    return std::ranges::none_of(program_.code, reads) && std::ranges::count(program_.output_regs, at) > 0;
  }

  std::string rounded(int at) const {
    const NestInstruction& i = program_.code[static_cast<size_t>(at)];
    const std::string value = expression(i);
    if (i.fn == ScalarFn::kSelect || i.fn == ScalarFn::kIdentity) return value;
    const bool is_half = i.result == DType::kF16 || i.result == DType::kBF16 || i.result == DType::kF8E4M3;
    if (is_half && (only_stored(at) || (rounding_ == NestRounding::kStores && i.fn != ScalarFn::kCast))) return value;
    switch (i.result) {
      case DType::kF16: return str("kiln::device::round_f16(", value, ')');
      case DType::kBF16: return str("kiln::device::round_bf16(", value, ')');
      case DType::kF8E4M3: return str("kiln::to_float(kiln::from_float<kiln::e4m3>(", value, "))");
      case DType::kI32: return str("int(", value, ')');
      case DType::kI8: return str("int(int8_t(", value, "))");
      case DType::kU8: return str("int(uint8_t(", value, "))");
      case DType::kBool: return str("int(", value, ')');
      default: return value;
    }
  }

  std::string expression(const NestInstruction& i) const {
    const std::array<std::string, 3> args{operand(i.args[0]), operand(i.args[1]), operand(i.args[2])};
    switch (i.fn) {
      case ScalarFn::kIdentity: return args[0];
      case ScalarFn::kSelect: return str(args[0], " ? ", args[1], " : ", args[2]);
      case ScalarFn::kCast: return cast(i.type, i.result, args[0]);
      default: break;
    }
    if (i.type == DType::kBool) return logical(i.fn, args);
    return is_float(i.type) ? of_floats(i, args) : of_integers(i, args);
  }

  static std::string of_floats(const NestInstruction& i, const std::array<std::string, 3>& args) {
    if (i.fn <= ScalarFn::kGeluTanh) {
      const auto number = [&](double value) {
        return held_as(i.type) == Held::kDouble ? literal(value) : literal(static_cast<float>(value));
      };
      return str("kiln::device::activation<", enumerator(i.fn), ">(", args[0], ", ", number(i.alpha), ", ",
                 number(i.beta), ')');
    }
    if (arity(i.fn) == 1) return str("kiln::device::unary<", enumerator(i.fn), ">(", args[0], ')');
    return str("kiln::device::element_wise<", enumerator(i.fn), ">(", args[0], ", ", args[1], ')');
  }
  /// Arithmetic in int64, which wraps, as storing does.
  static std::string of_integers(const NestInstruction& i, const std::array<std::string, 3>& args) {
    const auto integer = [](const std::string& value) { return str("kiln::device::Integer(", value, ')'); };
    if (i.fn == ScalarFn::kRelu)
      return str("kiln::device::at_least(", integer(args[0]), ", kiln::device::Integer(0)).value");
    if (arity(i.fn) == 1) return str("kiln::device::unary<", enumerator(i.fn), ">(", integer(args[0]), ").value");
    return str("kiln::device::element_wise<", enumerator(i.fn), ">(", integer(args[0]), ", ", integer(args[1]), ')',
               i.result == DType::kBool ? "" : ".value");
  }
  static std::string logical(ScalarFn fn, const std::array<std::string, 3>& args) {
    switch (fn) {
      case ScalarFn::kNot: return str(args[0], " ^ 1");
      case ScalarFn::kAnd: return str(args[0], " & ", args[1]);
      case ScalarFn::kOr: return str(args[0], " | ", args[1]);
      case ScalarFn::kXor: return str(args[0], " ^ ", args[1]);
      default: return str(args[0], " == ", args[1]);
    }
  }
  static std::string cast(DType from, DType to, const std::string& value) {
    if (to == DType::kBool) return str(value, " != 0");
    const bool is_double = held_as(from) == Held::kDouble;
    if (is_double && held_as(to) == Held::kFloat && to != DType::kF32)  // what stores it rounds it
      return str("kiln::device::double_to_odd(", value, ')');
    if (is_float(to) || !is_float(from)) return str(register_name(to), '(', value, ')');
    const std::string_view held = register_name(from);
    switch (to) {
      case DType::kI64: return str("kiln::device::", held, "_to_i64(", value, ')');
      case DType::kI8: return str("kiln::device::", held, "_to_i8(", value, ')');
      case DType::kU8: return str("kiln::device::", held, "_to_u8(", value, ')');
      default: return str("kiln::device::", held, "_to_i32(", value, ')');
    }
  }

  const NestProgram& program_;
  NestRounding rounding_;
};

}  // namespace

std::string nest_device_function(const NestProgram& program, std::string_view name, NestRounding rounding) {
  const Writer writer(program, rounding);
  return str("__device__ __forceinline__ ", register_name(program.outputs[0]), ' ', name, '(', writer.parameters(),
             ") {\n", writer.body(), "  return ", Writer::operand(program.output_regs[0]), ";\n}\n");
}

std::string nest_device_procedure(const NestProgram& program, std::string_view name, NestRounding rounding) {
  const Writer writer(program, rounding);
  std::string text = str("__device__ __forceinline__ void ", name, '(', writer.parameters());
  for (size_t i = 0; i < program.outputs.size(); ++i)
    text += str(i || !program.inputs.empty() ? ", " : "", register_name(program.outputs[i]), "& y", i);
  text += str(") {\n", writer.body());
  for (size_t i = 0; i < program.outputs.size(); ++i)
    text += str("  y", i, " = ", Writer::operand(program.output_regs[i]), ";\n");
  return text + "}\n";
}

bool only_halves(const NestProgram& program) {
  const auto is_half = [](DType type) { return type == DType::kF16 || type == DType::kBF16; };
  const auto is_wide = [](const NestInstruction& i) { return i.result == DType::kF32 || i.result == DType::kF64; };
  return std::ranges::all_of(program.outputs, is_half) && std::ranges::none_of(program.code, is_wide);
}

std::string nest_includes(const NestProgram& program) {
  const auto is_double = [](DType type) { return type == DType::kF64; };
  const bool has_doubles =
      std::ranges::any_of(program.inputs, is_double) ||
      std::ranges::any_of(program.code, [&](const NestInstruction& i) { return is_double(i.result); });
  return str(has_doubles ? "#include \"nest/doubles.cuh\"\n" : "", "#include \"nest/nest.cuh\"\n");
}

std::string_view register_name(DType type) {
  switch (held_as(type)) {
    case Held::kFloat: return "float";
    case Held::kDouble: return "double";
    case Held::kLong: return "int64_t";
    case Held::kInt: break;
  }
  return "int";
}

std::string_view element_name(DType type) {
  switch (type) {
    case DType::kF16: return "f16";
    case DType::kBF16: return "bf16";
    case DType::kF64: return "double";
    case DType::kI64: return "int64_t";
    case DType::kI32: return "int";
    case DType::kI8: return "int8_t";
    case DType::kU8: return "uint8_t";
    case DType::kBool: return "boolean";
    case DType::kF8E4M3: return "e4m3";
    default: return "float";
  }
}

}  // namespace kiln::cuda
