#include "steps/recurrence.h"

#include "backend/cuda/device/fault_word.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/recurrence/recurrence.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

using ops::Recurrence;

class BoundRecurrence final : public BoundStep {
 public:
  BoundRecurrence(const Function& function, const StepInputs& inputs, const RecurrenceLaunch& launch, FaultWord fault,
                  size_t num_outputs)
      : function_(function), inputs_(inputs), launch_(launch), fault_(std::move(fault)), num_outputs_(num_outputs) {}
  Status run(const RunArguments& run) override {
    const auto input = [&](size_t i) { return i < inputs_.size() ? inputs_.at(i, run) : nullptr; };
    RecurrenceArgument& a = launch_.argument;
    a.a = input(Recurrence::kX);
    a.r = input(Recurrence::kR);
    a.peepholes = static_cast<const float*>(input(Recurrence::kP));
    a.lengths = static_cast<const int32_t*>(input(Recurrence::kSequenceLens));
    a.initial_h = input(Recurrence::kInitialH);
    a.initial_c = input(Recurrence::kInitialC);
    a.y = run.outputs[Recurrence::kY];
    a.y_h = run.outputs[Recurrence::kYH];
    a.y_c = num_outputs_ > Recurrence::kYC ? run.outputs[Recurrence::kYC] : nullptr;
    a.fault = fault_.address();
    void* pointers[] = {&a};
    return launch(*run.stream, function_, launch_.shape, pointers);
  }
  bool has_check() const override { return true; }
  Status check() override {
    const std::optional<int64_t> length = fault_.take();
    if (!length) [[likely]]
      return {};
    return error(Code::kInvalidArgument, "sequence_lens has ", *length, ", outside [0, ", launch_.argument.time,
                 "]; that row's sequence is taken to be empty");
  }

 private:
  const Function& function_;
  const StepInputs& inputs_;
  RecurrenceLaunch launch_;
  FaultWord fault_;
  const size_t num_outputs_;
};

class LoadedRecurrence final : public LoadedStep {
 public:
  LoadedRecurrence(CudaDevice& device, const Recurrence& op, const RecurrenceKernel& kernel, StepCode code,
                   const Function& function, StepInputs inputs, std::shared_ptr<const Buffer> biases,
                   size_t num_outputs)
      : device_(device),
        op_(op),
        kernel_(kernel),
        code_(std::move(code)),
        function_(function),
        inputs_(std::move(inputs)),
        biases_(std::move(biases)),
        num_outputs_(num_outputs) {}
  int64_t packed_bytes() const override { return inputs_.packed_bytes(); }

 private:
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents &x = shapes.inputs[Recurrence::kX], &r = shapes.inputs[Recurrence::kR];
    TRY(require(r[2] == kernel_.hidden, "a recurrence's kernel is for ", kernel_.hidden, " hidden units, not for ", r));
    RecurrenceLaunch launch =
        TRY(recurrence_launch(kernel_, op_, x, r, function_.device().properties().shared_bytes_per_block));
    launch.argument.biases = reinterpret_cast<const float*>(biases_->data());
    TRY(function_.check(launch.shape));
    return std::make_unique<BoundRecurrence>(function_, inputs_, launch, TRY(FaultWord::create(device_)), num_outputs_);
  }

  CudaDevice& device_;
  Recurrence op_;
  RecurrenceKernel kernel_;
  StepCode code_;
  Function function_;
  StepInputs inputs_;
  std::shared_ptr<const Buffer> biases_;
  size_t num_outputs_;
};

/// Fails unless the op takes weights of these extents. Null where absent.
Status require_weights(const Recurrence& op, const HostTensor& r, const HostTensor* b, const HostTensor* p) {
  const int64_t d = op.num_directions(), hidden = r.rank() == 3 ? r.extents()[2] : 0, rows = op.num_gates() * hidden;
  TRY(require_extents(r.extents(), {d, rows, hidden}, "a recurrence's r"));
  if (b) TRY(require_extents(b->extents(), {d, 2 * rows}, "a recurrence's b"));
  if (p) TRY(require_extents(p->extents(), {d, 3 * hidden}, "a recurrence's p"));
  return {};
}

/// The numbers of a weight as floats; zeros if it is absent.
Bytes floats_of(const HostTensor* tensor, int64_t count) {
  std::vector<float> floats(static_cast<size_t>(count));
  if (tensor) std::ranges::copy(View(*tensor).numbers(), floats.begin());
  const auto bytes = std::as_bytes(std::span(floats));
  return Bytes(bytes.begin(), bytes.end());
}

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Recurrence& step, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  const auto constant = [&](size_t i) { return i < spec.inputs.size() ? arguments.constants[i] : nullptr; };
  for (const size_t i : {Recurrence::kR, Recurrence::kB, Recurrence::kP})
    TRY(require(i >= spec.inputs.size() || !spec.inputs[i].present || constant(i), "input ", i,
                " of a recurrence is not a constant"));
  TRY(require(!spec.inputs[Recurrence::kW].present, "a recurrence on a GPU takes products of its input, not w"));
  const HostTensor &r = *constant(Recurrence::kR), *b = constant(Recurrence::kB), *p = constant(Recurrence::kP);
  TRY(require_weights(step.op, r, b, p));
  const auto tuning = TRY(from_record<RecurrenceTuning>(spec.tuning));
  const RecurrenceKernel kernel = RecurrenceKernel::of(step.op, spec.inputs[0].dtype, r.extents()[2], tuning);
  TRY(validate(kernel));
  const RecurrencePlace place = kernel.place(arguments.device.properties().shared_bytes_per_block);
  StepCode code = TRY(StepCode::load(arguments));
  const Function function = TRY(code.function(recurrence_entry(kernel, place)));
  StepInputs inputs(arguments);
  TRY(inputs.put(Recurrence::kR, arguments, pack_recurrence(kernel, r)));
  if (p) TRY(inputs.put(Recurrence::kP, arguments, floats_of(p, p->volume())));
  TRY(inputs.upload_rest(arguments));
  const Bytes biases = floats_of(b, step.op.num_directions() * 2 * kernel.gates * kernel.hidden);
  return std::make_unique<LoadedRecurrence>(arguments.device, step.op, kernel, std::move(code), function,
                                            std::move(inputs), TRY(arguments.upload(biases)), spec.outputs.size());
}

}  // namespace kiln::cuda
