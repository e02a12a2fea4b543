#include "backend/cuda/kernels/gemm/epilogue.h"

#include <cmath>
#include <cstdio>

#include "backend/cuda/kernels/nest/function.h"

namespace kiln::cuda {
namespace {

bool is_loadable(DType type) { return type == DType::kF32 || type == DType::kF16 || type == DType::kBF16; }

std::string literal(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9e", static_cast<double>(value));
  return str(text, "f");
}

/// The lines that put operand `i` of a vector into `x<i>`.
std::string load_text(size_t i, DType type, HookOperand reach) {
  const std::string pointer = str("static_cast<const ", element_name(type), "*>(operand[", i, "])");
  if (reach == HookOperand::kScalar) return str("    const float s", i, " = to_float(*", pointer, ");\n");
  return str("    float x", i, "[V];\n    load_vector(x", i, ", ", pointer, " + ",
             reach == HookOperand::kWhole ? "index" : "column", ");\n");
}

}  // namespace

Status validate(const Epilogue& epilogue) {
  if (!epilogue.hook) return {};
  const HookSpec& hook = *epilogue.hook;
  TRY(require(hook.operands.size() + EpilogueArguments::kFixed <= EpilogueArguments::kMost, "an epilogue reads ",
              hook.operands.size(), " tensors; ", EpilogueArguments::kMost - EpilogueArguments::kFixed,
              " are possible"));
  TRY(require(hook.program.inputs.size() == hook.operands.size() + 1 && hook.program.outputs.size() == 1,
              "an epilogue's program has ", hook.program.inputs.size(), " inputs for ", hook.operands.size(),
              " operands"));
  for (const DType type : hook.program.inputs)
    TRY(require(is_loadable(type), "an epilogue reads ", type, "; it takes f32, f16 and bf16"));
  TRY(require(is_loadable(hook.program.outputs[0]), "an epilogue makes ", hook.program.outputs[0],
              "; it makes f32, f16 and bf16"));
  return {};
}

std::string epilogue_source(const Epilogue& epilogue) {
  std::string text = "#include \"gemm/vectors.cuh\"\n";
  if (epilogue.hook) text += "#include \"vocabulary.cuh\"\n";
  text += "namespace kiln {\n";
  if (epilogue.hook) text += nest_device_function(epilogue.hook->program, "epilogue_hook", NestRounding::kStores);
  std::string loads, steps, hook_arguments;
  if (epilogue.bias) {
    loads += load_text(0, *epilogue.bias, HookOperand::kChannel);
    steps += "      y += x0[v];\n";
  }
  if (epilogue.residual) {
    loads += load_text(1, *epilogue.residual, HookOperand::kWhole);
    steps += "      y += x1[v];\n";
  }
  if (std::isfinite(epilogue.lo))
    steps += str("      y = y < ", literal(epilogue.lo), " ? ", literal(epilogue.lo), " : y;\n");
  if (std::isfinite(epilogue.hi))
    steps += str("      y = y > ", literal(epilogue.hi), " ? ", literal(epilogue.hi), " : y;\n");
  if (epilogue.hook) {
    for (size_t i = 0; i < epilogue.hook->operands.size(); ++i) {
      const size_t at = EpilogueArguments::kFixed + i;
      const HookOperand reach = epilogue.hook->operands[i];
      loads += load_text(at, epilogue.hook->program.inputs[i + 1], reach);
      hook_arguments += reach == HookOperand::kScalar ? str(", s", at) : str(", x", at, "[v]");
    }
    steps += str("      y = epilogue_hook(y", hook_arguments, ");\n");
  }
  text += str("struct Epilogue {\n  const void* operand[", EpilogueArguments::kMost,
              "];\n  template <int V>\n"
              "  __device__ __forceinline__ void apply(float (&x)[V], long long index, int column) const {\n",
              loads, "#pragma unroll\n    for (int v = 0; v < V; ++v) {\n      float y = x[v];\n", steps,
              "      x[v] = y;\n    }\n  }\n};\n}  // namespace kiln\n");
  return text;
}

}  // namespace kiln::cuda
