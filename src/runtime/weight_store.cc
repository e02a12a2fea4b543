#include "runtime/weight_store.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "ops/cast.h"
#include "ops/fold.h"
#include "tensor/view.h"

namespace kiln::runtime {
namespace {

using plan::DataRef;

std::string joined(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text += str(text.empty() ? "'" : ", '", name, "'");
  return text;
}

/// What every derived tensor and weight of a plan comes from.
class Uses {
 public:
  explicit Uses(const plan::Plan& plan) : derived_(plan.derived.size()) {
    for (size_t d = 0; d < derived_.size(); ++d)
      for (const DataRef& input : plan.derived[d].inputs) add(input, derived_[d]);
    for (const plan::Weight& weight : plan.weights) {
      add(weight.from, weights_.emplace_back());
      if (weight.from.source >= 0) stored_.insert(weight.from.source);
    }
  }

  const std::set<int>& of_weight(size_t weight) const { return weights_[weight]; }
  /// Whether the elements of a source are those of a weight.
  bool is_stored(int source) const { return stored_.contains(source); }

 private:
  void add(const DataRef& ref, std::set<int>& to) const {
    if (ref.source >= 0) to.insert(ref.source);
    if (ref.derived >= 0)
      to.insert(derived_[static_cast<size_t>(ref.derived)].begin(), derived_[static_cast<size_t>(ref.derived)].end());
  }

  std::vector<std::set<int>> derived_, weights_;  // sources of each
  std::set<int> stored_;
};

/// The names of sources that have to be given beside those of `given`.
std::vector<std::string> missing(const plan::Plan& plan, const Uses& uses, const std::set<int>& given) {
  std::set<int> result;
  const auto changes = [&](int source) { return given.contains(source) || result.contains(source); };
  for (size_t before = SIZE_MAX; before != result.size();) {  // a source that is added may need more
    before = result.size();
    for (size_t w = 0; w < plan.weights.size(); ++w) {
      if (std::ranges::none_of(uses.of_weight(w), changes)) continue;
      for (const int source : uses.of_weight(w))
        if (!given.contains(source) && !uses.is_stored(source)) result.insert(source);
    }
  }
  std::vector<std::string> names;
  for (const int source : result) names.push_back(plan.sources[static_cast<size_t>(source)].name);
  return names;
}

class Derivation {
 public:
  Derivation(plan::Plan& plan, const NewWeights& given)
      : plan_(plan), given_(given), made_(plan.derived.size()), readers_(plan.derived.size(), 0) {
    for (size_t s = 0; s < plan.sources.size(); ++s) index_.emplace(plan.sources[s].name, static_cast<int>(s));
    const auto count = [&](const DataRef& ref) {
      if (ref.derived >= 0) ++readers_[static_cast<size_t>(ref.derived)];
    };
    for (const plan::Derived& derived : plan.derived) std::ranges::for_each(derived.inputs, count);
    for (const plan::Weight& weight : plan.weights) count(weight.from);
  }

  Status run() {
    std::set<int> given;
    for (const auto& [name, value] : given_) {
      TRY(check(name, value));
      given.insert(index_.find(name)->second);
    }
    const Uses uses(plan_);
    if (const auto others = missing(plan_, uses, given); !others.empty())
      return error(Code::kInvalidArgument, "weights are made of these together with ", joined(others),
                   ", which must be given too");
    std::vector<std::optional<HostTensor>> fresh(plan_.weights.size());
    for (size_t w = 0; w < plan_.weights.size(); ++w) {
      const DataRef& from = plan_.weights[w].from;
      if (std::ranges::none_of(uses.of_weight(w), [&](int source) { return given.contains(source); })) continue;
      const auto made = from.derived >= 0 ? derived(static_cast<size_t>(from.derived)) : elements(from);
      fresh[w] = TRY(in_context(made, [&] { return str("weights '", plan_.weights[w].name, "'"); }));
    }
    for (size_t w = 0; w < fresh.size(); ++w) {
      int& same_as = plan_.weights[w].same_as;
      if (fresh[w] || (same_as >= 0 && fresh[static_cast<size_t>(same_as)])) same_as = -1;  // they may differ now
      if (fresh[w]) plan_.weights[w].value = *std::move(fresh[w]);
    }
    return {};
  }

 private:
  Status check(std::string_view name, const HostTensor& value) const {
    const auto found = index_.find(name);
    TRY(require(found != index_.end(), "no weights of the engine are made of '", name, "'"));
    const plan::WeightSource& source = plan_.sources[static_cast<size_t>(found->second)];
    TRY(require(value.dtype() == source.dtype && value.extents() == source.extents, "weights '", name, "' are ",
                source.dtype, source.extents, "; ", value.dtype(), value.extents(), " were given"));
    return require(source.fixed.empty() || source.checksum == str(hash128(value)), "weights '", name,
                   "' cannot become others: ", source.fixed, "; build the network anew");
  }

  Result<HostTensor> elements(const DataRef& ref) {
    if (ref.weight >= 0) return plan_.weights[static_cast<size_t>(ref.weight)].value;
    if (ref.derived >= 0) return *made_[static_cast<size_t>(ref.derived)];
    const plan::WeightSource& source = plan_.sources[static_cast<size_t>(ref.source)];
    if (const auto found = given_.find(source.name); found != given_.end()) return found->second;
    for (const plan::Weight& weight : plan_.weights)
      if (weight.from.source == ref.source) return weight.value;
    return error(Code::kInternal, "no elements of '", source.name, "'");
  }

  /// In the plan's order, in which an op stands behind those that it reads: a chain may be long.
  Result<HostTensor> derived(size_t index) {
    std::vector<bool> wanted(index + 1);
    wanted[index] = true;
    for (size_t d = index + 1; d-- > 0;)
      if (wanted[d] && !made_[d])
        for (const DataRef& input : plan_.derived[d].inputs)
          if (input.derived >= 0) wanted[static_cast<size_t>(input.derived)] = true;
    for (size_t d = 0; d <= index; ++d)
      if (wanted[d] && !made_[d]) made_[d] = TRY(compute_derived(d));
    HostTensor result = *made_[index];
    for (size_t d = 0; d <= index; ++d)
      if (wanted[d] && readers_[d] <= 1) made_[d].reset();
    return result;
  }

  Result<HostTensor> compute_derived(size_t index) {
    const plan::Derived& recipe = plan_.derived[index];
    std::vector<HostTensor> tensors;
    for (const DataRef& input : recipe.inputs) tensors.push_back(input.is_none() ? HostTensor() : TRY(elements(input)));
    std::vector<const HostTensor*> inputs;
    for (size_t i = 0; i < tensors.size(); ++i) inputs.push_back(recipe.inputs[i].is_none() ? nullptr : &tensors[i]);
    const auto output = static_cast<size_t>(recipe.output);
    const TensorType type = TRY(result_types(recipe.op, inputs))[output],
                     recorded = tensor_type(recipe.dtype, recipe.extents);
    if (!type.same_type(recorded))
      return error(Code::kCorrupt, recipe.op.name(), " makes ", type, ", not ", recorded,
                   ": the plan is damaged, build it again");
    HostTensor result = std::move(TRY(compute(recipe.op, inputs))[output]);
    if (recipe.op.as<ops::Cast>()) TRY(check_range(*inputs[0], result));
    return result;
  }

  /// A build keeps finite what FP16 does not hold, in another way than by a cast.
  static Status check_range(const HostTensor& x, const HostTensor& y) {
    if (y.dtype() != DType::kF16 || x.dtype() != DType::kF32) return {};
    const View from(x), to(y);
    for (int64_t i = 0; i < from.volume(); ++i)
      if (std::isinf(to[i]) && std::isfinite(from[i]))
        return error(Code::kUnsupported, from[i], " is beyond FP16, in which this engine keeps it; build it anew");
    return {};
  }

  plan::Plan& plan_;
  const NewWeights& given_;
  std::map<std::string_view, int> index_;
  std::vector<std::optional<HostTensor>> made_;  // what several read, and what is being made
  std::vector<int> readers_;
};

}  // namespace

std::vector<std::string> replaceable(const plan::Plan& plan) {
  std::vector<std::string> result;
  for (const plan::WeightSource& source : plan.sources)
    if (source.fixed.empty()) result.push_back(source.name);
  return result;
}

std::vector<std::string> missing(const plan::Plan& plan, std::span<const std::string_view> given) {
  std::set<int> sources;
  for (size_t s = 0; s < plan.sources.size(); ++s)
    if (std::ranges::find(given, plan.sources[s].name) != given.end()) sources.insert(static_cast<int>(s));
  return missing(plan, Uses(plan), sources);
}

Result<plan::Plan> with_weights(plan::Plan plan, const NewWeights& weights) {
  TRY(Derivation(plan, weights).run());
  return plan;
}

}  // namespace kiln::runtime
