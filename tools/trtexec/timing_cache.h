/// The file of --timingCacheFile, from before a build to after it.
#pragma once

#include <memory>
#include <string>

#include "NvInfer.h"

namespace kiln::cli::trtexec {

class Log;

class TimingCacheFile {
 public:
  /// Gives the configuration the file's times, or an empty cache where there is no such file.
  TimingCacheFile(std::string path, nvinfer1::IBuilderConfig& config, Log& log);
  /// Writes the configuration's times back, with those that others have added to the file since.
  void save(const nvinfer1::IBuilderConfig& config, Log& log) const;

 private:
  std::string path_;
  std::unique_ptr<nvinfer1::ITimingCache> cache_;
};

}  // namespace kiln::cli::trtexec
