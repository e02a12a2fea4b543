/// Softmax along one axis. Payload: axis, by its position in memory; tile, of the kernel that has rows in registers, or
/// absent; of columns, which are not the innermost axis, vec (elements of a load), held (elements of a column in a
/// thread's registers) and stored (whether they stay there as they are stored, all of a column).
#include "backend/cuda/kernels/lanes/softmax.h"

#include "backend/cuda/exec/step.h"

namespace kiln::cuda {
namespace {

struct Kernel {
  SoftmaxLaunch launch;
  Function function;
  int64_t align = 1;
};

class BoundSoftmax final : public BoundStep {
 public:
  BoundSoftmax(const StepInputs& inputs, std::vector<Kernel> kernels) : inputs_(inputs), kernels_(std::move(kernels)) {}
  Status run(const RunArguments& arguments) override {
    const void* x = inputs_.at(0, arguments);
    void* y = arguments.outputs[0];
    size_t i = 0;
    while (i + 1 < kernels_.size() && !(is_aligned(x, kernels_[i].align) && is_aligned(y, kernels_[i].align))) ++i;
    Kernel& kernel = kernels_[i];
    int64_t* numbers = kernel.launch.numbers;
    void* pointers[] = {&x, &y, &numbers[0], &numbers[1], &numbers[2]};
    return launch(*arguments.stream, kernel.function, kernel.launch.shape, pointers);
  }

 private:
  const StepInputs& inputs_;
  std::vector<Kernel> kernels_;
};

/// Of kernels along columns.
struct Columns {
  int vec;
  int held;
  bool stored;
};

class LoadedSoftmax final : public LoadedStep {
 public:
  LoadedSoftmax(size_t axis, const StepTensor& x, std::optional<RowTile> tile, std::optional<Columns> columns,
                StepInputs inputs, StepCode code)
      : axis_(axis), x_(x), tile_(tile), columns_(columns), inputs_(std::move(inputs)), code_(std::move(code)) {}
  Result<std::unique_ptr<BoundStep>> bind(const StepShapes& shapes) const override {
    TRY(require_extents(shapes.outputs[0], shapes.inputs[0], "softmax's output"));
    const LaneExtents e = lane_extents(in_memory_order(x_.format, shapes.inputs[0]), axis_, axis_);
    const SoftmaxShape shape{e.outer, e.length, e.inner};
    std::vector<Kernel> kernels;
    const int64_t element = bits_of(x_.dtype) / 8;
    const auto add = [&](SoftmaxLaunch launch, int64_t align) -> Status {
      const Function function = TRY(code_.function(launch.entry));
      TRY(function.check(launch.shape));
      kernels.push_back({std::move(launch), function, align});
      return {};
    };
    if (columns_) {
      const auto& [vec, held, stored] = *columns_;
      TRY(require(held == 0 || shape.length <= most_held(held), "columns of ", shape.length,
                  " elements; registers hold ", most_held(held)));
      if (vec > 1 && shape.inner % vec == 0 && (!stored || shape.length == held))
        TRY(add(softmax_columns_launch(shape, vec, held, stored), vec * element));
      TRY(add(softmax_columns_launch(shape, 1, held), 1));
    } else {
      TRY(require(shape.inner == 1, "a softmax of rows meets ", shape.inner, " columns"));
      if (tile_ && tile_->holds(shape.length)) TRY(add(softmax_launch(shape, &*tile_), tile_->vec * element));
      TRY(add(softmax_launch(shape, nullptr), 1));
    }
    return std::make_unique<BoundSoftmax>(inputs_, std::move(kernels));
  }

 private:
  size_t axis_;
  StepTensor x_;
  std::optional<RowTile> tile_;
  std::optional<Columns> columns_;
  StepInputs inputs_;
  StepCode code_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_softmax(const LoadArguments& arguments) {
  const StepTensor& x = arguments.spec.inputs[0];
  TRY(require_alike(arguments.spec.outputs[0], x, "softmax's output"));
  const Record& payload = arguments.spec.payload;
  const int axis = TRY(normalize_axis(TRY(payload.get_int("axis")), x.rank));
  TRY(element_bytes(x.dtype));
  std::optional<RowTile> tile;
  if (payload.find("tile")) tile = TRY(RowTile::parse(TRY(payload.get_record("tile"))));
  std::optional<Columns> columns;
  if (payload.find("vec")) {
    const int64_t vec = TRY(payload.get_int("vec"));
    TRY(require(vec == 1 || vec == 2 || vec == 4 || vec == 8, "a softmax loads ", vec, " elements at once"));
    const int64_t held = TRY(payload.get_int("held"));
    TRY(require(held >= 0 && held <= kMostHeld, "a softmax holds ", held, " elements of a column"));
    const bool stored = TRY(payload.get_bool("stored"));
    columns = Columns{static_cast<int>(vec), static_cast<int>(held), stored};
  }
  StepCode code = TRY(StepCode::load(arguments));
  return std::make_unique<LoadedSoftmax>(static_cast<size_t>(axis), x, tile, columns,
                                         TRY(StepInputs::upload(arguments)), std::move(code));
}

}  // namespace kiln::cuda
