#include "backend/cpu/kernels/recurrence/gates.h"

#include <algorithm>

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/recurrence/gates.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/nest/math-inl.h"
#include "ops/recurrence-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE Floats load(const float* p) { return hn::LoadU(D(), p); }
HWY_INLINE void store(Floats v, float* p) { hn::StoreU(v.raw, D(), p); }

HWY_NOINLINE Floats activate_by_any(const GateFn& fn, Floats x) {
  return kiln::HWY_NAMESPACE::gate_activation(fn.function, x, Floats(fn.alpha), Floats(fn.beta));
}
HWY_INLINE Floats activate(const GateFn& fn, Floats x) {
  if (fn.function == ops::GateFunction::kSigmoid) return sigmoid(x);
  if (fn.function == ops::GateFunction::kTanh) return tanh(x);
  return activate_by_any(fn, x);
}

/// A group of units of one row. `at` is its first unit, `gate(j)` the column of its gate j.
template <GatePass kPass>
struct Group {
  const GateStep& s;
  int64_t row, at;
  const float *a, *u;

  static constexpr int kGates = kPass == GatePass::kLstm        ? 4
                                : kPass == GatePass::kGruLinear ? 3
                                : kPass == GatePass::kGruResets ? 2
                                                                : 1;
  HWY_INLINE Group(const GateStep& step, int64_t row_index, int64_t group)
      : s(step),
        row(row_index),
        at(group * kLanes),
        a(s.a + row * s.a_row + at * kGates),
        u(s.u + row * s.u_row + at * kGates) {}

  HWY_INLINE Floats clipped(Floats x) const { return at_most(at_least(x, -Floats(s.clip)), Floats(s.clip)); }
  HWY_INLINE Floats sum(int j) const { return load(a + j * kLanes) + load(u + j * kLanes); }
  HWY_INLINE Floats peephole(int j, Floats c) const {
    return s.peepholes ? c * load(s.peepholes + j * s.state_row + at) : Floats(0);
  }
  HWY_INLINE float* state(float* p) const { return p + row * s.state_row + at; }
  HWY_INLINE Floats before() const { return load(s.h + row * s.state_row + at); }
  HWY_INLINE void put(Floats h) const {
    store(h, state(s.next_h));
    const int64_t left = s.hidden - at;
    store_some(h.raw, s.y + row * s.y_row + at, static_cast<int>(std::min<int64_t>(kLanes, left)));
  }

  HWY_INLINE void lstm() const {
    const Floats c = load(state(s.c));
    const Floats i = activate(s.f, clipped(sum(0) + peephole(0, c)));
    const Floats forget = s.input_forget ? Floats(1) - i : activate(s.f, clipped(sum(2) + peephole(2, c)));
    const Floats next = fma(forget, c, i * activate(s.g, clipped(sum(3))));
    store(next, state(s.c));
    put(activate(s.f, clipped(sum(1) + peephole(1, next))) * activate(s.k, next));
  }
  HWY_INLINE void run() const {
    if constexpr (kPass == GatePass::kRnn) put(activate(s.f, clipped(sum(0))));
    if constexpr (kPass == GatePass::kLstm) lstm();
    if constexpr (kPass == GatePass::kGruResets) {
      store(activate(s.f, clipped(sum(0))), state(s.z));
      store(activate(s.f, clipped(sum(1))) * before(), state(s.reset_h));
    }
    if constexpr (kPass == GatePass::kGruState) {
      const Floats z = load(state(s.z)), n = activate(s.g, clipped(sum(0)));
      put(fma(z, before() - n, n));
    }
    if constexpr (kPass == GatePass::kGruLinear) {
      const Floats z = activate(s.f, clipped(sum(0))), r = activate(s.f, clipped(sum(1)));
      const Floats n = activate(s.g, clipped(fma(r, load(u + 2 * kLanes), load(a + 2 * kLanes))));
      put(fma(z, before() - n, n));
    }
  }
};

/// A row that has ended.
void rest(const GateStep& s, int64_t row) {
  const int64_t first = s.group0 * kLanes, last = std::min(s.group1 * kLanes, s.hidden);
  const float* const h = s.h + row * s.state_row;
  std::copy(h + first, h + s.group1 * kLanes, s.next_h + row * s.state_row + first);
  std::fill(s.y + row * s.y_row + first, s.y + row * s.y_row + last, 0.0f);
}

template <GatePass kPass>
void run_pass(const GateStep& s) {
  for (int64_t row = 0; row < s.rows; ++row) {
    if (s.lengths && s.time >= s.lengths[row]) {
      if (kPass != GatePass::kGruResets) rest(s, row);
      continue;
    }
    for (int64_t group = s.group0; group < s.group1; ++group) Group<kPass>(s, row, group).run();
  }
}

void gates(const GateStep& s) {
  switch (s.pass) {
    case GatePass::kRnn: return run_pass<GatePass::kRnn>(s);
    case GatePass::kLstm: return run_pass<GatePass::kLstm>(s);
    case GatePass::kGruResets: return run_pass<GatePass::kGruResets>(s);
    case GatePass::kGruState: return run_pass<GatePass::kGruState>(s);
    case GatePass::kGruLinear: return run_pass<GatePass::kGruLinear>(s);
  }
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backend/cpu/kernels/gemm/block.h"

namespace kiln::cpu {

int64_t gate_group() { return tiling().panel / 2; }
void run_gates(const GateStep& step) { KILN_DISPATCH(gates)(step); }

}  // namespace kiln::cpu
#endif
