#include "backend/cpu/kernels/nest/byte_table.h"

#include "backend/cpu/device/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kiln::cpu {
namespace {

void look_up_plain(const uint8_t* table, const uint8_t* from, int64_t count, uint8_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = table[from[i]];
}

#if defined(__x86_64__)

bool has_vbmi() {
  static const bool has = __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw");
  return has && target() == Target::kAvx512;
}

/// The table lies in four registers, of which an instruction picks from two.
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) void look_up_vbmi(const uint8_t* table, const uint8_t* from,
                                                                         int64_t count, uint8_t* to) {
  constexpr int64_t kLanes = 64;
  __m512i part[4];
  for (int64_t i = 0; i < 4; ++i) part[i] = _mm512_loadu_si512(table + i * kLanes);
  for (int64_t i = 0; i < count; i += kLanes) {
    const __mmask64 mask = count - i >= kLanes ? ~__mmask64{0} : (__mmask64{1} << (count - i)) - 1;
    const __m512i at = _mm512_maskz_loadu_epi8(mask, from + i);
    const __m512i low = _mm512_permutex2var_epi8(part[0], at, part[1]);
    const __m512i high = _mm512_permutex2var_epi8(part[2], at, part[3]);
    _mm512_mask_storeu_epi8(to + i, mask, _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high));
  }
}

#endif

}  // namespace

void look_up(const uint8_t* table, const uint8_t* from, int64_t count, uint8_t* to) {
#if defined(__x86_64__)
  if (has_vbmi()) return look_up_vbmi(table, from, count, to);
#endif
  look_up_plain(table, from, count, to);
}

}  // namespace kiln::cpu
