/// A network that keeps a state, over a sequence: each step's state is the one that the step before gave.
#pragma once

#include <string>

#include "models/data_sets.h"
#include "support/session.h"

namespace kiln::conformance {

/// Inputs and outputs of a network, step by step: the frames are its first input, the state its second, and the results
/// its first output, the new state its second. `frames` and `expected` have an axis in front, the steps.
struct Sequence {
  Tensor frames, expected;
};

/// From two files, TensorProtos (.pb) or numpy's arrays of little-endian FP32 (.npy).
Result<Sequence> read_sequence(const std::string& frames, const std::string& expected);

/// Runs all steps; the first data set has the extents of one, the first state and the inputs that do not change. Fails
/// where a result is off by more than `tolerance`.
Status run_sequence(Session& session, const DataSet& first, const Sequence& sequence, double tolerance);

}  // namespace kiln::conformance
