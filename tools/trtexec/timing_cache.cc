#include "timing_cache.h"

#include <cstring>
#include <vector>

#include "files.h"
#include "log.h"
#include "new_file.h"

namespace kiln::trtexec {
namespace {

using CachePtr = std::unique_ptr<nvinfer1::ITimingCache>;

/// Whether a file begins as the library's own timing caches do. An empty file is one that was never written.
bool is_timing_cache(const std::vector<char>& content, const nvinfer1::ITimingCache& own) {
  constexpr size_t kMarkBytes = 4;
  if (content.empty()) return true;
  const std::unique_ptr<nvinfer1::IHostMemory> bytes(own.serialize());
  return bytes && bytes->size() >= kMarkBytes && content.size() >= kMarkBytes &&
         std::memcmp(bytes->data(), content.data(), kMarkBytes) == 0;
}

CachePtr load(const std::string& path, const nvinfer1::IBuilderConfig& config, Log& log) {
  CachePtr fresh(config.createTimingCache(nullptr, 0));
  require(fresh != nullptr, "no timing cache: the message above says why");
  if (!file_exists(path)) {
    log.info("No timing cache at ", path, " yet; it will be written");
    return fresh;
  }
  if (!is_regular_or_new(path)) return fresh;
  const std::vector<char> content = read_file(path, "timing cache");
  require(is_timing_cache(content, *fresh), "--timingCacheFile: ", path,
          " is not a timing cache of Kiln; it was left as it is. Name another file, or remove that one");
  if (content.empty()) return fresh;
  log.info("Loaded ", content.size(), " bytes of timing cache from ", path);
  if (CachePtr cache{config.createTimingCache(content.data(), content.size())}) return cache;
  log.warn("timing cache ", path, " is of no use here, as the message above says; a new one will replace it");
  return fresh;
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
    require(is_timing_cache(theirs, *cache_), "--timingCacheFile: ", path_,
            " has become something else than a timing cache of Kiln; it was left as it is");
    const CachePtr other(theirs.empty() ? nullptr : config.createTimingCache(theirs.data(), theirs.size()));
    if (other) static_cast<void>(cache_->combine(*other, false));
  }
  const std::unique_ptr<nvinfer1::IHostMemory> content(cache_->serialize());
  require(content != nullptr, "the timing cache cannot be written: the message above says why");
  NewFile file(path_, "timing cache");
  file.write(content->data(), content->size());
  file.commit();
  log.info("Saved ", content->size(), " bytes of timing cache to ", path_);
}

}  // namespace kiln::trtexec
