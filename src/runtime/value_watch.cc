#include "runtime/value_watch.h"

#include "device/device.h"
#include "plan/decided_sizes.h"

namespace kiln::runtime {

void ValueWatch::set_observer(ValueObserver* observer) {
  observer_ = observer;
  wanted_.clear();
  beginnings_.clear();
  if (!observer) return;
  for (const plan::Block* block : plan::blocks_of(engine_.plan())) {
    if (observer->wants_beginning(*block)) beginnings_.insert(block);
    for (const plan::Step& step : block->steps) {
      std::vector<int> outputs;
      for (int i = 0; i < static_cast<int>(step.outputs.size()); ++i)
        if (observer->wants(step, i)) outputs.push_back(i);
      if (!outputs.empty()) wanted_.emplace(&step, std::move(outputs));
    }
  }
}

Status ValueWatch::block_begins(const plan::Block& block, std::span<const void* const> inputs,
                                std::span<const int64_t> symbols) {
  if (!beginnings_.contains(&block)) return {};
  TRY(stream_->synchronize());
  TRY(observer_->block_begins(block, inputs, symbols, *stream_));
  return stream_->synchronize();
}

Status ValueWatch::step_ran(const RanStep& ran) {
  const plan::Step& step = ran.block.steps[ran.step];
  const auto wanted = wanted_.find(&step);
  if (wanted == wanted_.end()) return {};
  TRY(stream_->synchronize());  // for the values, and for the sizes that the step has decided
  std::vector<int64_t> symbols(ran.symbols.begin(), ran.symbols.end());
  if (!step.sizes.empty()) {
    const std::span<const int64_t> sizes = ran.sizes.of_steps(ran.step, ran.step + 1);
    const plan::Segment only{ran.step, ran.step + 1};
    TRY(plan::take_decided_sizes(engine_.plan(), ran.block, {}, only, sizes, symbols));
    TRY(plan::set_known_sizes(ran.block, symbols));
  }
  for (const int output : wanted->second) TRY(show(ran, output, symbols));
  return {};
}

namespace {

/// The address of an output. A step with bodies may have moved what grows while it ran.
Result<void*> address_of(const RanStep& ran, int output, std::span<const int64_t> symbols) {
  const plan::Step& step = ran.block.steps[ran.step];
  int root = step.outputs[static_cast<size_t>(output)];
  int64_t offset = 0;
  const auto tensor = [&]() -> const plan::Tensor& { return ran.block.tensors[static_cast<size_t>(root)]; };
  for (; tensor().place == plan::Place::kView; root = tensor().index) offset += TRY(tensor().offset.run(symbols));
  if (tensor().place != plan::Place::kGrowing) return ran.outputs[output];
  std::byte* const base = ran.growing.at(root);
  return base ? base + offset : nullptr;
}

}  // namespace

Status ValueWatch::show(const RanStep& ran, int output, std::span<const int64_t> symbols) {
  const plan::Step& step = ran.block.steps[ran.step];
  const int id = step.outputs[static_cast<size_t>(output)];
  const plan::Tensor& tensor = ran.block.tensors[static_cast<size_t>(id)];
  Extents extents;
  for (const sym::Program& extent : tensor.extents) extents.push_back(TRY(extent.run(symbols)));
  void* const data = TRY(address_of(ran, output, symbols));
  TRY(observer_->value_made(step, output, {ran.block, tensor, data, extents, symbols}, *stream_));
  return stream_->synchronize();  // what the observer has queued, before memory is overwritten
}

}  // namespace kiln::runtime
