// Prints how the small floats behave, one line a property, with a hash of all results. Compiled with our headers and
// with NVIDIA's, the program must print the same. `small_float_table NAME` prints each result of one property instead.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

const char* shown = "";

/// The results of one property.
class Row {
 public:
  explicit Row(const char* name) : name_(name), shows_(std::strcmp(name, shown) == 0) {}
  ~Row() {
    if (!*shown) std::printf("%-24s %016llx\n", name_, static_cast<unsigned long long>(hash_));
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  void add(uint64_t from, uint64_t result) {
    hash_ = (hash_ ^ result) * 0x100000001b3;
    if (shows_)
      std::printf("%llx: %llx\n", static_cast<unsigned long long>(from), static_cast<unsigned long long>(result));
  }
  void add(uint64_t from, float result) {  // any NaN is one
    uint32_t bits = 0x7fffffff;
    if (result == result) std::memcpy(&bits, &result, sizeof bits);
    add(from, uint64_t{bits});
  }

 private:
  const char* name_;
  bool shows_;
  uint64_t hash_ = 0xcbf29ce484222325;
};

float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Floats that are hard to round: all upper halves of bits, and lower ones around ties.
std::vector<uint32_t> floats() {
  std::vector<uint32_t> all;
  for (uint32_t upper = 0; upper < 1u << 16; ++upper)
    for (uint32_t lower : {0u, 1u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      all.push_back(upper << 16 | lower);
  return all;
}

unsigned short bits_of(__half h) { return static_cast<__half_raw>(h).x; }
unsigned short bits_of(__nv_bfloat16 h) { return static_cast<__nv_bfloat16_raw>(h).x; }
__half half_of(unsigned bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); }
__nv_bfloat16 bfloat_of(unsigned bits) { return __ushort_as_bfloat16(static_cast<unsigned short>(bits)); }

template <class F>
void each_float(const char* name, F f) {
  Row row(name);
  for (uint32_t bits : floats()) row.add(bits, uint64_t{f(float_of(bits))});
}
template <class F>
void each_pattern(const char* name, F f) {
  Row row(name);
  for (uint32_t bits = 0; bits < 1u << 16; ++bits) row.add(bits, f(bits));
}
template <class F>
void each_integer(const char* name, F f) {
  Row row(name);
  for (uint64_t top = 0; top < 1u << 11; ++top)
    for (int shift = 0; shift < 53; shift += 1)
      for (uint64_t low : {0, 1, 2}) row.add(top << shift | low, uint64_t{f(top << shift | low)});
}
template <class F>
void each_pair(const char* name, F f) {
  Row row(name);
  for (uint32_t a = 0; a < 1u << 16; a += 37)
    for (uint32_t b = 5; b < 1u << 16; b += 251) row.add(a << 16 | b, uint64_t{f(a, b)});
}

void halves() {
  each_pattern("half to float", [](unsigned b) { return __half2float(half_of(b)); });
  each_pattern("half to int", [](unsigned b) { return static_cast<uint64_t>(__half2int_rz(half_of(b))); });
  each_pattern("half to uint", [](unsigned b) { return uint64_t{__half2uint_rz(half_of(b))}; });
  each_pattern("half to short", [](unsigned b) { return static_cast<uint64_t>(__half2short_rz(half_of(b))); });
  each_pattern("half to ll", [](unsigned b) { return static_cast<uint64_t>(__half2ll_rz(half_of(b))); });
  each_pattern("half to uchar", [](unsigned b) { return uint64_t{static_cast<unsigned char>(half_of(b))}; });
  each_pattern("half is inf", [](unsigned b) { return static_cast<uint64_t>(__hisinf(half_of(b))); });
  each_pattern("half negated", [](unsigned b) { return static_cast<float>(-half_of(b)); });
  each_float("half nearest", [](float f) { return bits_of(__float2half_rn(f)); });
  each_float("half toward 0", [](float f) { return bits_of(__float2half_rz(f)); });
  each_float("half down", [](float f) { return bits_of(__float2half_rd(f)); });
  each_float("half up", [](float f) { return bits_of(__float2half_ru(f)); });
  each_float("half of double", [](float f) { return bits_of(__double2half(f * 1.0000000001)); });
  each_integer("half of ll", [](uint64_t n) { return bits_of(__ll2half_rn(static_cast<long long>(n))); });
  each_integer("half of ull down", [](uint64_t n) { return bits_of(__ull2half_rd(n)); });
  each_integer("half of int up", [](uint64_t n) { return bits_of(__int2half_ru(static_cast<int>(n))); });
  each_pair("half +", [](unsigned a, unsigned b) { return bits_of(half_of(a) + half_of(b)); });
  each_pair("half *", [](unsigned a, unsigned b) { return bits_of(half_of(a) * half_of(b)); });
  each_pair("half /", [](unsigned a, unsigned b) { return bits_of(half_of(a) / half_of(b)); });
  each_pair("half <", [](unsigned a, unsigned b) { return half_of(a) < half_of(b); });
  each_pair("half !=", [](unsigned a, unsigned b) { return half_of(a) != half_of(b); });
  each_pair("half max", [](unsigned a, unsigned b) { return bits_of(__hmax(half_of(a), half_of(b))); });
  each_pair("half min", [](unsigned a, unsigned b) { return bits_of(__hmin_nan(half_of(a), half_of(b))); });
  each_pair("half saturated", [](unsigned a, unsigned b) { return bits_of(__hadd_sat(half_of(a), half_of(b))); });
}

void bfloats() {
  each_pattern("bfloat16 to float", [](unsigned b) { return __bfloat162float(bfloat_of(b)); });
  each_pattern("bfloat16 to int", [](unsigned b) { return static_cast<uint64_t>(__bfloat162int_rz(bfloat_of(b))); });
  each_pattern("bfloat16 to ull", [](unsigned b) { return uint64_t{__bfloat162ull_rz(bfloat_of(b))}; });
  each_float("bfloat16 nearest", [](float f) { return bits_of(__float2bfloat16_rn(f)); });
  each_float("bfloat16 toward 0", [](float f) { return bits_of(__float2bfloat16_rz(f)); });
  each_float("bfloat16 down", [](float f) { return bits_of(__float2bfloat16_rd(f)); });
  each_float("bfloat16 up", [](float f) { return bits_of(__float2bfloat16_ru(f)); });
  each_float("bfloat16 of double", [](float f) { return bits_of(__double2bfloat16(f * 1.0000000001)); });
  each_integer("bfloat16 of ll", [](uint64_t n) { return bits_of(__ll2bfloat16_rn(static_cast<long long>(n))); });
  each_pair("bfloat16 +", [](unsigned a, unsigned b) { return bits_of(bfloat_of(a) + bfloat_of(b)); });
  each_pair("bfloat16 *", [](unsigned a, unsigned b) { return bits_of(bfloat_of(a) * bfloat_of(b)); });
  each_pair("bfloat16 /", [](unsigned a, unsigned b) { return bits_of(bfloat_of(a) / bfloat_of(b)); });
  each_pair("bfloat16 >=", [](unsigned a, unsigned b) { return bfloat_of(a) >= bfloat_of(b); });
  each_pattern("half of bfloat16", [](unsigned b) { return static_cast<float>(__half(bfloat_of(b))); });
  each_pattern("bfloat16 of half", [](unsigned b) { return static_cast<float>(__nv_bfloat16(half_of(b))); });
}

template <class T>
T of_byte(unsigned bits) {
  T value;
  value.__x = static_cast<unsigned char>(bits);
  return value;
}
template <class T, int kBits>
void bytes(const char* from, const char* to, const char* to_int) {
  {
    Row row(to);
    for (unsigned bits = 0; bits < 1u << kBits; ++bits) row.add(bits, static_cast<float>(of_byte<T>(bits)));
  }
  {
    Row row(to_int);
    for (unsigned bits = 0; bits < 1u << kBits; ++bits)
      row.add(bits, static_cast<uint64_t>(static_cast<int>(of_byte<T>(bits))));
  }
  each_float(from, [](float f) { return T(f).__x; });
}

void small() {
  bytes<__nv_fp8_e4m3, 8>("e4m3", "e4m3 to float", "e4m3 to int");
  bytes<__nv_fp8_e5m2, 8>("e5m2", "e5m2 to float", "e5m2 to int");
  bytes<__nv_fp6_e2m3, 6>("e2m3", "e2m3 to float", "e2m3 to int");
  bytes<__nv_fp6_e3m2, 6>("e3m2", "e3m2 to float", "e3m2 to int");
  bytes<__nv_fp4_e2m1, 4>("e2m1", "e2m1 to float", "e2m1 to int");
  each_float("e4m3 not saturated", [](float f) { return __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E4M3); });
  each_float("e5m2 not saturated", [](float f) { return __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E5M2); });
  each_float("e5m2 of double", [](float f) {  // of NaNs NVIDIA has two: one of doubles, one of floats
    return f == f ? __nv_fp8_e5m2(f * 1.0000000001).__x : uint64_t{0};
  });
  each_float("e2m1 toward 0", [](float f) { return __nv_cvt_float_to_fp4(f, __NV_E2M1, cudaRoundZero); });
  each_float("e4m3 pair", [](float f) { return __nv_fp8x2_e4m3(float2{f, 1.5f}).__x; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) shown = argv[1];
  halves();
  bfloats();
  small();
}
