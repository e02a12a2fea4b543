#include "backend/cuda/compile/gemm/wgmma_text.h"

#include "base/str.h"

namespace kiln::cuda {

namespace {

/// How the instruction is spelled for a type of elements.
struct Spelling {
  std::string_view types;
  bool has_signs = true, has_layout = false;  ///< immediates behind the predicate
  bool sums_integers = false;
};
Spelling spelling(DType element, bool right) {
  switch (element) {
    case DType::kF32: return {"k8.f32.tf32.tf32"};
    case DType::kF16: return {"k16.f32.f16.f16", true, true};
    case DType::kBF16: return {"k16.f32.bf16.bf16", true, true};
    case DType::kF8E4M3: return {"k32.f32.e4m3.e4m3"};
    case DType::kU8: return {right ? "k32.s32.s8.u8" : "k32.s32.u8.s8", false, false, true};
    default: return {"k32.s32.s8.s8", false, false, true};
  }
}

}  // namespace

std::string wgmma_source(int64_t n, DType element, WgmmaForm form) {
  const int64_t sums = n / 2;
  const bool shared = form != WgmmaForm::kRegisters;
  const Spelling as = spelling(element, form == WgmmaForm::kSharedRight);
  std::string registers, operands;
  for (int64_t i = 0; i < sums; ++i) {
    registers += str(i ? ", " : "", "%", i);
    const std::string sum = str("d[", i / 4, "][", i % 4, "]");
    operands += str(i ? ", " : "",
                    as.sums_integers ? str("\"+r\"(reinterpret_cast<int&>(", sum, "))") : str("\"+f\"(", sum, ')'));
  }
  // Operands by number: the sums, then a (a descriptor or four registers), b, and whether to accumulate.
  const int64_t b = sums + (shared ? 1 : 4);
  const std::string a =
      shared ? str("%", sums) : str("{%", sums, ", %", sums + 1, ", %", sums + 2, ", %", sums + 3, "}");
  const std::string_view signs = as.has_signs ? ", 1, 1" : "", layout = !as.has_layout ? "" : shared ? ", 0, 0" : ", 1";
  return str("namespace kiln {\n/// d (64 x ", n, ") = a * b, or d + a * b, for 32 bytes of k.\n",
             "__device__ __forceinline__ void ", shared ? "wgmma" : "wgmma_values", "(float (&d)[", n / 8, "][4], ",
             shared ? "unsigned long long a" : "const unsigned (&a)[4]", ", unsigned long long b, int accumulate) {\n",
             "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %", b + 1, ", 0;\\nwgmma.mma_async.sync.aligned.m64n",
             n, as.types, " {", registers, "}, ", a, ", %", b, ", p", signs, layout,
             ";\\n}\"\n               : ", operands,
             "\n               : ", shared ? "\"l\"(a)" : "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])",
             ", \"l\"(b), \"r\"(accumulate));\n}\n}  // namespace kiln\n");
}

}  // namespace kiln::cuda
