/// Ranges of tensors, from the program or from data: for INT8 without Q/DQ in the network, and for FP16.
#pragma once

#include "api/build/builder_config.h"
#include "api/build/network.h"
#include "api/build/observed_network.h"

namespace kiln::api {

struct TensorRanges {
  passes::Ranges int8;  ///< by which BuilderFlag::kINT8 quantizes
  passes::Ranges half;  ///< by which BuilderFlag::kFP16 leaves layers in FP32: the largest magnitudes
};

/// The ranges of ITensor::setDynamicRange, and those that the calibrator's cache has, or its data give, which run
/// through a copy of the network in FP32; for FP16 without either, on a GPU, those that a trial gives (half_trial.h).
/// None for a flag that is not set, none for INT8 where the network has Q/DQ of its own, and none at all where it is
/// strongly typed; a warning then says what is not heeded. Another one says that kINT8 does nothing without ranges.
Result<TensorRanges> tensor_ranges(Network& network, BuilderConfig& config, const BuildToCome& build);

}  // namespace kiln::api
