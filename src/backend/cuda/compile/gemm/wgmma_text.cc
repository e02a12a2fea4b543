#include "backend/cuda/compile/gemm/wgmma_text.h"

#include "base/str.h"

namespace kiln::cuda {

std::string wgmma_source(int64_t n, DType element, WgmmaForm form) {
  const int64_t sums = n / 2;
  const bool tf32 = element == DType::kF32, shared = form == WgmmaForm::kShared;
  const std::string_view type = tf32 ? "tf32" : element == DType::kF16 ? "f16" : "bf16";
  std::string registers, operands;
  for (int64_t i = 0; i < sums; ++i) {
    registers += str(i ? ", " : "", "%", i);
    operands += str(i ? ", " : "", "\"+f\"(d[", i / 4, "][", i % 4, "])");
  }
  // Operands by number: the sums, then a (a descriptor or four registers), b, and whether to accumulate.
  const int64_t b = sums + (shared ? 1 : 4);
  const std::string a =
      shared ? str("%", sums) : str("{%", sums, ", %", sums + 1, ", %", sums + 2, ", %", sums + 3, "}");
  const std::string_view layout = tf32 ? "" : shared ? ", 0, 0" : ", 1";
  return str("namespace kiln {\n/// d (64 x ", n, ") = a * b, or d + a * b, for 32 bytes of k.\n",
             "__device__ __forceinline__ void ", shared ? "wgmma" : "wgmma_values", "(float (&d)[", n / 8, "][4], ",
             shared ? "unsigned long long a" : "const unsigned (&a)[4]", ", unsigned long long b, int accumulate) {\n",
             "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %", b + 1, ", 0;\\nwgmma.mma_async.sync.aligned.m64n",
             n, tf32 ? "k8" : "k16", ".f32.", type, ".", type, " {", registers, "}, ", a, ", %", b, ", p, 1, 1", layout,
             ";\\n}\"\n               : ", operands,
             "\n               : ", shared ? "\"l\"(a)" : "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])",
             ", \"l\"(b), \"r\"(accumulate));\n}\n}  // namespace kiln\n");
}

}  // namespace kiln::cuda
