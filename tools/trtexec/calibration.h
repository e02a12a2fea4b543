/// Ranges of tensors for --int8 and --fp16.
#pragma once

#include <memory>

#include "NvInfer.h"
#include "options.h"

namespace kiln::cli::trtexec {

class Log;

/// What has to live until the build is done.
class Calibration {
 public:
  virtual ~Calibration() = default;
};

/// Gives the builder the cache that --calib names: for INT8 in a network without Q/DQ, and for what leaves FP16's
/// range. Without a cache, --int8 gives all tensors the same ranges, which have no meaning, as TensorRT's trtexec does.
/// Null where nothing has to live on. Fails where the cache cannot be read.
std::unique_ptr<Calibration> calibrate(const PrecisionOptions& options, nvinfer1::INetworkDefinition& network,
                                       nvinfer1::IBuilderConfig& config, Log& log);

}  // namespace kiln::cli::trtexec
