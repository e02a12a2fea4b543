#include "backend/cuda/compile/gemm/epilogue.h"

#include <cmath>
#include <cstdio>

#include "backend/cuda/compile/nest/function.h"

namespace kiln::cuda {
namespace {

using steps::HookOperand;

/// `value` rounded to a float.
std::string literal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9e", static_cast<double>(static_cast<float>(value)));
  return str(text, "f");
}

/// A kernel's work on its operands, as text: where they are kept, how they get there, and how x becomes y.
struct EpilogueText {
  std::string members, loads, steps;

  /// Operand `i`; the result is what it is called in the steps.
  std::string read(size_t i, DType type, HookOperand reach) {
    const std::string_view element = element_name(type);
    const std::string pointer = str("static_cast<const ", element, "*>(from.operand[", i, "])");
    members += str("    Fetched<", element, ", ", reach == HookOperand::kScalar ? "1" : "V", "> x", i, ";\n");
    loads += str("      x", i, ".fetch(", pointer,
                 reach == HookOperand::kScalar  ? ""
                 : reach == HookOperand::kWhole ? " + index"
                                                : " + column",
                 ");\n");
    return str("x", i, reach == HookOperand::kScalar ? "[0]" : "[v]");
  }
};

}  // namespace

bool is_quick(const Epilogue& epilogue) { return epilogue.hook && only_halves(epilogue.hook->program); }

std::string epilogue_source(const Epilogue& epilogue) {
  std::string text = "#include \"gemm/vectors.cuh\"\n";
  if (epilogue.hook) text += "#include \"vocabulary.cuh\"\n";
  text += "namespace kiln {\n";
  if (epilogue.hook) text += nest_device_function(epilogue.hook->program, "epilogue_hook", NestRounding::kStores);
  EpilogueText of;
  if (epilogue.bias) of.steps += str("        y += ", of.read(0, *epilogue.bias, HookOperand::kChannel), ";\n");
  if (epilogue.residual) of.steps += str("        y += ", of.read(1, *epilogue.residual, HookOperand::kWhole), ";\n");
  if (std::isfinite(epilogue.lo))
    of.steps += str("        y = y < ", literal(epilogue.lo), " ? ", literal(epilogue.lo), " : y;\n");
  if (std::isfinite(epilogue.hi))
    of.steps += str("        y = y > ", literal(epilogue.hi), " ? ", literal(epilogue.hi), " : y;\n");
  if (epilogue.hook) {
    std::string arguments;
    for (size_t i = 0; i < epilogue.hook->operands.size(); ++i)
      arguments += str(", ", of.read(EpilogueArguments::kFixed + i, epilogue.hook->program.inputs[i + 1],
                                     epilogue.hook->operands[i]));
    of.steps += str("        y = epilogue_hook(y", arguments, ");\n");
  }
  text += str("struct Epilogue {\n  using Bias = ", epilogue.bias ? element_name(*epilogue.bias) : "void",
              ";\n  const void* operand[", EpilogueArguments::kMost, "];\n\n",
              "  /// Of V results; fetched while the sums are still in the making.\n",
              "  template <int V>\n  struct Operands {\n", of.members,
              "    __device__ __forceinline__ void fetch(const Epilogue& from, long long index, int column) {\n",
              of.loads, "    }\n    __device__ __forceinline__ void apply(float (&x)[V]) const {\n",
              "#pragma unroll\n      for (int v = 0; v < V; ++v) {\n        float y = x[v];\n", of.steps,
              "        x[v] = y;\n      }\n    }\n  };\n", "  template <int V>\n",
              "  __device__ __forceinline__ void apply(float (&x)[V], long long index, int column) const {\n",
              "    Operands<V> operands;\n    operands.fetch(*this, index, column);\n    operands.apply(x);\n  }\n",
              "};\n}  // namespace kiln\n");
  return text;
}

}  // namespace kiln::cuda
