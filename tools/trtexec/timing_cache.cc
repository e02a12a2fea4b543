#include "timing_cache.h"

#include <vector>

#include "cli/files.h"
#include "cli/new_file.h"
#include "log.h"

namespace kiln::cli::trtexec {
namespace {

using CachePtr = std::unique_ptr<nvinfer1::ITimingCache>;

/// The cache that a file holds; null if the file is damaged or not a timing cache. An empty file gives an empty cache.
/// A cache of another version or device also gives an empty one, with a warning.
CachePtr cache_of(const std::vector<char>& content, const nvinfer1::IBuilderConfig& config) {
  return CachePtr(config.createTimingCache(content.empty() ? nullptr : content.data(), content.size()));
}

CachePtr load(const std::string& path, const nvinfer1::IBuilderConfig& config, Log& log) {
  CachePtr fresh(config.createTimingCache(nullptr, 0));
  require(fresh != nullptr, "no timing cache: the message above says why");
  if (!file_exists(path)) {
    log.info("No timing cache at ", path, " yet; it will be written");
    return fresh;
  }
  require(!is_pipe(path), "--timingCacheFile: ", path, " is a pipe, which cannot be read back; name a file");
  if (!is_regular_or_new(path)) return fresh;
  const std::vector<char> content = read_file(path, "timing cache");
  CachePtr cache = cache_of(content, config);
  require(cache != nullptr, "--timingCacheFile: ", path,
          " is not a whole timing cache of Kiln; it was left as it is. Name another file, or remove that one");
  if (!content.empty()) log.info("Loaded ", content.size(), " bytes of timing cache from ", path);
  return cache;
}

}  // namespace

TimingCacheFile::TimingCacheFile(std::string path, nvinfer1::IBuilderConfig& config, Log& log)
    : path_(std::move(path)), cache_(load(path_, config, log)) {
  require(config.setTimingCache(*cache_, false), "timing cache ", path_, " was refused: the message above says why");
}

/// Another process may have written the file meanwhile: its times are kept beside ours.
void TimingCacheFile::save(const nvinfer1::IBuilderConfig& config, Log& log) const {
  if (file_exists(path_) && is_regular_or_new(path_)) {
    const std::vector<char> theirs = read_file(path_, "timing cache");
    const CachePtr other = cache_of(theirs, config);
    require(other != nullptr, "--timingCacheFile: ", path_,
            " has become something else than a timing cache of Kiln; it was left as it is");
    static_cast<void>(cache_->combine(*other, false));
  }
  const std::unique_ptr<nvinfer1::IHostMemory> content(cache_->serialize());
  require(content != nullptr, "the timing cache cannot be written: the message above says why");
  NewFile file(path_, "timing cache");
  file.write(content->data(), content->size());
  file.commit();
  log.info("Saved ", content->size(), " bytes of timing cache to ", path_);
}

}  // namespace kiln::cli::trtexec
