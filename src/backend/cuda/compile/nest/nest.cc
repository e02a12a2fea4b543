#include "backend/cuda/compile/nest/nest.h"

#include <algorithm>

namespace kiln::cuda {
namespace {

int element_bytes_of(const NestProgram& program, size_t tensor) {
  const DType type =
      tensor < program.inputs.size() ? program.inputs[tensor] : program.outputs[tensor - program.inputs.size()];
  return bits_of(type) / 8;
}

/// About how many instructions an element costs: functions that are not one of the hardware's are some twenty.
int cost_of(const NestProgram& program) {
  int cost = 0;
  for (const NestInstruction& i : program.code) {
    const bool cheap = i.fn == ScalarFn::kRelu || i.fn == ScalarFn::kClip || i.fn == ScalarFn::kLeakyRelu ||
                       (i.fn >= ScalarFn::kSum && i.fn <= ScalarFn::kSub) ||
                       (i.fn >= ScalarFn::kAnd && i.fn <= ScalarFn::kIdentity) || i.fn == ScalarFn::kNeg ||
                       i.fn == ScalarFn::kAbs;
    cost += cheap ? 1 : 20;
  }
  return cost;
}

/// Several vectors in flight: some 64 bytes of loads a thread where the program is short, else 32. A long program's
/// code would grow with them, and take longer to compile than they save.
int unroll_of(const NestProgram& program, const NestVariant& variant, int64_t count) {
  constexpr int64_t kWorthwhile = int64_t{1} << 20;  // elements: below, more threads do as well
  constexpr int kShort = 8, kLong = 64;
  const int cost = cost_of(program);
  if (variant.width == 1 || cost > kLong || count < kWorthwhile) return 1;
  int loads = 0;
  for (size_t i = 0; i < program.inputs.size(); ++i) loads += variant.lies[i] != static_cast<char>(NestLie::kOne);
  if (loads > 2) return 1;
  return loads <= 1 && cost <= kShort ? 4 : 2;
}

/// Writes one kernel.
class KernelWriter {
 public:
  KernelWriter(const NestProgram& program, const NestVariant& variant, std::string entry)
      : program_(program), variant_(variant), entry_(std::move(entry)), inputs_(program.inputs.size()) {}

  std::string text() const {
    return str(head(), "  using namespace kiln;\n  constexpr int kWidth = ", variant_.width,
               ", kUnroll = ", variant_.unroll, ";\n  pdl_launch();\n", registers(), places(), "  pdl_wait();\n",
               loads(), results(), "}\n");
  }

 private:
  size_t num_tensors() const { return inputs_ + program_.outputs.size(); }
  std::string_view walk() const { return variant_.wide ? "WideWalk" : "Walk"; }
  NestLie lie(size_t tensor) const { return static_cast<NestLie>(variant_.lies[tensor]); }

  std::string head() const {
    std::string text = str("extern \"C\" __global__ void __launch_bounds__(", kNestThreads, ") ", entry_,
                           "(const __grid_constant__ kiln::", walk(), " walk");
    for (size_t i = 0; i < num_tensors(); ++i)
      text += str(",\n    const __grid_constant__ kiln::Operand<kiln::", walk(), "::Offset> t", i);
    return text + ") {\n";
  }

  std::string registers() const {
    std::string text = "  int live[kUnroll];\n";
    for (size_t i = 0; i < num_tensors(); ++i) text += str("  ", walk(), "::Offset at", i, "[kUnroll];\n");
    for (size_t i = 0; i < inputs_; ++i)
      text += str("  Loaded<", element_name(program_.inputs[i]), ", ", lie(i) == NestLie::kOne ? "1" : "kWidth", "> x",
                  i, "[kUnroll];\n");
    return text;
  }

  /// Text of the places of all operands: needs nothing of what earlier kernels write.
  std::string places() const {
    std::string text =
        str("#pragma unroll\n  for (int u = 0; u < kUnroll; ++u) {\n",
            "    const unsigned in_block = threadIdx.x + u * blockDim.x;\n    ", walk(), "::Index position = ", walk(),
            "::Index(blockIdx.x) * walk.per_block + in_block;\n    const ", walk(),
            "::Index first = position * kWidth;\n", "    live[u] = in_block < walk.per_block && first < walk.count\n",
            "                  ? int(walk.count - first < kWidth ? walk.count - first : kWidth) : 0;\n");
    for (size_t i = 0; i < num_tensors(); ++i) text += str("    at", i, "[u] = 0;\n");
    text += "#pragma unroll 1\n    for (int axis = walk.rank - 1; axis > 0; --axis) {\n";
    text += str("      const auto i = ", walk(), "::Offset(walk.split(axis, position));\n");
    for (size_t i = 0; i < num_tensors(); ++i) text += str("      at", i, "[u] += i * t", i, ".strides[axis];\n");
    text += "    }\n";
    for (size_t i = 0; i < num_tensors(); ++i)
      text += str("    at", i, "[u] += ", walk(), "::Offset(position) * t", i, ".strides[0];\n");
    return text + "  }\n";
  }

  std::string loads() const {
    std::string text = "#pragma unroll\n  for (int u = 0; u < kUnroll; ++u) {\n";
    for (size_t i = 0; i < inputs_; ++i) {
      const std::string_view how = lie(i) == NestLie::kRow   ? "load_row"
                                   : lie(i) == NestLie::kOne ? "load_one"
                                                             : "load_apart";
      text += str("    ", how, "<", element_name(program_.inputs[i]), ", kWidth>(x", i, "[u], t", i, ", at", i,
                  "[u], live[u]);\n");
    }
    return text + "  }\n";
  }

  std::string results() const {
    std::string text = "#pragma unroll\n  for (int u = 0; u < kUnroll; ++u) {\n";
    for (size_t i = 0; i < program_.outputs.size(); ++i)
      text += str("    Vec<", register_name(program_.outputs[i]), ", kWidth> y", i, ";\n");
    text += "#pragma unroll\n    for (int i = 0; i < kWidth; ++i)\n      compute(";
    for (size_t i = 0; i < inputs_; ++i)
      text += str(i ? ", " : "", "x", i, "[u][", lie(i) == NestLie::kOne ? "0" : "i", "]");
    for (size_t i = 0; i < program_.outputs.size(); ++i) text += str(i || inputs_ ? ", " : "", "y", i, ".at[i]");
    text += ");\n";
    for (size_t i = 0; i < program_.outputs.size(); ++i) {
      const size_t tensor = inputs_ + i;
      const std::string_view element = element_name(program_.outputs[i]);
      text += str("    ", lie(tensor) == NestLie::kRow ? "store_row" : "store_apart", "<", element, ", kWidth>(t",
                  tensor, ", at", tensor, "[u], live[u], y", i, ");\n");
    }
    return text + "  }\n";
  }

  const NestProgram& program_;
  const NestVariant& variant_;
  const std::string entry_;
  const size_t inputs_;
};

}  // namespace

NestVariant plain_variant(const NestProgram& program, bool wide) {
  return {1, std::string(program.inputs.size() + program.outputs.size(), static_cast<char>(NestLie::kApart)), wide};
}

NestVariant best_variant(const NestProgram& program, const MergedAxes& axes) {
  NestVariant variant{1, {}, !is_narrow(axes)};
  int smallest = 16;
  for (size_t i = 0; i < axes.strides.size(); ++i) {
    const NestLie lie = lie_of(axes, i);
    variant.lies += static_cast<char>(lie);
    if (lie == NestLie::kRow) smallest = std::min(smallest, element_bytes_of(program, i));
    const bool is_output = i >= program.inputs.size();
    if (is_output && lie != NestLie::kRow) return plain_variant(program, variant.wide);
  }
  variant.width = std::min(8, 16 / smallest);
  while (variant.width > 1 && (axes.count() < variant.width || !suits(variant, axes))) variant.width /= 2;
  variant.unroll = unroll_of(program, variant, axes.count());
  return variant.width == 1 ? plain_variant(program, variant.wide) : variant;
}

KernelSource nest_kernels(const NestProgram& program, std::span<const NestVariant> variants, NestRounding rounding) {
  KernelSource source;
  source.prelude = str(nest_includes(program), '\n', nest_device_procedure(program, "compute", rounding));
  for (size_t i = 0; i < variants.size(); ++i)
    source.prelude += '\n' + KernelWriter(program, variants[i], nest_entry(i)).text();
  source.entry = nest_entry(0);
  source.quick = only_halves(program);
  return source;
}

}  // namespace kiln::cuda
