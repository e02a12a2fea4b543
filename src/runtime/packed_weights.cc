#include "runtime/packed_weights.h"

#include "base/mapped_pages.h"
#include "plan/control.h"

namespace kiln::runtime {
namespace {

using plan::Place;

const plan::Tensor& tensor(const plan::Block& block, int id) { return block.tensors[static_cast<size_t>(id)]; }

}  // namespace

PackedWeights::PackedWeights(plan::Plan& plan) : plan_(plan), readers_(plan.weights.size()) {
  for (const plan::Block* block : plan::blocks_of(plan)) {
    for (const plan::Step& step : block->steps)
      for (const int id : step.inputs)
        if (const plan::Tensor& t = tensor(*block, id); t.place == Place::kWeight) {
          Readers& readers = readers_[static_cast<size_t>(t.index)];
          plan::is_control(step) ? void(readers.in_place = true) : void(++readers.to_load);
        }
    for (const plan::DebugTensor& debug : block->debug_tensors)
      if (const plan::Tensor& t = tensor(*block, debug.tensor); t.place == Place::kWeight)
        readers_[static_cast<size_t>(t.index)].in_place = true;
    // A step that reads a part of a weight, or a copy in another order, counts as a reader of the whole weight.
    for (const plan::Tensor& t : block->tensors) {
      const plan::Tensor* whole = &t;
      while (whole->place == Place::kView) whole = &tensor(*block, whole->index);
      if (whole->place == Place::kWeight && (whole != &t || !t.format.is_linear()))
        readers_[static_cast<size_t>(whole->index)].in_place = true;
    }
  }
}

void PackedWeights::add(const plan::Block& block, const plan::Step& step,
                        std::span<const std::shared_ptr<const LoadedStep>> kernels) {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const plan::Tensor& t = tensor(block, step.inputs[i]);
    if (t.place != Place::kWeight) continue;
    const auto input = static_cast<int>(i);
    Readers& readers = readers_[static_cast<size_t>(t.index)];
    for (const auto& kernel : kernels) {
      const PacksConstants* packs = kernel->packs_constants();
      const ConstantUse use = packs ? packs->constant_use(input) : ConstantUse::kRead;
      readers.in_place |= use == ConstantUse::kRead;
      if (use == ConstantUse::kPacked) readers.holder = {kernel, packs}, readers.input = input;
    }
    if (--readers.to_load == 0) let_go(static_cast<size_t>(t.index));
  }
}

void PackedWeights::let_go(size_t weight) {
  Readers& readers = readers_[weight];
  if (readers.in_place) {
    readers.holder = nullptr;
    return;
  }
  HostTensor& value = plan_.weights[weight].value;
  release_pages(value.bytes());
  if (readers.holder) value = HostTensor(value.dtype(), value.extents(), {}, nullptr);
}

Result<plan::Plan> PackedWeights::unpacked() const {
  plan::Plan whole = plan_;
  for (size_t w = 0; w < readers_.size(); ++w) {
    const auto& [to_load, in_place, holder, input] = readers_[w];
    if (!holder) continue;
    HostTensor& value = whole.weights[w].value;
    HostTensor::Fresh fresh = TRY(HostTensor::make(value.dtype(), value.extents()));
    holder->unpack(input, fresh.data);
    value = std::move(fresh.tensor);
  }
  return whole;
}

}  // namespace kiln::runtime
