/// The optimization profile of a build.
#pragma once

#include "NvInfer.h"
#include "options.h"

namespace kiln::cli::trtexec {

class Log;

/// Adds a profile if the network has dynamic inputs or shape tensors; ones that `shapes` does not name get 1 for every
/// dynamic extent, with a warning. Fails at names that the network lacks and shapes that its inputs cannot take.
void add_profile(const NamedRanges& shapes, const nvinfer1::INetworkDefinition& network, nvinfer1::IBuilder& builder,
                 nvinfer1::IBuilderConfig& config, Log& log);

}  // namespace kiln::cli::trtexec
