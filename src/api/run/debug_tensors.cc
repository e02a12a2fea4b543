#include "api/run/debug_tensors.h"

#include <algorithm>
#include <utility>

#include "api/base/convert.h"
#include "api/base/shown_type.h"
#include "api/run/program_stream.h"
#include "plan/layer_info.h"
#include "tensor/memory_order.h"
#include "tensor/view.h"

namespace kiln::api {
namespace {

using plan::Place;

const plan::Tensor& tensor_at(const plan::Block& block, int id) { return block.tensors[static_cast<size_t>(id)]; }

/// The steps that write a block's tensors, with the output, by tensor; null: none writes it.
std::vector<std::pair<const plan::Step*, size_t>> writers_of(const plan::Block& block) {
  std::vector<std::pair<const plan::Step*, size_t>> writers(block.tensors.size());
  for (const plan::Step& step : block.steps)
    for (size_t i = 0; i < step.outputs.size(); ++i) writers[static_cast<size_t>(step.outputs[i])] = {&step, i};
  return writers;
}

/// The body that a block is; null: a profile.
const plan::Body* as_body(const plan::Plan& plan, const plan::Block& block) {
  const auto found = std::ranges::find_if(
      plan.bodies, [&](const plan::Body& body) { return static_cast<const plan::Block*>(&body) == &block; });
  return found == plan.bodies.end() ? nullptr : &*found;
}

Result<Extents> extents_of(const plan::Tensor& tensor, std::span<const int64_t> symbols) {
  Extents extents;
  for (const sym::Program& extent : tensor.extents) extents.push_back(TRY(extent.run(symbols)));
  return extents;
}

}  // namespace

bool is_debug_tensor(const plan::Plan& plan, std::string_view name) {
  return std::ranges::any_of(plan::blocks_of(plan), [&](const plan::Block* block) {
    return std::ranges::count(block->debug_tensors, name, &plan::DebugTensor::name) > 0;
  });
}

DebugTensors::DebugTensors(const runtime::Engine& engine) : engine_(engine) {
  for (const plan::Block* block : plan::blocks_of(engine.plan())) {
    if (block->debug_tensors.empty()) continue;
    const auto writers = writers_of(*block);
    for (const plan::DebugTensor& debug : block->debug_tensors) {
      int source = debug.tensor;
      while (!writers[static_cast<size_t>(source)].first && tensor_at(*block, source).place == Place::kView)
        source = tensor_at(*block, source).index;
      const auto [step, output] = writers[static_cast<size_t>(source)];
      if (!step) {
        at_beginning_[block].push_back({&debug, source});
        continue;
      }
      auto& taps = made_[step];
      taps.resize(step->outputs.size());
      taps[output].push_back({&debug, source});
    }
  }
}

Status DebugTensors::set_state(const std::string& name, bool on) {
  TRY(require(is_debug_tensor(engine_.plan(), name), "'", name,
              "' was not marked as a debug tensor when the engine was built"));
  if (on)
    on_.insert(name);
  else
    on_.erase(name);
  has_changed_ = true;
  return {};
}

void DebugTensors::set_all_states(bool on) {
  on_.clear();
  unfused_ = on && engine_.plan().build.debugs_unfused;
  has_changed_ = true;
  if (!on) return;
  for (const plan::Block* block : plan::blocks_of(engine_.plan()))
    for (const plan::DebugTensor& debug : block->debug_tensors) on_.insert(debug.name);
}

bool DebugTensors::wants(const plan::Step& step, int output) {
  if (shows_unfused()) return true;
  const auto taps = made_.find(&step);
  return taps != made_.end() && std::ranges::any_of(taps->second[static_cast<size_t>(output)],
                                                    [&](const Tap& tap) { return on_.contains(tap.debug->name); });
}

bool DebugTensors::wants_beginning(const plan::Block& block) {
  const auto taps = at_beginning_.find(&block);
  return taps != at_beginning_.end() &&
         std::ranges::any_of(taps->second, [&](const Tap& tap) { return on_.contains(tap.debug->name); });
}

Status DebugTensors::value_made(const plan::Step& step, int output, const runtime::ObservedValue& value,
                                Stream& stream) {
  const int id = step.outputs[static_cast<size_t>(output)];
  bool has_own_name = false;  // which tells its value already
  const std::string unfused_name =
      plan::tensor_name(engine_.plan(), value.block, as_body(engine_.plan(), value.block), id);
  if (const auto taps = made_.find(&step); taps != made_.end())
    for (const Tap& tap : taps->second[static_cast<size_t>(output)]) {
      if (!on_.contains(tap.debug->name)) continue;
      has_own_name |= tap.debug->name == unfused_name;
      TRY(show(value.block, tap, static_cast<const std::byte*>(value.data), false, value.symbols, stream));
    }
  if (!shows_unfused() || has_own_name) return {};
  return show({unfused_name, value.tensor, value.data, false, value.extents}, stream);
}

Status DebugTensors::block_begins(const plan::Block& block, std::span<const void* const> inputs,
                                  std::span<const int64_t> symbols, Stream& stream) {
  for (const Tap& tap : at_beginning_.at(&block)) {
    if (!on_.contains(tap.debug->name)) continue;
    const plan::Tensor& source = tensor_at(block, tap.source);
    const void* data = nullptr;
    bool is_on_host = false;
    if (source.place == Place::kInput) {
      data = inputs[static_cast<size_t>(source.index)];
      is_on_host = !as_body(engine_.plan(), block) && engine_.plan().inputs[static_cast<size_t>(source.index)].is_shape;
    } else if (source.place == Place::kWeight) {
      data = engine_.weight(source).bytes().data();
      is_on_host = !engine_.device().is_host();
    } else {
      continue;  // no step writes it
    }
    TRY(show(block, tap, static_cast<const std::byte*>(data), is_on_host, symbols, stream));
  }
  return {};
}

/// Shows a tensor that begins where `source`, which it may be a view of, does.
Status DebugTensors::show(const plan::Block& block, const Tap& tap, const std::byte* source, bool is_on_host,
                          std::span<const int64_t> symbols, Stream& stream) {
  const plan::Tensor& tensor = tensor_at(block, tap.debug->tensor);
  int64_t offset = 0;
  for (int id = tap.debug->tensor; id != tap.source; id = tensor_at(block, id).index)
    offset += TRY(tensor_at(block, id).offset.run(symbols));
  const Extents extents = TRY(extents_of(tensor, symbols));
  if (tap.debug->tensor != tap.source) {
    const auto bytes_of = [](const plan::Tensor& of, const Extents& at) {
      return size_bytes(of.dtype, of.format.storage_volume(at));
    };
    const plan::Tensor& whole = tensor_at(block, tap.source);
    TRY(require(offset >= 0 && offset + bytes_of(tensor, extents) <= bytes_of(whole, TRY(extents_of(whole, symbols))),
                "debug tensor '", tap.debug->name, "' reaches beyond '", whole.name, "': the plan is damaged"));
  }
  return show({tap.debug->name, tensor, source ? source + offset : nullptr, is_on_host, extents}, stream);
}

/// Brings the elements into linear order where they are in another, and into a type that the API has.
Status DebugTensors::show(const Shown& shown, Stream& stream) {
  const bool has_type = shown_type(shown.tensor.dtype) == shown.tensor.dtype;
  if (shown.tensor.format.is_linear() && has_type) return call(shown, shown.data);
  const Extents extents(shown.extents.begin(), shown.extents.end());
  const int64_t stored = size_bytes(shown.tensor.dtype, shown.tensor.format.storage_volume(extents));
  const bool is_device = !shown.is_on_host && !engine_.device().is_host();
  std::vector<std::byte> copy;
  const auto* data = static_cast<const std::byte*>(shown.data);
  if (is_device) {
    copy.resize(static_cast<size_t>(stored));
    TRY(engine_.device().copy_to_host(copy.data(), shown.data, stored, stream));
    data = copy.data();
  }
  HostTensor linear =
      TRY(from_memory_order(shown.tensor.format, shown.tensor.dtype, extents, {data, static_cast<size_t>(stored)}));
  if (!has_type) linear = HostTensor::of(shown_type(linear.dtype()), extents, View(linear).numbers());
  if (!is_device) return call(shown, linear.bytes().data());
  Buffer there;
  TRY(engine_.upload(linear.bytes(), there));
  return call(shown, there.data());
}

Status DebugTensors::call(const Shown& shown, const void* data) {
  if (!listener_) return {};  // it was taken away while it was called
  const auto where = shown.is_on_host ? nvinfer1::TensorLocation::kHOST : nvinfer1::TensorLocation::kDEVICE;
  bool goes_on = false;
  std::string thrown;
  is_calling_ = true;
  try {
    goes_on = listener_->processDebugTensor(data, where, to_api(shown_type(shown.tensor.dtype)), to_api(shown.extents),
                                            shown.name.c_str(), stream_);
  } catch (const std::exception& failure) {
    thrown = str("threw an exception: ", failure.what());
  } catch (...) {
    thrown = "threw an exception";
  }
  is_calling_ = false;
  // What it has queued, also where it ends the run, reads memory that is about to be another tensor's.
  ProgramStream program;
  Stream& stream = TRY(program.open(engine_.device(), stream_));
  const Status done = stream.synchronize();
  TRY(require(thrown.empty(), "the debug listener ", thrown, ", when it was shown '", shown.name, "'"));
  if (!goes_on)
    return error(Code::kState, "the debug listener returned false when it was shown '", shown.name,
                 "': the run ends here");
  return done;
}

}  // namespace kiln::api
