/// Folding: ops of constants computed before they run. Nothing else computes the elements of constants.
#pragma once

#include <span>
#include <vector>

#include "ops/constant.h"

namespace kiln {

/// A constant that is a source of weights where it is of a float type: others (extents, indices, masks) decide what is
/// computed, and are part of the network.
ops::Constant source_constant(std::string name, HostTensor value);

/// The types of an op's outputs, of which inputs are null where optional ones are absent. Computes no elements.
Result<std::vector<TensorType>> result_types(const Op& op, std::span<const HostTensor* const> inputs);

/// All outputs of an op, by the fast folds and else the reference: the same bits whoever asks. Entries of `inputs` are
/// null where optional inputs are absent.
Result<std::vector<HostTensor>> compute(const Op& op, std::span<const HostTensor* const> inputs);

/// The op's results of constants, with their origins.
Result<std::vector<ops::Constant>> fold(const Op& op, std::span<const ops::Constant* const> inputs);
/// The result of an op with one output, of constants.
Result<ops::Constant> fold_one(const Op& op, std::initializer_list<const ops::Constant*> inputs);
/// The constant's elements under other extents of the same volume.
ops::Constant reshaped(const ops::Constant& constant, const Extents& extents);

}  // namespace kiln
