/// What kernels/recurrence/recurrence.cuh is given; the host and NVRTC compile this header.
#pragma once

#include <cstdint>

#include "ops/gate_function.h"

namespace kiln::cuda {

struct GateArgument {
  ops::GateFunction function = ops::GateFunction::kSigmoid;
  float alpha = 0, beta = 0;
};

/// Steps are in elements. Absent tensors are null.
struct RecurrenceArgument {
  const void* a = nullptr;        ///< products of the input [time, batch, directions, gates, hidden], in either order
  const void* r = nullptr;        ///< packed: pack_recurrence
  const float* biases = nullptr;  ///< [direction][2][gates][hidden]: for a, and for the products of the state
  const float* peepholes = nullptr;  ///< [direction][3][hidden]
  const int32_t* lengths = nullptr;
  const void *initial_h = nullptr, *initial_c = nullptr;
  void *y = nullptr, *y_h = nullptr, *y_c = nullptr;
  int64_t* fault = nullptr;                ///< where a length outside [0, time] is stored
  int32_t time = 0, batch = 0, tiles = 0;  ///< tiles of rows of the batch
  int32_t input_forget = 0;
  int32_t reverse[2] = {};
  int64_t a_time = 0, a_batch = 0;
  int64_t y_time = 0, y_batch = 0, y_direction = 0;
  int64_t state_batch = 0, state_direction = 0;
  float clip = 0;
  GateArgument functions[2][3];  ///< f, g and k of each direction
};

}  // namespace kiln::cuda
