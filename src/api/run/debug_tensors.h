/// The debug tensors of an engine, and a context's listener to them.
#pragma once

#include <NvInferRuntime.h>

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/engine.h"
#include "runtime/value_observer.h"

namespace kiln::api {

/// Whether a program may ask for a tensor by this name.
bool is_debug_tensor(const plan::Plan& plan, std::string_view name);

/// What a program has asked for of a context's runs, and who is told. What is switched on counts from the next run on;
/// what is switched off is not shown any more, also where a listener does that while it is called.
class DebugTensors final : public runtime::ValueObserver {
 public:
  explicit DebugTensors(const runtime::Engine& engine);

  void set_listener(nvinfer1::IDebugListener* listener) { listener_ = listener, has_changed_ = true; }
  nvinfer1::IDebugListener* listener() const { return listener_; }
  /// Fails for a name that is none of a debug tensor.
  Status set_state(const std::string& name, bool on);
  bool state(const std::string& name) const { return on_.contains(name); }
  /// Unfused tensors of an engine that has them as debug tensors are among all.
  void set_all_states(bool on);
  void set_unfused_state(bool on) { unfused_ = on, has_changed_ = true; }
  bool unfused_state() const { return unfused_; }
  /// Whether something has changed since this was last asked.
  bool take_change() { return std::exchange(has_changed_, false); }
  /// Whether anybody would be told of anything.
  bool is_on() const { return listener_ && (!on_.empty() || shows_unfused()); }
  /// Whether the listener is being called.
  bool is_calling() const { return is_calling_; }
  /// The stream that the listener is given.
  void set_stream(cudaStream_t stream) { stream_ = stream; }

  bool wants(const plan::Step& step, int output) override;
  Status value_made(const plan::Step& step, int output, const runtime::ObservedValue& value, Stream& stream) override;
  bool wants_beginning(const plan::Block& block) override;
  Status block_begins(const plan::Block& block, std::span<const void* const> inputs, std::span<const int64_t> symbols,
                      Stream& stream) override;

 private:
  /// A debug tensor, and where in its block it gets its value.
  struct Tap {
    const plan::DebugTensor* debug;
    int source;  ///< what a step writes, an input or a weight: the tensor itself, or what it is a view of
  };
  struct Shown {
    const std::string& name;
    const plan::Tensor& tensor;
    const void* data;
    bool is_on_host;
    std::span<const int64_t> extents;
  };
  Status show(const plan::Block& block, const Tap& tap, const std::byte* source, bool is_on_host,
              std::span<const int64_t> symbols, Stream& stream);
  Status show(const Shown& shown, Stream& stream);
  Status call(const Shown& shown, const void* data);

  const runtime::Engine& engine_;
  nvinfer1::IDebugListener* listener_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::set<std::string> on_;
  bool shows_unfused() const { return unfused_ && engine_.plan().build.debugs_unfused; }

  bool unfused_ = false, has_changed_ = false, is_calling_ = false;
  std::unordered_map<const plan::Step*, std::vector<std::vector<Tap>>> made_;  ///< by output
  std::unordered_map<const plan::Block*, std::vector<Tap>> at_beginning_;
};

}  // namespace kiln::api
