/// Runs nest programs: tile by tile, an instruction at a time over each tile, all threads of a team.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/nest/kernel.h"
#include "backend/cpu/kernels/nest/walk.h"
#include "ops/nest_program.h"

namespace kiln::cpu {

/// A program with its kernels chosen for this machine and its registers assigned. Immutable.
class Nest {
 public:
  static constexpr int kMaxCode = 64;

  /// Fails if the program is not valid, or has more instructions, inputs or outputs than nests take.
  static Result<Nest> make(NestProgram program);
  const NestProgram& program() const { return program_; }
  /// Most elements of a tile: all registers of one stay within L1.
  int64_t tile() const { return tile_; }

  /// Runs tiles [first, last) of a walk over the program's inputs and outputs. Needs no memory but 64 KiB of stack.
  void run_tiles(const NestWalk& walk, int64_t first, int64_t last, const void* const* inputs,
                 void* const* outputs) const;

 private:
  struct Step {
    NestKernel kernel;
    NestKernel round;  // null: the result is as its type wants it
    NestOperand args[3];
    int num_args;
    int slot;    // where the result goes, if not to an output at once
    int output;  // the output that it may go to at once, or -1
    double alpha, beta;
  };
  class Run;
  friend class Run;

  Status build();
  void assign_slots();
  void find_direct_outputs();

  NestProgram program_;
  std::vector<Step> steps_;
  std::vector<NestOperand> results_;  // of each output: a step, or ~input
  std::vector<NestKernel> loads_, stores_;
  int num_slots_ = 0;  // of steps; the inputs' come before them, one for raw elements behind
  int width_ = 4;      // bytes of an element of a slot
  int64_t tile_ = 0;
};

/// A nest for given extents and strides; binding again allocates nothing. One that makes bytes of one tensor of bytes
/// and single numbers, such as SiLU between Dequantize and Quantize, is computed for all bytes that there are, and
/// looked up then.
class BoundNest {
 public:
  BoundNest() = default;
  /// `strides`: of each input, then of each output, by axis of `extents`, in elements; 0 repeats an input. An output
  /// may be the same memory as an input of the same element size and strides.
  BoundNest(const Nest& nest, std::span<const int64_t> extents, std::span<const NestStrides> strides);

  /// `nest` is the one it was bound with.
  void run(const Nest& nest, Team& team, const void* const* inputs, void* const* outputs) const;

 private:
  void find_table(const Nest& nest, std::span<const int64_t> extents, std::span<const NestStrides> strides);
  void run_table(const Nest& nest, Team& team, const void* const* inputs, void* output) const;

  NestWalk walk_;
  int64_t tiles_of_part_ = 1;
  int table_input_ = -1;  // whose bytes are looked up; -1: there is no table
  NestWalk table_walk_;   // over all bytes
  int64_t volume_ = 0;
};

/// A nest as the epilogue of a contraction: input 0 and the output are the tile; the others are indexed by row and
/// column of the contraction's result. All that it points to must outlive it.
struct NestTile {
  struct Extra {
    const void* data;
    int64_t row_stride, col_stride;  ///< in elements; 0 repeats
  };
  const Nest* nest;     ///< input 0 and its one output are f32
  const Extra* extras;  ///< inputs 1 and on

  TileHook hook() const { return {apply, this}; }
  static void apply(const void* self, float* tile, int64_t rows, int64_t cols, ptrdiff_t ld, int64_t row0,
                    int64_t col0);
};

}  // namespace kiln::cpu
