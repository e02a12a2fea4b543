#include "kiln/diff/networks.h"

#include <algorithm>
#include <map>
#include <random>

#include "base/mapped_file.h"
#include "cli/files.h"
#include "kiln/made_up.h"
#include "kiln/network.h"
#include "plan/reader.h"
#include "tensor/view.h"

namespace kiln::diff {
namespace {

Extents fixed(const plan::IoTensor& tensor) {
  Extents extents;
  for (const sym::Program& extent : tensor.extents) extents.push_back(extent.constant().value_or(-1));
  return extents;
}

std::string names_of(const std::vector<Input>& inputs) {
  std::string text;
  for (const Input& input : inputs) text += str(text.empty() ? "'" : ", '", input.name, '\'');
  return text.empty() ? "none" : text;
}

/// "f32[1..8, 3]" of what a network takes; of a plan with several profiles "f32[1..4, 3] or f32[8..16, 3]".
std::string range_text(const Network& network, size_t i) {
  const Input input = network.inputs()[i];
  std::string text = str(input.dtype, "[");
  const bool is_open = std::ranges::find(input.extents, -1) != input.extents.end();
  const size_t num_ranges = network.plan && is_open ? network.plan->profiles.size() : 1;
  for (size_t p = 0; p < num_ranges; ++p) {
    if (p > 0) text += str("] or ", input.dtype, "[");
    for (size_t axis = 0; axis < input.extents.size(); ++axis) {
      text += axis == 0 ? "" : ", ";
      if (input.extents[axis] >= 0) {
        text += str(input.extents[axis]);
      } else if (network.plan) {
        const plan::InputRange& range = network.plan->profiles[p].ranges[i];
        text += str(range.min[axis], "..", range.max[axis]);
      } else {
        text += "any";
      }
    }
  }
  return text + "]";
}

std::optional<size_t> find_input(const std::vector<Input>& inputs, const std::string& name) {
  const auto found = std::ranges::find(inputs, name, &Input::name);
  return found == inputs.end() ? std::nullopt : std::optional(static_cast<size_t>(found - inputs.begin()));
}

bool in_range(const Extents& at, const Extents& least, const Extents& most) {
  if (at.size() != least.size()) return false;
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] < least[i] || at[i] > most[i]) return false;
  return true;
}

using Shapes = std::map<std::string, Extents>;

/// The profile that takes these shapes, 0 for a graph; nothing: none does.
std::optional<int> profile_for(const Network& network, const Shapes& extents, const Shapes& values) {
  const std::vector<Input> inputs = network.inputs();
  const auto takes = [&](const plan::Profile& profile) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!in_range(extents.at(inputs[i].name), profile.ranges[i].min, profile.ranges[i].max)) return false;
      const plan::InputRange& range = profile.value_ranges[i];
      if (inputs[i].is_shape && !range.min.empty() && !in_range(values.at(inputs[i].name), range.min, range.max))
        return false;
    }
    return true;
  };
  if (network.plan) {
    for (size_t p = 0; p < network.plan->profiles.size(); ++p)
      if (takes(network.plan->profiles[p])) return static_cast<int>(p);
    return std::nullopt;
  }
  for (const Input& input : inputs) {
    const Extents& at = extents.at(input.name);
    for (size_t axis = 0; axis < at.size(); ++axis)
      if (input.extents[axis] >= 0 && input.extents[axis] != at[axis]) return std::nullopt;
  }
  return 0;
}

/// Shapes that a network might be run at, the likeliest first.
std::vector<std::pair<Shapes, Shapes>> proposals(const Network& network) {
  const std::vector<Input> inputs = network.inputs();
  std::vector<std::pair<Shapes, Shapes>> result;
  const auto propose = [&](auto extents_of, auto values_of) {
    auto& [extents, values] = result.emplace_back();
    for (size_t i = 0; i < inputs.size(); ++i) {
      extents[inputs[i].name] = extents_of(i);
      Extents numbers = values_of(i);
      if (numbers.empty()) numbers.assign(static_cast<size_t>(volume(extents[inputs[i].name])), 1);
      if (inputs[i].is_shape) values[inputs[i].name] = std::move(numbers);
    }
  };
  if (!network.plan) {
    propose(
        [&](size_t i) {
          Extents extents = inputs[i].extents;
          std::ranges::replace(extents, -1, 1);
          return extents;
        },
        [](size_t) { return Extents(); });
    return result;
  }
  for (const auto which : {&plan::InputRange::opt, &plan::InputRange::min, &plan::InputRange::max})
    for (const plan::Profile& profile : network.plan->profiles)
      propose([&](size_t i) { return profile.ranges[i].*which; },
              [&](size_t i) { return profile.value_ranges[i].*which; });
  return result;
}

/// For each two profiles the shapes that both have, the nearest to the optimum of a's: no proposal of one plan alone
/// may be among those of the other. Nothing where one is no plan, or no two profiles overlap.
std::vector<std::pair<Shapes, Shapes>> overlaps(const Network& a, const Network& b) {
  std::vector<std::pair<Shapes, Shapes>> result;
  if (!a.plan || !b.plan) return result;
  const std::vector<Input> inputs_a = a.inputs(), inputs_b = b.inputs();
  const auto nearest = [](const plan::InputRange& in_a, const plan::InputRange& in_b) {
    Extents at;
    for (size_t axis = 0; axis < std::min(in_a.opt.size(), in_b.opt.size()); ++axis) {
      const int64_t least = std::max(in_a.min[axis], in_b.min[axis]);
      at.push_back(std::max(least, std::min({in_a.opt[axis], in_a.max[axis], in_b.max[axis]})));
    }
    return at;
  };
  for (const plan::Profile& profile_a : a.plan->profiles)
    for (const plan::Profile& profile_b : b.plan->profiles) {
      auto& [extents, values] = result.emplace_back();  // where they do not overlap, `profile_for` refuses it
      for (size_t i = 0; i < inputs_a.size(); ++i) {
        const std::string& name = inputs_a[i].name;
        const size_t j = *find_input(inputs_b, name);
        extents[name] = nearest(profile_a.ranges[i], profile_b.ranges[j]);
        if (!profile_a.value_ranges[i].opt.empty())
          values[name] = profile_b.value_ranges[j].opt.empty()
                             ? profile_a.value_ranges[i].opt
                             : nearest(profile_a.value_ranges[i], profile_b.value_ranges[j]);
      }
    }
  return result;
}

Status check_same_inputs(const Network& a, const Network& b) {
  const std::vector<Input> inputs_a = a.inputs(), inputs_b = b.inputs();
  for (size_t i = 0; i < inputs_a.size(); ++i) {
    const auto j = find_input(inputs_b, inputs_a[i].name);
    TRY(require(j.has_value() && inputs_a.size() == inputs_b.size(), "the inputs of ", a.path, " are ",
                names_of(inputs_a), ", those of ", b.path, " are ", names_of(inputs_b),
                "; only networks with the same inputs can be compared"));
    const DType ta = inputs_a[i].dtype, tb = inputs_b[*j].dtype;
    TRY(require(inputs_a[i].extents.size() == inputs_b[*j].extents.size() && (ta == tb || is_float(ta) == is_float(tb)),
                "input '", inputs_a[i].name, "' is ", range_text(a, i), " in ", a.path, " and ", range_text(b, *j),
                " in ", b.path, "; they cannot be given the same tensor"));
  }
  return require(inputs_a.size() == inputs_b.size(), "the inputs of ", a.path, " are ", names_of(inputs_a),
                 ", those of ", b.path, " are ", names_of(inputs_b),
                 "; only networks with the same inputs can be compared");
}

/// Why no shapes are left, with the first input that tells.
std::unexpected<Error> no_common_shapes(const Network& a, const Network& b, bool given) {
  std::string text;
  const std::vector<Input> inputs_a = a.inputs(), inputs_b = b.inputs();
  for (size_t i = 0; i < inputs_a.size(); ++i)
    text += str(text.empty() ? "" : "; ", "'", inputs_a[i].name, "' is ", range_text(a, i), " in ", a.path, " and ",
                range_text(b, *find_input(inputs_b, inputs_a[i].name)), " in ", b.path);
  return error(Code::kInvalidArgument,
               given              ? "the shapes of --shapes are not taken by both: "
               : a.plan && b.plan ? "no profiles of both have shapes in common: "
                                  : "there are no shapes that both are known to take (--shapes names some): ",
               text);
}

}  // namespace

std::vector<Input> Network::inputs() const {
  std::vector<Input> result;
  if (plan) {
    for (const plan::IoTensor& input : plan->inputs)
      result.push_back({input.name, input.dtype, fixed(input), input.is_shape});
    return result;
  }
  for (const ir::ValueId id : graph.inputs()) {
    Input& input = result.emplace_back();
    input.name = graph.value(id).name;
    input.dtype = graph.type(id).dtype;
    for (const sym::Expr& extent : graph.type(id).shape) input.extents.push_back(extent.constant().value_or(-1));
  }
  return result;
}

Result<Network> open_network(const std::string& path) {
  Network network{.path = path, .plan = nullptr, .graph = {}};
  const auto file = TRY(MappedFile::open(path));
  if (is_plan(file->bytes()))
    network.plan = TRY(in_context(plan::read_plan(file->bytes(), file), [&] { return path; }));
  else
    network.graph = TRY(import_file(path));
  return network;
}

Result<RunInputs> choose_inputs(const Network& a, const Network& b, const cli::NamedExtents& given) {
  TRY(check_same_inputs(a, b));
  const std::vector<Input> inputs = a.inputs(), inputs_b = b.inputs();
  std::vector<std::string> names;
  for (const Input& input : inputs) names.push_back(input.name);
  cli::require_inputs(given, names, "--shapes: the network");
  const cli::EntryIndex<Extents> asked(given);
  std::vector<std::pair<Shapes, Shapes>> all = proposals(a.plan || !b.plan ? a : b);
  for (auto& more : proposals(a.plan || !b.plan ? b : a)) all.push_back(std::move(more));
  for (auto& more : overlaps(a, b)) all.push_back(std::move(more));
  for (auto& [extents, values] : all) {
    for (const Input& input : inputs) {
      const bool is_shape = input.is_shape || inputs_b[*find_input(inputs_b, input.name)].is_shape;
      if (const Extents* found = asked.find(input.name))
        (is_shape ? values : extents)[input.name] = is_shape ? *found : cli::as_declared(*found, input.extents);
      if (is_shape && !values.contains(input.name))
        values[input.name].assign(static_cast<size_t>(volume(extents.at(input.name))), 1);
    }
    const auto profile_a = profile_for(a, extents, values), profile_b = profile_for(b, extents, values);
    if (!profile_a || !profile_b) continue;
    RunInputs result{.extents = {}, .values = {}, .profile_a = *profile_a, .profile_b = *profile_b};
    for (const Input& input : inputs) {
      result.extents.push_back(extents.at(input.name));
      result.values.push_back(values.contains(input.name) ? values.at(input.name) : Extents());
    }
    return result;
  }
  return no_common_shapes(a, b, !given.empty());
}

namespace {

/// A tensor of one type as another's: numbers that both can hold, so that both networks read the same.
Result<HostTensor> converted(const HostTensor& tensor, DType to) {
  HostTensor::Fresh fresh = TRY(HostTensor::make(to, tensor.extents()));
  const View from(tensor);
  for (int64_t i = 0; i < from.volume(); ++i)
    is_float(to) ? store_number(to, fresh.data.data(), i, from[i])
                 : store_integer(to, fresh.data.data(), i, from.integer(i));
  return std::move(fresh.tensor);
}

Result<HostTensor> from_file(const Input& input, const Extents& extents, const std::string& path) {
  HostTensor::Fresh fresh = TRY(HostTensor::make(input.dtype, extents));
  cli::read_exactly(path, fresh.data.data(), std::ssize(fresh.data),
                    str("input '", input.name, "' ", input.dtype, extents));
  return std::move(fresh.tensor);
}

}  // namespace

Result<InputTensors> make_inputs(const Network& a, const Network& b, const RunInputs& chosen,
                                 const cli::NamedTexts& files, uint64_t seed) {
  const std::vector<Input> inputs_a = a.inputs(), inputs_b = b.inputs();
  std::vector<std::string> names;
  for (const Input& input : inputs_a) names.push_back(input.name);
  cli::require_inputs(files, names, "--loadInputs: the network");
  const cli::EntryIndex<std::string> given(files);
  std::mt19937_64 random(seed);
  InputTensors result;
  result.b.resize(inputs_b.size());
  for (size_t i = 0; i < inputs_a.size(); ++i) {
    const Input& input = inputs_a[i];
    const Extents& extents = chosen.extents[i];
    const size_t j = *find_input(inputs_b, input.name);
    const std::string* file = given.find(input.name);
    HostTensor tensor = file                       ? TRY(from_file(input, extents, *file))
                        : chosen.values[i].empty() ? TRY(made_up_tensor(input.dtype, extents, random))
                                                   : HostTensor::of_ints(input.dtype, extents, chosen.values[i]);
    result.b[j] = TRY(converted(tensor, inputs_b[j].dtype));
    result.a.push_back(TRY(converted(result.b[j], input.dtype)));
    result.description += str(i == 0 ? "" : ", ", input.name, " ", input.dtype, extents, ": ",
                              file                       ? *file
                              : chosen.values[i].empty() ? std::string("made up")
                                                         : str("values ", chosen.values[i]));
  }
  return result;
}

}  // namespace kiln::diff
