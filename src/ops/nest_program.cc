#include "ops/nest_program.h"

namespace kiln {

bool is_nest_type(DType type) {
  switch (type) {
    case DType::kF32:
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

bool has_nest_function(ScalarFn fn, DType type) {
  using enum ScalarFn;
  if (!is_nest_type(type)) return false;
  if (fn == kIdentity || fn == kCast || fn == kSelect) return true;
  const bool logical = fn == kNot || fn == kAnd || fn == kOr || fn == kXor;
  if (type == DType::kBool) return logical || fn == kEqual;
  if (is_float(type)) return !logical;
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
  TRY(require(is_nest_type(i.type) && is_nest_type(i.result), name_of(i.fn), " from ", i.type, " to ", i.result,
              "; nests have no such type"));
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
    TRY(require(is_nest_type(type), "an input is ", type, "; nests have no such type"));
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

namespace {
std::vector<int64_t> numbers(const std::vector<DType>& types) {
  std::vector<int64_t> result;
  for (const DType type : types) result.push_back(static_cast<int64_t>(type));
  return result;
}
Result<DType> dtype_of(int64_t number) {
  if (number < 0 || number >= kNumDTypes) return error(Code::kCorrupt, "no element type has the number ", number);
  return static_cast<DType>(number);
}
Result<std::vector<DType>> get_types(const Record& record, std::string_view name) {
  std::vector<DType> types;
  for (const int64_t number : TRY(record.get_ints(name))) types.push_back(TRY(dtype_of(number)));
  return types;
}
constexpr size_t kIntsOfInstruction = 6;  // fn, type, result, three arguments
}  // namespace

Record to_record(const NestProgram& program) {
  std::vector<int64_t> code;
  std::vector<double> parameters;
  for (const NestInstruction& i : program.code) {
    code.insert(code.end(), {static_cast<int64_t>(i.fn), static_cast<int64_t>(i.type), static_cast<int64_t>(i.result),
                             i.args[0], i.args[1], i.args[2]});
    parameters.insert(parameters.end(), {i.alpha, i.beta});
  }
  Record record;
  record.set("code", std::move(code)).set("parameters", std::move(parameters));
  record.set("inputs", numbers(program.inputs)).set("outputs", numbers(program.outputs));
  record.set("output_regs", std::vector<int64_t>(program.output_regs.begin(), program.output_regs.end()));
  return record;
}

Result<NestProgram> nest_program_from_record(const Record& record) {
  NestProgram program;
  const std::vector<int64_t> code = TRY(record.get_ints("code"));
  const std::vector<double> parameters = TRY(record.get_doubles("parameters"));
  const size_t count = code.size() / kIntsOfInstruction;
  if (code.size() % kIntsOfInstruction != 0 || parameters.size() != 2 * count)
    return error(Code::kCorrupt, "a nest's code has ", code.size(), " numbers and ", parameters.size(), " parameters");
  const auto narrow = [](int64_t value) -> Result<int> {
    if (value != static_cast<int>(value)) return error(Code::kCorrupt, "nest operand ", value, " is out of range");
    return static_cast<int>(value);
  };
  for (size_t i = 0; i < count; ++i) {
    const int64_t* at = &code[i * kIntsOfInstruction];
    if (at[0] < 0 || at[0] >= kNumScalarFns) return error(Code::kCorrupt, "no scalar function has the number ", at[0]);
    NestInstruction instruction{static_cast<ScalarFn>(at[0]), TRY(dtype_of(at[1])), TRY(dtype_of(at[2]))};
    for (int a = 0; a < 3; ++a) instruction.args[a] = TRY(narrow(at[3 + a]));
    instruction.alpha = static_cast<float>(parameters[2 * i]);
    instruction.beta = static_cast<float>(parameters[2 * i + 1]);
    program.code.push_back(instruction);
  }
  program.inputs = TRY(get_types(record, "inputs"));
  program.outputs = TRY(get_types(record, "outputs"));
  for (const int64_t operand : TRY(record.get_ints("output_regs"))) program.output_regs.push_back(TRY(narrow(operand)));
  TRY(validate(program));
  return program;
}

Record HookSpec::record() const {
  Record record;
  std::vector<int64_t> kinds;
  for (const HookOperand operand : operands) kinds.push_back(static_cast<int64_t>(operand));
  record.set("program", to_record(program)).set("operands", std::move(kinds));
  return record;
}

Result<HookSpec> HookSpec::parse(const Record& record) {
  HookSpec spec;
  spec.program = TRY(nest_program_from_record(TRY(record.get_record("program"))));
  for (const int64_t kind : TRY(record.get_ints("operands"))) {
    TRY(require(kind >= 0 && kind <= static_cast<int64_t>(HookOperand::kScalar), "no hook operand has the number ",
                kind));
    spec.operands.push_back(static_cast<HookOperand>(kind));
  }
  return spec;
}

}  // namespace kiln
