#include "steps/recurrence.h"

#include "backend/cuda/device/fault_word.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/recurrence/recurrence.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

using ops::Recurrence;

Status run_recurrence(const Function& function, const StepInputs& inputs, RecurrenceLaunch& plan, size_t num_outputs,
                      const RunArguments& run) {
  const auto input = [&](size_t i) { return i < inputs.size() ? inputs.at(i, run) : nullptr; };
  RecurrenceArgument& a = plan.argument;
  a.a = input(Recurrence::kX);
  a.r = input(Recurrence::kR);
  a.peepholes = static_cast<const float*>(input(Recurrence::kP));
  a.lengths = static_cast<const int32_t*>(input(Recurrence::kSequenceLens));
  a.initial_h = input(Recurrence::kInitialH);
  a.initial_c = input(Recurrence::kInitialC);
  a.y = run.outputs[Recurrence::kY];
  a.y_h = run.outputs[Recurrence::kYH];
  a.y_c = num_outputs > Recurrence::kYC ? run.outputs[Recurrence::kYC] : nullptr;
  void* pointers[] = {&a};
  return launch(*run.stream, function, plan.shape, pointers);
}

Status check_lengths(const FaultWord& fault, int64_t time) {
  const std::optional<int64_t> length = fault.take();
  if (!length) [[likely]]
    return {};
  return error(Code::kInvalidArgument, "sequence_lens has ", *length, ", outside [0, ", time,
               "]; that row's sequence is taken to be empty");
}

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

LoadResult load(const steps::Recurrence& step, const LoadArguments& arguments) {
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
  const int64_t packed_bytes = inputs.packed_bytes();
  auto bind = [&device = arguments.device, op = step.op, kernel, code = std::move(code), function,
               inputs = std::move(inputs), biases_at = TRY(arguments.upload(biases)),
               num_outputs = spec.outputs.size()](const StepShapes& shapes) -> BindResult {
    const Extents &x = shapes.inputs[Recurrence::kX], &r = shapes.inputs[Recurrence::kR];
    TRY(require(r[2] == kernel.hidden, "a recurrence's kernel is for ", kernel.hidden, " hidden units, not for ", r));
    RecurrenceLaunch plan = TRY(recurrence_launch(kernel, op, x, r, device.properties().shared_bytes_per_block));
    TRY(function.check(plan.shape));
    const auto fault = std::make_shared<FaultWord>(TRY(FaultWord::create(device)));
    plan.argument.biases = reinterpret_cast<const float*>(biases_at->data());
    plan.argument.fault = fault->address();
    auto run = [function, &inputs, plan, num_outputs](const RunArguments& run) mutable {
      return run_recurrence(function, inputs, plan, num_outputs, run);
    };
    return bound_step(std::move(run), 0, [fault, time = plan.argument.time] { return check_lengths(*fault, time); });
  };
  return loaded_step(std::move(bind), packed_bytes);
}

}  // namespace kiln::cuda
