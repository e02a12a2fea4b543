#include "timing_cache.h"

#include <vector>

#include "files.h"
#include "log.h"

namespace kiln::trtexec {
namespace {

using CachePtr = std::unique_ptr<nvinfer1::ITimingCache>;

CachePtr load(const std::string& path, const nvinfer1::IBuilderConfig& config, Log& log) {
  if (!file_exists(path)) {
    log.info("No timing cache at ", path, " yet; it will be written");
    return CachePtr(config.createTimingCache(nullptr, 0));
  }
  const std::vector<char> content = read_file(path, "timing cache");
  log.info("Loaded ", content.size(), " bytes of timing cache from ", path);
  if (CachePtr cache{config.createTimingCache(content.data(), content.size())}) return cache;
  log.warn("timing cache ", path, " is of no use here, as the message above says; a new one is begun");
  return CachePtr(config.createTimingCache(nullptr, 0));
}

}  // namespace

TimingCacheFile::TimingCacheFile(std::string path, nvinfer1::IBuilderConfig& config, Log& log)
    : path_(std::move(path)), cache_(load(path_, config, log)) {
  require(cache_ != nullptr, "no timing cache: the message above says why");
  require(config.setTimingCache(*cache_, false), "timing cache ", path_, " was refused: the message above says why");
}

void TimingCacheFile::save(const nvinfer1::IBuilderConfig& config, Log& log) const {
  const nvinfer1::ITimingCache* used = config.getTimingCache();
  require(used != nullptr, "the build left no timing cache to write to ", path_);
  const std::unique_ptr<nvinfer1::IHostMemory> before(used->serialize());
  require(before != nullptr, "the timing cache cannot be written: the message above says why");
  CachePtr all(config.createTimingCache(before->data(), before->size()));
  if (all && file_exists(path_)) {
    const std::vector<char> theirs = read_file(path_, "timing cache");
    const CachePtr other(config.createTimingCache(theirs.data(), theirs.size()));
    if (!other || !all->combine(*other, false))
      log.warn("timing cache ", path_, " has nothing to keep; it is replaced");
  }
  const std::unique_ptr<nvinfer1::IHostMemory> merged(all ? all->serialize() : nullptr);
  const nvinfer1::IHostMemory& content = merged ? *merged : *before;
  NewFile file(path_, "timing cache");
  file.write(content.data(), content.size());
  file.commit();
  log.info("Saved ", content.size(), " bytes of timing cache to ", path_);
}

}  // namespace kiln::trtexec
