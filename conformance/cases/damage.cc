#include "damage.h"

#include <algorithm>

#include "base/log.h"
#include "ops/dequantize.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/quantize.h"
#include "ops/softmax.h"
#include "plan/decided_sizes.h"
#include "plan/validate.h"
#include "runtime/step_loader.h"
#include "tensor/memory_order.h"

namespace kiln {
namespace {

constexpr int64_t kNumbers[] = {-1,        0,         1,         2,         3,         7,       8,           16,
                                31,        64,        255,       65535,     65536,     1 << 30, INT32_MAX,   1LL << 31,
                                1LL << 32, 1LL << 40, 1LL << 46, INT64_MIN, INT64_MAX, -2,      -(1LL << 31)};

}  // namespace

void Damage::change(Sample& s) {
  switch (below(9)) {
    case 0:
    case 1:
    case 2: below(2) == 0 ? change_step(s) : change(s.spec.tuning); break;
    case 3: change_list(s); break;
    case 4: change_tensor(s); break;
    case 5:
    case 6: change_extent(s); break;
    case 7: change(s.params), s.spec.num_params = static_cast<int>(s.params.size()); break;
    default: change_binary(s); break;
  }
}

int64_t Damage::number(int64_t before) {
  return below(3) == 0 ? static_cast<int64_t>(static_cast<uint64_t>(before) + below(5) - 2)
                       : kNumbers[below(std::size(kNumbers))];
}

void Damage::change(std::vector<int64_t>& numbers) {
  const size_t at = below(numbers.size());
  switch (below(4)) {
    case 0: numbers.push_back(number(1)); break;
    case 1:
      if (!numbers.empty()) numbers.erase(numbers.begin() + static_cast<ptrdiff_t>(at));
      break;
    default:
      if (!numbers.empty()) numbers[at] = number(numbers[at]);
  }
}
Datum Damage::changed(const Datum& datum) {
  if (below(16) == 0) return below(2) ? Datum(number(0)) : Datum("no such thing");
  return std::visit(
      [&](const auto& value) -> Datum {
        using T = std::decay_t<decltype(value)>;
        T copy = value;
        if constexpr (std::is_same_v<T, bool>) copy = !copy;
        if constexpr (std::is_same_v<T, int64_t>) copy = number(value);
        if constexpr (std::is_same_v<T, double>) copy = below(2) ? 1e300 : -value;
        if constexpr (std::is_same_v<T, std::string>) {
          constexpr const char* kTexts[] = {"f32",   "f16",   "bf16",      "i4",     "i64",    "simt",     "mma",
                                            "wgmma", "small", "depthwise", "direct", "banded", "winograd", "rows"};
          copy = kTexts[below(std::size(kTexts))];
        }
        if constexpr (std::is_same_v<T, std::vector<int64_t>>) change(copy);
        if constexpr (std::is_same_v<T, Datum::List>)
          if (!copy.empty()) {
            const size_t at = below(copy.size());
            below(2) ? copy.push_back(copy[at]) : static_cast<void>(copy[at] = changed(copy[at]));
          }
        if constexpr (std::is_same_v<T, Record>) change(copy);
        if constexpr (std::is_same_v<T, std::monostate>)
          return {};
        else
          return Datum(std::move(copy));
      },
      datum.variant());
}
void Damage::change(Record& record) {
  const auto& entries = record.entries();
  if (entries.empty()) return;
  const size_t at = below(entries.size());
  if (below(16) == 0) {
    Record without;
    for (size_t i = 0; i < entries.size(); ++i)
      if (i != at) without.set(entries[i].first, entries[i].second);
    record = std::move(without);
    return;
  }
  const std::string name = entries[at].first;
  record.set(name, changed(entries[at].second));
}

void Damage::change_step(Sample& s) {
  Record fields = s.spec.step.to_record();
  change(fields);
  const Result<AnyStep> step = step_from_record(s.spec.step.kind(), fields);
  s.is_read = s.is_read && step.has_value();
  if (step) s.spec.step = *step;
}

void Damage::change_list(Sample& s) {
  const size_t at = below(s.spec.inputs.size());
  const auto place = static_cast<ptrdiff_t>(at);
  const bool any = !s.spec.inputs.empty();
  switch (below(4)) {
    case 0:
      if (any) {
        s.spec.inputs.erase(s.spec.inputs.begin() + place), s.inputs.erase(s.inputs.begin() + place);
        s.constants.erase(s.constants.begin() + place), s.is_constant.erase(s.is_constant.begin() + place);
      }
      break;
    case 1:
      if (any) {
        s.spec.inputs.push_back(s.spec.inputs[at]), s.inputs.push_back(Extents(s.inputs[at]));
        s.constants.push_back(HostTensor(s.constants[at])), s.is_constant.push_back(s.is_constant[at]);
      }
      break;
    case 2:
      if (any) s.spec.inputs[at].present = !s.spec.inputs[at].present, s.is_constant[at] = false;
      break;
    default:
      if (below(2)) {
        s.spec.outputs.push_back(s.spec.outputs[0]), s.outputs.push_back(Extents(s.outputs[0]));
      } else {
        s.spec.outputs.pop_back(), s.outputs.pop_back();
      }
  }
}

/// A tensor's type and extents; an input where `input` says so.
std::pair<StepTensor*, Extents*> Damage::tensor(Sample& s, size_t& input) {
  const size_t inputs = s.spec.inputs.size(), at = below(inputs + s.spec.outputs.size());
  input = at < inputs ? at : ~size_t{0};
  if (inputs + s.spec.outputs.size() == 0) return {nullptr, nullptr};
  if (at < inputs) return {&s.spec.inputs[at], &s.inputs[at]};
  return {&s.spec.outputs[at - inputs], &s.outputs[at - inputs]};
}
void Damage::change_tensor(Sample& s) {
  size_t input = 0;
  const auto [type, extents] = tensor(s, input);
  if (!type) return;
  switch (below(4)) {
    case 0: type->dtype = static_cast<DType>(below(kNumDTypes)); break;
    case 1: {
      std::vector<int> order(static_cast<size_t>(type->rank));
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
      std::ranges::shuffle(order, random_);
      type->format = order.empty() || below(4) == 0 ? Format() : Format::permuted(order);
      if (!order.empty() && below(8) == 0) type->format = type->format.blocked(order[0], 4);
      break;
    }
    case 2:
      if (!extents->empty()) extents->erase(extents->begin() + static_cast<ptrdiff_t>(below(extents->size())));
      break;
    default:
      if (extents->size() < kMaxRank)
        extents->insert(extents->begin() + static_cast<ptrdiff_t>(below(extents->size() + 1)),
                        1 + static_cast<int64_t>(below(3)));
  }
  if (type->rank != static_cast<int>(extents->size()))
    type->rank = static_cast<int>(extents->size()), type->format = Format();
  fit_constant(s, input);
}
void Damage::change_extent(Sample& s) {
  size_t input = 0;
  const auto [type, extents] = tensor(s, input);
  if (!type || extents->empty()) return;
  int64_t& extent = (*extents)[below(extents->size())];
  const int64_t before = std::exchange(extent, std::max<int64_t>(0, number(extent)));
  Extents at_least_one = *extents;
  for (int64_t& e : at_least_one) e = std::max<int64_t>(e, 1);
  const auto most = checked_volume(at_least_one);
  if (!most || *most > plan::kMaxElements) extent = before;  // as plan::validate_extents
  // Memory of the host that grows with extents: the device's would be gone first.
  const bool on_host =
      on_host_ || s.spec.step.name() == "reference" || s.spec.step.name() == "resize" || s.spec.step.name() == "values";
  if (on_host && extent > 1000) extent = before;
  fit_constant(s, input);
}
/// A weight has its tensor's type and extents, in the order of its format.
void Damage::fit_constant(Sample& s, size_t input) {
  if (input >= s.inputs.size() || !s.is_constant[input]) return;
  s.is_constant[input] = false;
  const Format& format = s.spec.inputs[input].format;
  if (volume(s.inputs[input]) > 1 << 16 || format.is_blocked()) return;
  if (auto made = HostTensor::make(s.spec.inputs[input].dtype, in_memory_order(format, s.inputs[input]))) {
    std::ranges::fill(made->data, std::byte{1});
    s.constants[input] = made->tensor;
    s.is_constant[input] = true;
  }
}

void Damage::change_binary(Sample& s) {
  if (below(2)) {
    s.spec.binary = others_[below(others_.size())].spec.binary;
  } else {
    bytes_.assign(s.spec.binary.begin(), s.spec.binary.end());
    const size_t at = below(below(2) ? std::min<size_t>(bytes_.size(), 64) : bytes_.size());
    if (below(2))
      bytes_.resize(at);
    else if (!bytes_.empty())
      bytes_[at] = static_cast<std::byte>(below(256));
    s.spec.binary = bytes_;
  }
}

Status add_samples(const ir::Graph& graph, Backend& backend, const BuildRequest& request,
                   std::vector<std::shared_ptr<plan::Plan>>& plans, std::vector<Sample>& samples) {
  NullLog log;
  const auto plan = plans.emplace_back(std::make_shared<plan::Plan>(TRY(build_plan(graph, backend, request, log))));
  const plan::Profile& profile = plan->profiles[0];
  std::vector<int64_t> symbols(plan->symbols.size(), 0);  // sizes that data decides, at their largest
  TRY(plan::set_largest_sizes(profile, symbols));
  const std::vector<Extents> extents = TRY(runtime::tensor_extents(profile, symbols));
  for (const plan::Step& step : profile.steps) {
    Sample s;
    s.spec = runtime::spec_of(*plan, profile, step);
    for (const int id : step.inputs) {
      s.inputs.push_back(extents[static_cast<size_t>(id)]);
      const plan::Tensor& t = profile.tensors[static_cast<size_t>(id)];
      s.is_constant.push_back(t.place == plan::Place::kWeight);
      s.constants.push_back(s.is_constant.back()
                                ? TRY(in_memory_order(t.format, plan->weights[static_cast<size_t>(t.index)].value))
                                : HostTensor());
    }
    for (const int id : step.outputs) s.outputs.push_back(extents[static_cast<size_t>(id)]);
    for (const sym::Program& param : step.params) s.params.push_back(TRY(param.run(symbols)));
    samples.push_back(std::move(s));
  }
  return {};
}

Result<ir::Graph> attention_network(DType dtype, std::optional<DType> bytes) {
  ir::Graph graph;
  const double by = 1.0 / 128;
  const ir::ValueId scale = graph.add_constant(HostTensor::of(DType::kF32, {1, 1, 1, 1}, std::span(&by, 1)), "scale");
  const auto input = [&](const char* name) -> Result<ir::ValueId> {
    const ir::ValueId x = graph.add_input(name, tensor_type(bytes.value_or(dtype), Extents{2, 4, 128, 64}));
    return bytes ? graph.add_one(ops::Dequantize{dtype}, {x, scale}) : x;
  };
  const ir::ValueId q = TRY(input("q")), k = TRY(input("k")), v = TRY(input("v"));
  const ir::ValueId scores =
      TRY(graph.add_one(ops::MatrixMultiply{ops::MatrixOp::kNone, ops::MatrixOp::kTranspose}, {q, k}));
  ir::ValueId shares = TRY(graph.add_one(ops::Softmax{3}, {scores}));
  if (bytes)
    shares =
        TRY(graph.add_one(ops::Dequantize{dtype}, {TRY(graph.add_one(ops::Quantize{*bytes}, {shares, scale})), scale}));
  const ir::ValueId mixed = TRY(graph.add_one(ops::MatrixMultiply{}, {shares, v}));
  const std::vector<double> numbers(64 * 64, 0.5);
  const ir::ValueId w = graph.add_constant(HostTensor::of(dtype, {1, 1, 64, 64}, numbers), "w");
  graph.mark_output(TRY(graph.add_one(ops::MatrixMultiply{}, {mixed, w})), "y");
  return graph;
}

}  // namespace kiln
