#include "runtime/tensor_places.h"

#include <optional>

namespace kiln::runtime {
namespace {

class Places {
 public:
  Places(Binding& binding, const Engine& engine, const ShapeState& shapes, const IoAddresses& addresses, Runner& runner)
      : binding_(binding), engine_(engine), shapes_(shapes), addresses_(addresses), runner_(runner) {
    at_.workspace = binding.memory + aligned_bytes(binding.profile.arena_bytes);
  }

  Status place_step(size_t s) {
    const plan::Step& step = binding_.profile.steps[s];
    step_ = static_cast<int>(s);
    first_slot_ = num_slots();
    for (const int id : step.inputs) TRY(place(id));
    for (const int id : step.outputs) TRY(place(id));
    return {};
  }
  StepPointers take() { return std::move(at_); }

 private:
  int num_slots() const { return static_cast<int>(at_.pointers.size()); }
  const plan::Tensor& tensor(int id) const { return binding_.profile.tensors[static_cast<size_t>(id)]; }
  Status place(int id);
  Result<std::optional<std::byte*>> address(const plan::Tensor& whole, bool is_view);
  Result<std::optional<std::byte*>> shape_input(int input);

  Binding& binding_;
  const Engine& engine_;
  const ShapeState& shapes_;
  const IoAddresses& addresses_;
  Runner& runner_;
  StepPointers at_;
  int step_ = 0, first_slot_ = 0;
};

Status Places::place(int id) {
  const plan::Tensor* whole = &tensor(id);
  const bool is_view = whole->place == plan::Place::kView;
  int64_t offset = 0;
  for (; whole->place == plan::Place::kView; whole = &tensor(whole->index))
    offset += TRY(whole->offset.run(shapes_.symbols()));
  const std::optional<std::byte*> base = TRY(address(*whole, is_view));
  const bool is_input = whole->place == plan::Place::kInput;
  if (!base) at_.patches.push_back({num_slots(), step_, first_slot_, whole->index, is_input, offset});
  at_.pointers.push_back(base && *base ? *base + offset : nullptr);
  return {};
}

/// The address of a tensor; nothing if it is the program's, of each run.
Result<std::optional<std::byte*>> Places::address(const plan::Tensor& whole, bool is_view) {
  switch (whole.place) {
    case plan::Place::kArena: return binding_.memory + whole.offset_bytes;
    case plan::Place::kWeight: {
      const HostTensor& value = engine_.weight(whole);
      return is_view ? TRY(runner_.viewed_weight(value)) : runner_.weight(value);
    }
    case plan::Place::kInput:
      if (engine_.plan().inputs[static_cast<size_t>(whole.index)].is_shape) return shape_input(whole.index);
      return std::nullopt;
    case plan::Place::kOutput: return std::nullopt;
    case plan::Place::kAbsent:
    case plan::Place::kView: break;
  }
  return nullptr;
}

Result<std::optional<std::byte*>> Places::shape_input(int input) {
  const auto i = static_cast<size_t>(input);
  const int64_t size = size_bytes(engine_.plan().inputs[i].dtype, volume(shapes_.all_input_extents()[i]));
  return runner_.shape_input({static_cast<const std::byte*>(addresses_.input(i)), static_cast<size_t>(size)},
                             binding_.shape_inputs[input]);
}

}  // namespace

Result<StepPointers> place_tensors(Binding& binding, const plan::Segment& segment, const Engine& engine,
                                   const ShapeState& shapes, const IoAddresses& addresses, Runner& runner) {
  Places places(binding, engine, shapes, addresses, runner);
  for (size_t s = segment.first; s < segment.end; ++s) TRY(places.place_step(s));
  return places.take();
}

}  // namespace kiln::runtime
