// A layer of a recurrent network, all time steps in one launch. The blocks of a cluster share the hidden units of one
// direction and a tile of rows of the batch: each keeps its units' part of R (in registers or shared memory, where it
// fits), multiplies the whole state by it, and sends its units' new state to all of them. Sums are float, in a fixed
// order. Products of the input were made before.
#pragma once

#include "device.cuh"
#include "ops/recurrence-inl.h"
#include "ptx/cluster.cuh"
#include "recurrence/arguments.h"

namespace kiln {

using Recurrence = cuda::RecurrenceArgument;

enum class RecurrenceCell { kRnn, kLstm, kGru, kGruLinear };
enum class RecurrencePlace { kRegisters, kShared, kGlobal };  // where R is

__device__ __noinline__ float activate_by_any(const cuda::GateArgument& gate, float x) {
  return device::gate_activation(gate.function, x, gate.alpha, gate.beta);
}
__device__ __forceinline__ float activate(const cuda::GateArgument& gate, float x) {
  if (gate.function == ops::GateFunction::kSigmoid) return device::activation<ScalarFn::kSigmoid>(x, 0.0f, 0.0f);
  if (gate.function == ops::GateFunction::kTanh) return device::activation<ScalarFn::kTanh>(x, 0.0f, 0.0f);
  return activate_by_any(gate, x);
}

/// Tile of a recurrence: hidden units, blocks of a cluster, rows of the batch a cluster, threads of a block.
struct RecurrenceTile {
  int hidden, blocks, rows, threads;
};

template <class T, RecurrenceCell kCell, RecurrenceTile kTile, RecurrencePlace kPlace>
struct RecurrenceBlock {
  static constexpr int kHidden = kTile.hidden, kBlocks = kTile.blocks, kRows = kTile.rows, kThreads = kTile.threads;
  static constexpr int kGates = kCell == RecurrenceCell::kRnn ? 1 : kCell == RecurrenceCell::kLstm ? 4 : 3;
  static constexpr int kUnits = (kHidden + kBlocks - 1) / kBlocks, kColumns = kGates * kUnits;
  static constexpr int kItems = (kUnits * kRows + kThreads - 1) / kThreads;  // units and rows of a thread
  static constexpr bool kTwoPasses = kCell == RecurrenceCell::kGru;
  static constexpr int kStateBytes = kHidden * kRows * 4;

  const Recurrence& g;
  const unsigned rank, barriers;  // for h of even and odd steps, and for r * h
  int d, row0;
  // Shared memory, as recurrence_shared_bytes counts it.
  float *h, *reset_h, *partial;
  T* shared_r;
  const T* r;
  // The state and the sums of each item that the thread computes.
  float c[kItems] = {}, z[kItems] = {}, a[kItems][kGates] = {};
  int length[kItems] = {};

  /// Columns [kFirst, kFirst + kCount) of R, of which kSlices threads share one.
  template <int kFirst, int kCount>
  struct Matrix {
    static constexpr int kSlices = kThreads / kCount < 1 ? 1 : kThreads / kCount > 16 ? 16 : kThreads / kCount;
    static constexpr int kDepth = ((kHidden + kSlices - 1) / kSlices + 3) / 4 * 4;
    static constexpr bool kKept = kPlace == RecurrencePlace::kRegisters;
    static_assert(!kKept || kSlices * kCount <= kThreads, "a thread keeps a part of one column");
    float kept[kKept ? kDepth : 1];

    __device__ __forceinline__ void load(const T* r) {
      const int slice = threadIdx.x / kCount, column = threadIdx.x % kCount;
      if constexpr (kKept)
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
          const int k = slice * kDepth + i;
          kept[i] = slice < kSlices && k < kHidden ? to_float(r[k * kColumns + kFirst + column]) : 0;
        }
    }
    __device__ __forceinline__ static void add(float (&sum)[kRows], float weight, const float* h) {
      const Vec<float, kRows> state = load_vec<float, kRows>(h);
#pragma unroll
      for (int row = 0; row < kRows; ++row) sum[row] = fmaf(weight, state.at[row], sum[row]);
    }
    /// The sums of weights that are kept; one row's state is loaded by fours.
    __device__ __forceinline__ void add_kept(float (&sum)[kRows], int first, const float* h) const {
      constexpr int kStep = kRows == 1 && kHidden % 4 == 0 ? 4 : 1;
#pragma unroll
      for (int i = 0; i < kDepth; i += kStep) {
        if (kDepth * kSlices != kHidden && first + i >= kHidden) continue;
        if constexpr (kStep == 4) {
          const Vec<float, 4> state = load_vec<float, 4>(h + first + i);
#pragma unroll
          for (int j = 0; j < 4; ++j) sum[0] = fmaf(kept[i + j], state.at[j], sum[0]);
        } else {
          add(sum, kept[i], h + (first + i) * kRows);
        }
      }
    }
    /// partial[slice][column][row]; whoever reads it waits for the block before.
    __device__ __forceinline__ void multiply(const T* r, const float* h, float* partial) const {
      for (int at = threadIdx.x; at < kSlices * kCount; at += kThreads) {
        const int slice = at / kCount, column = at % kCount, first = slice * kDepth;
        float sum[kRows] = {};
        if constexpr (kKept) {
          add_kept(sum, first, h);
        } else {
          const int last = min(kHidden, first + kDepth);
#pragma unroll 8
          for (int k = first; k < last; ++k) add(sum, to_float(r[k * kColumns + kFirst + column]), h + k * kRows);
        }
#pragma unroll
        for (int row = 0; row < kRows; ++row) partial[at * kRows + row] = sum[row];
      }
    }
    /// The product of a column and a row of the state.
    __device__ __forceinline__ static float product(const float* partial, int column, int row) {
      float sum = 0;
#pragma unroll
      for (int slice = 0; slice < kSlices; ++slice) sum += partial[(slice * kCount + column) * kRows + row];
      return sum;
    }
  };
  static constexpr int kFirstPass = kTwoPasses ? 2 * kUnits : kColumns;
  using First = Matrix<0, kFirstPass>;
  using Second = Matrix<kTwoPasses ? 2 * kUnits : 0, kTwoPasses ? kUnits : kFirstPass>;
  static constexpr int kSums = First::kSlices * kFirstPass, kSecondSums = Second::kSlices * kUnits;
  First first;
  Second second;  ///< of kTwoPasses

  __device__ __forceinline__ RecurrenceBlock(const Recurrence& recurrence, char* shared, uint64_t* barrier)
      : g(recurrence), rank(kBlocks > 1 ? cluster_rank() : 0), barriers(shared_address(barrier)) {
    const int cluster = blockIdx.x / kBlocks;
    d = cluster / g.tiles;
    row0 = cluster % g.tiles * kRows;
    h = reinterpret_cast<float*>(shared);
    reset_h = h + 2 * kHidden * kRows;
    partial = reset_h + (kTwoPasses ? kHidden * kRows : 0);
    shared_r = reinterpret_cast<T*>(partial + (kTwoPasses && kSecondSums > kSums ? kSecondSums : kSums) * kRows);
    r = static_cast<const T*>(g.r) + int64_t(d * kBlocks + rank) * kHidden * kColumns;
  }

  // Items: unit of the block fastest, so that neighbours read and write neighbours.
  __device__ __forceinline__ static int item(int n) { return threadIdx.x + n * kThreads; }
  __device__ __forceinline__ static int row_of(int n) { return item(n) / kUnits; }
  __device__ __forceinline__ static int local_unit(int n) { return item(n) % kUnits; }
  __device__ __forceinline__ int unit_of(int n) const { return rank * kUnits + local_unit(n); }
  /// Whether the item is a unit; its row may be beyond the batch.
  __device__ __forceinline__ bool is_unit(int n) const { return row_of(n) < kRows && unit_of(n) < kHidden; }
  __device__ __forceinline__ bool is_live(int n) const { return is_unit(n) && row0 + row_of(n) < g.batch; }
  __device__ __forceinline__ int time_of(int k) const { return g.reverse[d] ? g.time - 1 - k : k; }
  __device__ __forceinline__ int64_t state_at(int n) const {
    return d * g.state_direction + (row0 + row_of(n)) * g.state_batch + unit_of(n);
  }

  /// Fetches the products of step k's input, and adds biases: both, but for the gate whose products of the state, with
  /// theirs, are multiplied by another.
  __device__ __forceinline__ void fetch(int k) {
#pragma unroll
    for (int n = 0; n < kItems; ++n)
      if (is_live(n) && k < g.time) {
        const T* const from = static_cast<const T*>(g.a) + time_of(k) * g.a_time + (row0 + row_of(n)) * g.a_batch +
                              d * (kGates * kHidden) + unit_of(n);
#pragma unroll
        for (int gate = 0; gate < kGates; ++gate) {
          const bool apart = kCell == RecurrenceCell::kGruLinear && gate == 2;
          a[n][gate] =
              to_float(from[gate * kHidden]) + (apart ? bias(0, gate, n) : bias(0, gate, n) + bias(1, gate, n));
        }
      }
  }
  __device__ __forceinline__ float bias(int side, int gate, int n) const {
    return g.biases[((d * 2 + side) * kGates + gate) * kHidden + unit_of(n)];
  }
  __device__ __forceinline__ float peephole(int gate, int n, float memory) const {
    return g.peepholes ? memory * g.peepholes[(d * 3 + gate) * kHidden + unit_of(n)] : 0;
  }

  // Cluster instructions fault in a launch without clusters, so a block alone only waits for its own threads.
  __device__ __forceinline__ void post(float* buffer, int n, float x, int barrier) const {
    float* const to = buffer + unit_of(n) * kRows + row_of(n);
    if constexpr (kBlocks > 1)
#pragma unroll 1
      for (unsigned block = 0; block < kBlocks; ++block) send(to, x, barriers + 8 * barrier, block);
    else
      *to = x;
  }
  __device__ __forceinline__ void expect(int barrier) const {
    if constexpr (kBlocks > 1)
      if (threadIdx.x == 0) expect_bytes(barriers + 8 * barrier, kStateBytes);
  }
  /// Waits until all blocks have posted to a buffer, for the `phase`th time.
  __device__ __forceinline__ void receive(int barrier, int phase) const {
    if constexpr (kBlocks > 1) {
      wait_barrier(barriers + 8 * barrier, phase & 1);
      expect(barrier);
    } else {
      __syncthreads();
    }
  }

  __device__ __forceinline__ void begin() {
    if constexpr (kBlocks > 1) {
      if (threadIdx.x == 0)
        for (int i = 0; i < 3; ++i) init_barrier(barriers + 8 * i, 1);
      begin_cluster();
      for (int i = 0; i < 3; ++i) expect(i);
    }
    if constexpr (kPlace == RecurrencePlace::kShared) {
      for (int i = threadIdx.x; i < kHidden * kColumns; i += kThreads) shared_r[i] = r[i];
      r = shared_r;
      __syncthreads();
    }
    first.load(r);
    if constexpr (kTwoPasses) second.load(r);
    pdl_wait();
    for (int i = threadIdx.x; i < kHidden * kRows; i += kThreads) {
      const int row = row0 + i / kHidden, unit = i % kHidden;
      float x = 0;
      if (g.initial_h && row < g.batch)
        x = to_float(static_cast<const T*>(g.initial_h)[d * g.state_direction + row * g.state_batch + unit]);
      h[unit * kRows + row - row0] = x;
    }
#pragma unroll
    for (int n = 0; n < kItems; ++n) {
      if (!is_live(n)) continue;
      length[n] = g.lengths ? g.lengths[row0 + row_of(n)] : g.time;
      if (unsigned(length[n]) > unsigned(g.time)) {
        *static_cast<volatile int64_t*>(g.fault) = int64_t(length[n]) << 1 | 1;
        length[n] = 0;
      }
      if (kCell == RecurrenceCell::kLstm && g.initial_c)
        c[n] = to_float(static_cast<const T*>(g.initial_c)[state_at(n)]);
    }
    fetch(0);
    __syncthreads();
    if constexpr (kBlocks > 1) wait_cluster();  // every block has begun, so that its barriers are there
  }

  /// The argument of a gate's activation. NaN stays.
  __device__ __forceinline__ float clipped(float x) const { return x == x ? fminf(fmaxf(x, -g.clip), g.clip) : x; }
  __device__ __forceinline__ float product(int gate, int n) const {
    return First::product(partial, gate * kUnits + local_unit(n), row_of(n));
  }
  __device__ __forceinline__ float gate_sum(int gate, int n) const { return clipped(a[n][gate] + product(gate, n)); }
  __device__ __forceinline__ float with_peephole(int gate, int n, float memory) const {
    return clipped(a[n][gate] + product(gate, n) + peephole(gate, n, memory));
  }

  __device__ __forceinline__ float lstm(int n) {
    const cuda::GateArgument* const f = g.functions[d];
    const float i = activate(f[0], with_peephole(0, n, c[n]));
    const float forget = g.input_forget ? 1 - i : activate(f[0], with_peephole(2, n, c[n]));
    c[n] = fmaf(forget, c[n], i * activate(f[1], gate_sum(3, n)));
    return activate(f[0], with_peephole(1, n, c[n])) * activate(f[2], c[n]);
  }
  __device__ __forceinline__ float gru(int n, float before) const {
    const cuda::GateArgument* const f = g.functions[d];
    float update = z[n], sum;
    if constexpr (kTwoPasses) {
      sum = a[n][2] + Second::product(partial, local_unit(n), row_of(n));
    } else {
      update = activate(f[0], gate_sum(0, n));
      sum = fmaf(activate(f[0], gate_sum(1, n)), product(2, n) + bias(1, 2, n), a[n][2]);
    }
    const float next = activate(f[1], clipped(sum));
    return fmaf(update, before - next, next);
  }
  __device__ __forceinline__ float next_state(int n, float before) {
    if constexpr (kCell == RecurrenceCell::kRnn) return activate(g.functions[d][0], gate_sum(0, n));
    if constexpr (kCell == RecurrenceCell::kLstm) return lstm(n);
    if constexpr (kGates == 3) return gru(n, before);
  }

  /// z, and r * h to all blocks.
  __device__ __forceinline__ void reset(const float* now, int k) {
    const cuda::GateArgument* const f = g.functions[d];
#pragma unroll
    for (int n = 0; n < kItems; ++n) {
      if (!is_unit(n)) continue;
      const float before = now[unit_of(n) * kRows + row_of(n)];
      z[n] = activate(f[0], gate_sum(0, n));
      post(reset_h, n, activate(f[0], gate_sum(1, n)) * before, 2);
    }
    receive(2, k);
    second.multiply(r, reset_h, partial);
    __syncthreads();
  }

  __device__ __forceinline__ void step(int k) {
    const float* const now = h + (k & 1) * kHidden * kRows;
    float* const next = h + (~k & 1) * kHidden * kRows;
    const bool is_last = k + 1 == g.time;
    first.multiply(r, now, partial);
    __syncthreads();
    if constexpr (kTwoPasses) reset(now, k);
#pragma unroll
    for (int n = 0; n < kItems; ++n) {
      if (!is_unit(n)) continue;
      const int time = time_of(k);
      const float before = now[unit_of(n) * kRows + row_of(n)];
      const bool lives = time < length[n];
      const float memory = c[n];
      float state = next_state(n, before);
      if (!lives) state = before, c[n] = memory;
      if (!is_last) post(next, n, state, ~k & 1);
      if (!is_live(n)) continue;
      static_cast<T*>(g.y)[time * g.y_time + d * g.y_direction + (row0 + row_of(n)) * g.y_batch + unit_of(n)] =
          from_float<T>(lives ? state : 0);
      if (is_last) finish(n, state);
    }
    fetch(k + 1);
    if (!is_last) receive(~k & 1, k / 2);
  }
  __device__ __forceinline__ void finish(int n, float state) {
    static_cast<T*>(g.y_h)[state_at(n)] = from_float<T>(state);
    if (kCell == RecurrenceCell::kLstm) static_cast<T*>(g.y_c)[state_at(n)] = from_float<T>(c[n]);
  }

  __device__ __forceinline__ void run() {
    begin();
    for (int k = 0; k < g.time; ++k) step(k);
    if (g.time > 0) return;
#pragma unroll
    for (int n = 0; n < kItems; ++n)
      if (is_live(n)) finish(n, h[unit_of(n) * kRows + row_of(n)]);
  }
};

template <class T, RecurrenceCell kCell, RecurrenceTile kTile, RecurrencePlace kPlace>
__device__ __forceinline__ void recurrence(const Recurrence& argument) {
  extern __shared__ __align__(16) char shared[];
  __shared__ uint64_t barriers[3];
  pdl_launch();
  RecurrenceBlock<T, kCell, kTile, kPlace>(argument, shared, barriers).run();
}

}  // namespace kiln
