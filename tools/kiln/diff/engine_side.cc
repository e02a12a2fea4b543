#include "kiln/diff/engine_side.h"

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "passes/quantize_contractions.h"
#include "plan/views.h"
#include "runtime/value_observer.h"
#include "steps/quantized_convolution.h"
#include "steps/quantized_matrix_multiply.h"
#include "steps/quantized_result.h"
#include "tensor/memory_order.h"
#include "tensor/view.h"

namespace kiln::diff {
namespace {

const plan::Tensor& tensor_of(const plan::Block& block, int id) { return block.tensors[static_cast<size_t>(id)]; }

/// Whether a view has all elements of the tensor that it is a view of, in their order.
bool is_whole_view(const plan::Block& block, const plan::Tensor& view) {
  if (view.place != plan::Place::kView) return false;
  const plan::Tensor& of = tensor_of(block, view.index);
  return view.offset.constant() == 0 && view.dtype == of.dtype && view.format.is_linear() && of.format.is_linear() &&
         view.size_bytes_max == of.size_bytes_max;
}

/// Adds a name that is not there yet. Bytes that a pass made of floats are also called as these are.
void add_name(Spot& spot, const std::string& name, DType type) {
  if (name.empty()) return;
  if (std::ranges::find(spot.names, name) == spot.names.end()) spot.names.push_back(name);
  if (steps::is_quantized_result(type))
    if (const std::string_view floats = passes::name_of_floats(name); !floats.empty())
      add_name(spot, std::string(floats), DType::kF32);
}

Precision precision_of(const plan::Plan& plan) {
  Precision coarsest = Precision::kFloat;
  for (const plan::Block* block : plan::blocks_of(plan))
    for (const plan::Tensor& tensor : block->tensors) {
      if (tensor.place == plan::Place::kWeight || tensor.place == plan::Place::kAbsent) continue;
      if (tensor.dtype == DType::kF16) coarsest = std::max(coarsest, Precision::kHalf);
      if (tensor.dtype == DType::kBF16) coarsest = std::max(coarsest, Precision::kBfloat);
      if (tensor.dtype == DType::kI8 || tensor.dtype == DType::kF8E4M3) coarsest = Precision::kBytes;
    }
  return coarsest;
}

/// Whether a step multiplies bytes, and has their scales as its last inputs.
bool multiplies_bytes(const plan::Step& step) {
  return step.step.as<steps::QuantizedConvolution>() || step.step.as<steps::QuantizedMatrixMultiply>();
}

}  // namespace

EngineSide::BlockIndex::BlockIndex(const plan::Block& block)
    : made(block.tensors.size(), false), views(block.tensors.size()) {
  for (const plan::Step& step : block.steps) {
    for (const int output : step.outputs) made[static_cast<size_t>(output)] = true;
    if (multiplies_bytes(step)) byte_products.push_back(&step);
  }
  // A step that works in place makes a view of what it reads, with other numbers: no other name of the same.
  for (size_t t = 0; t < block.tensors.size(); ++t)
    if (const plan::Tensor& view = block.tensors[t]; !made[t] && is_whole_view(block, view))
      views[static_cast<size_t>(view.index)].push_back(static_cast<int>(t));
}

int EngineSide::BlockIndex::source_of(const plan::Block& block, int id) const {
  while (!made[static_cast<size_t>(id)] && block.tensors[static_cast<size_t>(id)].place == plan::Place::kView)
    id = block.tensors[static_cast<size_t>(id)].index;
  return id;
}

Result<std::unique_ptr<EngineSide>> EngineSide::create(Session session, int profile, std::string name,
                                                       Precision least) {
  std::unique_ptr<EngineSide> side(new EngineSide(std::move(session)));
  const plan::Plan& plan = side->plan();
  side->profile_ = profile;
  TRY(side->session_.context->select_profile(profile));
  const std::vector<plan::NestedStep> steps = plan::nested_steps(plan, plan.profiles[static_cast<size_t>(profile)]);
  std::unordered_map<const plan::Block*, BlockIndex> indices;
  for (const plan::NestedStep& step : steps)
    side->add_spots(step, indices.try_emplace(step.block, *step.block).first->second);
  side->precision_ = std::max(least, precision_of(plan));
  side->description_ = str(name, " (engine, ", plan.device_kind, ", ", counted(steps.size(), "step"),
                           plan.profiles.size() > 1 ? str(", profile ", profile) : std::string(), ")");
  return side;
}

void EngineSide::add_spots(const plan::NestedStep& nested, const BlockIndex& index) {
  const plan::Block& block = *nested.block;
  const plan::Step& step = nested.get();
  std::vector<size_t> reads;
  for (const int input : step.inputs)
    if (const auto found = made_by_.find(&tensor_of(block, plan::root_of(block, input))); found != made_by_.end())
      reads.push_back(found->second);
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    const int id = step.outputs[i];
    const plan::Tensor& tensor = tensor_of(block, id);
    Spot& spot = spots_.emplace_back();
    if (nested.body) spot.body = nested.body->name;
    const int root_id = plan::root_of(block, id);
    const plan::Tensor& root = tensor_of(block, root_id);
    const plan::IoTensor* output = nullptr;  // that the tensor is, for the program
    if (root.place == plan::Place::kOutput && (&root == &tensor || is_whole_view(block, tensor)))
      output = &(nested.body ? nested.body->outputs : plan().outputs)[static_cast<size_t>(root.index)];
    // A transpose that moved nothing: the tensor in memory's order is the output, and its own name says another order.
    const bool is_turned = output && output->format != tensor.format;
    if (!is_turned) add_name(spot, tensor.name, tensor.dtype);
    std::vector<int> same{id};  // tensors of the same elements in the same order
    if (output) {
      add_name(spot, output->name, tensor.dtype);
      if (root_id != id && tensor.index == root_id) same.push_back(root_id);
    }
    for (size_t at = 0; at < same.size(); ++at)  // views of views are whole, too
      for (const int view : index.views[static_cast<size_t>(same[at])]) {
        add_name(spot, tensor_of(block, view).name, tensor_of(block, view).dtype);
        same.push_back(view);
      }
    spot.layer = step.name;
    spot.number = nested.number;
    spot.origins = step.provenance;
    spot.output = static_cast<int>(i);
    spot.reads = reads;
    scales_.push_back(scale_of(block, index, id));
    is_turned_.push_back(is_turned);
    of_step_[&step].push_back(spots_.size() - 1);
    made_by_[&root] = spots_.size() - 1;
  }
}

/// The scale of a tensor of bytes: of the product that makes it, or of one that reads it.
std::optional<ByteScale> EngineSide::scale_of(const plan::Block& block, const BlockIndex& index, int id) const {
  using steps::ByteOperand;
  if (!steps::is_quantized_result(tensor_of(block, id).dtype)) return std::nullopt;
  for (const plan::Step* product : index.byte_products) {
    const plan::Step& step = *product;
    const bool makes = step.outputs[0] == id, reads = index.source_of(block, step.inputs[0]) == id;
    if (!makes && !reads) continue;
    const auto number = [&](ByteOperand operand) -> std::optional<double> {
      const plan::Tensor& tensor = tensor_of(block, step.inputs[steps::input_of(operand, step.inputs.size())]);
      if (tensor.place == plan::Place::kAbsent) return 0;
      if (tensor.place != plan::Place::kWeight) return std::nullopt;
      const HostTensor& value = session_.plan->weights[static_cast<size_t>(tensor.index)].value;
      if (value.volume() != 1 || value.bytes().empty()) return std::nullopt;
      return View(value)[0];
    };
    const auto scale = number(makes ? ByteOperand::kYScale : ByteOperand::kXScale);
    const auto zero = number(makes ? ByteOperand::kYZero : ByteOperand::kXZero);
    if (scale && zero && *scale > 0) return ByteScale{*scale, *zero};
  }
  return std::nullopt;
}

class EngineSide::Observer final : public runtime::ValueObserver {
 public:
  Observer(EngineSide& side, Watcher& watcher) : side_(side), watcher_(watcher) {}

  bool wants(const plan::Step& step, int output) override {
    const auto found = side_.of_step_.find(&step);  // steps of other profiles are not there
    return found != side_.of_step_.end() && watcher_.wants(found->second[static_cast<size_t>(output)]);
  }

  Status value_made(const plan::Step& step, int output, const runtime::ObservedValue& value, Stream& stream) override {
    const size_t spot = side_.of_step_.at(&step)[static_cast<size_t>(output)];
    const plan::Tensor& tensor = value.tensor;
    Extents extents(value.extents.begin(), value.extents.end());
    Format format = tensor.format;
    if (side_.is_turned_[spot]) {
      extents = in_memory_order(format, extents);
      format = Format::linear();
    }
    Device& device = *side_.session_.device;
    std::span<std::byte> image;  // of the tensor on the host
    const auto bytes = static_cast<size_t>(TRY(stored_bytes(format, tensor.dtype, extents)));
    auto* const there = static_cast<std::byte*>(value.data);
    if (device.is_host() || bytes == 0) {
      image = {there, bytes};
    } else {
      copy_.resize(bytes);
      image = copy_;
      TRY(device.copy_to_host(image.data(), there, static_cast<int64_t>(bytes), stream));
      TRY(stream.synchronize());
    }
    const HostTensor made = TRY(from_memory_order(format, tensor.dtype, extents, image));
    const auto instead = TRY(watcher_.made(spot, {made, side_.scales_[spot]}));
    if (!instead || bytes == 0) return {};
    TRY(to_memory_order(format, TRY(in_type(*instead, made, side_.scales_[spot])), image));
    if (device.is_host()) return {};
    TRY(device.copy_from_host(there, image.data(), static_cast<int64_t>(bytes), stream));
    return stream.synchronize();  // `copy_` is the next tensor's
  }

 private:
  /// Elements as a tensor like `made` has them.
  static Result<HostTensor> in_type(const HostTensor& value, const HostTensor& made,
                                    const std::optional<ByteScale>& scale) {
    TRY(require(value.volume() == made.volume(), "a tensor of ", value.volume(), " elements cannot stand for one of ",
                made.volume()));
    if (value.dtype() == made.dtype()) return value.reshaped(made.extents());
    HostTensor::Fresh fresh = TRY(HostTensor::make(made.dtype(), made.extents()));
    const View from(value);
    for (int64_t i = 0; i < from.volume(); ++i) {
      if (!is_float(value.dtype()) && !is_float(made.dtype())) {
        store_integer(made.dtype(), fresh.data.data(), i, from.integer(i));
        continue;
      }
      double number = from[i];
      if (scale) {
        number = number / scale->scale + scale->zero;
        if (made.dtype() == DType::kI8) number = std::clamp(std::nearbyint(number), -128.0, 127.0);
        if (made.dtype() == DType::kU8) number = std::clamp(std::nearbyint(number), 0.0, 255.0);
      }
      store_number(made.dtype(), fresh.data.data(), i, number);
    }
    return std::move(fresh.tensor);
  }

  EngineSide& side_;
  Watcher& watcher_;
  std::vector<std::byte> copy_;
};

namespace {

/// Inputs as memory in the plan's formats has them, under their extents.
Result<std::vector<HostTensor>> as_images(const plan::Plan& plan, std::vector<HostTensor> inputs) {
  for (size_t i = 0; i < inputs.size() && i < plan.inputs.size(); ++i) {
    const Format& format = plan.inputs[i].format;
    if (format.is_linear()) continue;
    const int64_t bytes = TRY(stored_bytes(format, inputs[i].dtype(), inputs[i].extents()));
    const HostTensor::Fresh image = TRY(HostTensor::make(DType::kU8, {bytes}));
    TRY(to_memory_order(format, inputs[i], image.data));
    inputs[i] = HostTensor(inputs[i].dtype(), inputs[i].extents(), image.tensor.bytes(), image.tensor.owner());
  }
  return inputs;
}

}  // namespace

Status EngineSide::run(const std::vector<HostTensor>& inputs, Watcher& watcher) {
  const auto where = [&] { return description_; };
  if (has_run_) {  // what a context keeps from run to run (random numbers) begins anew
    session_.context = TRY(runtime::Context::create(session_.engine, runtime::Context::Memory::kOwn));
    TRY(session_.context->select_profile(profile_));
  }
  has_run_ = true;
  TRY(in_context(session_.set_inputs(TRY(as_images(plan(), inputs))), where));
  Observer observer(*this, watcher);
  session_.context->set_value_observer(&observer);
  const Status ran = session_.run();
  session_.context->set_value_observer(nullptr);
  return in_context(ran, where);
}

}  // namespace kiln::diff
