#include "runtime/tensor_places.h"

#include "plan/control.h"

namespace kiln::runtime {
namespace {

class Places {
 public:
  Places(const plan::Block& block, std::span<const int64_t> symbols, AddressOf address)
      : block_(block), symbols_(symbols), address_(address) {}

  Status place_step(const plan::Step& step) {
    ++step_;
    first_slot_ = num_slots();
    // A body's steps cannot know that what they read is a weight, so it has to be where they look for it.
    for (const int id : step.inputs) TRY(place(id, plan::is_control(step)));
    for (const int id : step.outputs) TRY(place(id, false));
    return {};
  }
  StepPointers take() { return std::move(at_); }

 private:
  int num_slots() const { return static_cast<int>(at_.pointers.size()); }
  const plan::Tensor& tensor(int id) const { return block_.tensors[static_cast<size_t>(id)]; }
  Status place(int id, bool in_memory);

  const plan::Block& block_;
  const std::span<const int64_t> symbols_;
  const AddressOf address_;
  StepPointers at_;
  int step_ = -1, first_slot_ = 0;
};

Status Places::place(int id, bool in_memory) {
  const plan::Tensor* whole = &tensor(id);
  int root = id;
  const bool is_view = in_memory || whole->place == plan::Place::kView;
  int64_t offset = 0;
  for (; whole->place == plan::Place::kView; whole = &tensor(root)) {
    offset += TRY(whole->offset.run(symbols_));
    root = whole->index;
  }
  const std::optional<std::byte*> base = TRY(address_(root, *whole, is_view));
  const bool is_input = whole->place == plan::Place::kInput;
  if (!base) at_.patches.push_back({num_slots(), step_, first_slot_, whole->index, is_input, offset});
  at_.pointers.push_back(base && *base ? *base + offset : nullptr);
  return {};
}

}  // namespace

Result<StepPointers> place_steps(const plan::Block& block, const plan::Segment& segment,
                                 std::span<const int64_t> symbols, AddressOf address) {
  Places places(block, symbols, address);
  for (size_t s = segment.first; s < segment.end; ++s) TRY(places.place_step(block.steps[s]));
  return places.take();
}

Result<std::byte*> weight_address(const HostTensor& value, bool is_view, Runner& runner) {
  return is_view ? runner.viewed_weight(value) : Result<std::byte*>(runner.weight(value));
}

Result<StepPointers> place_tensors(Binding& binding, const plan::Segment& segment, const Engine& engine,
                                   const ShapeState& shapes, const IoAddresses& addresses, Runner& runner) {
  const std::vector<plan::IoTensor>& inputs = engine.plan().inputs;
  const auto shape_input = [&](int input) {
    const auto i = static_cast<size_t>(input);
    const int64_t size = size_bytes(inputs[i].dtype, volume(shapes.all_input_extents()[i]));
    return runner.shape_input({static_cast<const std::byte*>(addresses.input(i)), static_cast<size_t>(size)},
                              binding.shape_inputs[input]);
  };
  const auto address = [&](int id, const plan::Tensor& whole, bool is_view) -> Result<std::optional<std::byte*>> {
    switch (whole.place) {
      case plan::Place::kArena: return binding.memory + whole.offset_bytes;
      case plan::Place::kGrowing: return binding.growing.at(id);
      case plan::Place::kWeight: return TRY(weight_address(engine.weight(whole), is_view, runner));
      case plan::Place::kInput:
        if (inputs[static_cast<size_t>(whole.index)].is_shape) return shape_input(whole.index);
        return std::nullopt;
      case plan::Place::kOutput: return std::nullopt;
      case plan::Place::kAbsent:
      case plan::Place::kView: break;
    }
    return nullptr;
  };
  StepPointers at = TRY(place_steps(binding.profile, segment, shapes.symbols(), address));
  at.workspace =
      binding.workspace.data() ? binding.workspace.data() : binding.memory + aligned_bytes(binding.profile.arena_bytes);
  return at;
}

}  // namespace kiln::runtime
