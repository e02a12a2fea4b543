/// Runs of a plugin that nobody expanded: engines of its layers, built for exact shapes.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "library/standard_plugin.h"

namespace kiln::plugins {

/// The number of engines that a plugin keeps: those of its latest shapes. Those that a graph of the program's runs are
/// kept beside them. A recording of Kiln's own is forgotten when the context's shapes change, so that it needs no more
/// than the latest one.
constexpr size_t kMostEngines = 8;

/// Safe from several threads, but for runs with one object at a time, as plugins promise.
class Engines {
 public:
  using Descs = std::span<const nv::PluginTensorDesc>;
  /// Tensors of a run, as the plugin is told them.
  struct Told {
    Descs inputs, outputs;
  };
  explicit Engines(const Plugin& plugin);
  Engines(const Engines&) = delete;
  ~Engines();

  /// Builds the engine for these inputs and the outputs' scales, if there is none.
  Status prepare(const Told& told);
  Status enqueue(const Told& told, const void* const* from, void* const* to, cudaStream_t stream);

 private:
  struct Built;
  using Held = std::shared_ptr<Built>;
  Result<Held> built(const Told& told);
  Result<std::unique_ptr<Built>> build(const Told& told) const;
  Held find(const Told& told);
  Held keep(std::unique_ptr<Built> fresh);
  const Plugin& plugin_;
  std::mutex mutex_;
  std::vector<Held> all_;  ///< the latest used last
};

/// The logger of the latest `set_logger`; else libnvinfer's own, or one that is silent.
nv::ILogger& logger();
void set_logger(nv::ILogger* logger);  ///< null: none. It lives as long as the library's plugins.

}  // namespace kiln::plugins
