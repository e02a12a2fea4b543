/// How large tensors' numbers are, by the weights alone.
#pragma once

#include <vector>

#include "base/error.h"
#include "ir/graph.h"

namespace kiln::passes {

/// An estimate of each value's root mean square, by its index. The numbers of constants are counted. Inputs are taken
/// to be about 1 around 0, bytes to be those of images, and other whole numbers to be 0 or 1. What an op adds up is
/// taken to be independent but for its mean (passes/moments.h): sums of positive numbers grow by their count, others by
/// its root. Values that are no numbers of the network's data (bools, shapes) have some estimate, too. Scores and masks
/// in front of a softmax are 1, because masks stand there for infinity.
///
/// The estimate is right within a factor of a few for what contractions and sums make of each other, and a guess
/// elsewhere: good for finding a network that may leave FP16's range, not for saying that it does.
Result<std::vector<double>> estimate_magnitudes(const ir::Graph& graph);

}  // namespace kiln::passes
