/// The optimization profiles of a build.
#pragma once

#include "NvInfer.h"
#include "options.h"

namespace kiln::cli::trtexec {

class Log;

/// Adds profiles, by their shapes, if the network has dynamic inputs or shape tensors; ones that a profile does not
/// name get 1 for every dynamic extent, with a warning. Fails at names that the network lacks and shapes that its
/// inputs cannot take.
void add_profiles(const std::vector<NamedRanges>& profiles, const nvinfer1::INetworkDefinition& network,
                  nvinfer1::IBuilder& builder, nvinfer1::IBuilderConfig& config, Log& log);

/// Has calibration use the optimum of these shapes: all dynamic inputs have to be named. Nothing if there are none.
void set_calibration_shapes(const NamedRanges& shapes, const nvinfer1::INetworkDefinition& network,
                            nvinfer1::IBuilder& builder, nvinfer1::IBuilderConfig& config);

}  // namespace kiln::cli::trtexec
