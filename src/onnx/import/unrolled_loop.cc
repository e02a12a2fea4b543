#include "onnx/import/unrolled_loop.h"

#include "onnx/import/compose.h"
#include "onnx/import/loops.h"
#include "ops/concatenation.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

int64_t num_nodes(const GraphDef& graph) {
  int64_t count = static_cast<int64_t>(graph.nodes.size());
  for (const NodeDef& node : graph.nodes)
    for (const AttributeDef& attribute : node.attributes)
      for (const auto& body : attribute.graphs) count += num_nodes(*body);
  return count;
}

/// The number of iterations that a count allows; nothing where the import does not know it.
std::optional<int64_t> known_count(ImportContext& cx) {
  if (!cx.has_input(0)) return INT64_MAX;
  const auto count = cx.values(cx.optional_input(0), "");
  if (!count || count->size() != 1) return std::nullopt;
  return (*count)[0].constant();
}

/// What one iteration is given and gives.
struct Iteration {
  BodyResults carried;
  std::vector<Values> stacks;
  std::vector<std::string> warnings = {};  // of all iterations so far
};

/// Runs the body's importer once more. Returns the condition.
Result<ValueId> add_iteration(ImportContext& cx, const GraphDef& body, int64_t number, size_t num_carried,
                              Iteration& now) {
  BodyArguments arguments{.values = {}, .sequences = {}, .suffix = str('[', number, ']')};
  arguments.values[body.inputs[0].name] = cx.add_constant(HostTensor::of_ints(DType::kI64, {}, Ints{number}));
  arguments.values[body.inputs[1].name] = cx.add_constant(HostTensor::scalar(DType::kBool, true));
  for (size_t c = 0; c < num_carried; ++c) {
    const std::string_view name = body.inputs[2 + c].name;
    if (const auto found = now.carried.sequences.find(c); found != now.carried.sequences.end())
      arguments.sequences[std::string(name)] = found->second;
    else
      arguments.values[name] = now.carried.values[c];
  }
  BodyResults results =
      TRY(in_context(cx.bodies().import_here(body, arguments), [&] { return str("iteration ", number); }));
  TRY(require(results.values[0] != ValueId::kNone, "the condition is a sequence"));
  now.carried = {};
  now.warnings.insert(now.warnings.end(), results.warnings.begin(), results.warnings.end());
  for (size_t i = 1; i < results.values.size(); ++i) {
    if (i > num_carried) {
      TRY(require(results.values[i] != ValueId::kNone, "output '", body.outputs[i].name,
                  "' is a sequence or an optional; only tensors can be stacked"));
      now.stacks[i - 1 - num_carried].push_back(TRY(unsqueeze(cx, results.values[i], {0})));
      continue;
    }
    now.carried.values.push_back(results.values[i]);
    if (const auto found = results.sequences.find(i); found != results.sequences.end())
      now.carried.sequences[i - 1] = found->second;
  }
  return results.values[0];
}

/// Restores how often what is imported stands in the graph.
class Times {
 public:
  explicit Times(int64_t& times) : times_(times), before_(times) {}
  ~Times() { times_ = before_; }
  Times(const Times&) = delete;
  Times& operator=(const Times&) = delete;

 private:
  int64_t& times_;
  const int64_t before_;
};

}  // namespace

Result<bool> unroll_loop(ImportContext& cx, const GraphDef& body, int64_t most_nodes) {
  const size_t num_carried = cx.num_inputs() > 2 ? cx.num_inputs() - 2 : 0;
  const auto count = known_count(cx);
  auto goes_on = cx.has_input(1) ? known_flag(cx, cx.optional_input(1)) : std::optional(true);
  const Times restored(cx.state().times);
  const int64_t outside = cx.state().times, nodes = num_nodes(body) + 1, most = most_nodes / nodes / outside;
  if (!count || !goes_on || (cx.has_input(0) && *count > most)) return false;
  const GraphDef* const bodies[] = {&body};
  TRY(cx.bodies().captures(bodies));  // what the body reads of initializers around it stays in the graph
  Attempt attempt(cx);
  Iteration now{.carried = {}, .stacks = std::vector<Values>(body.outputs.size() - 1 - num_carried)};
  for (size_t c = 0; c < num_carried; ++c) {
    const Sequence* sequence = cx.find_sequence(2 + c);
    now.carried.values.push_back(sequence ? ValueId::kNone : TRY(cx.input(2 + c)));
    if (sequence) now.carried.sequences[c] = *sequence;
  }
  for (int64_t number = 0; number < *count && *goes_on; ++number) {
    if (number == most) return false;
    cx.state().times = outside * (cx.has_input(0) ? *count : number + 1);
    goes_on = known_flag(cx, TRY(add_iteration(cx, body, number, num_carried, now)));
    if (!goes_on) return false;
  }
  for (size_t i = 0; i < cx.num_outputs(); ++i)
    if (i >= num_carried && cx.wants(i) && now.stacks[i - num_carried].empty()) return false;  // of which shape?
  for (size_t i = 0; i < cx.num_outputs(); ++i) {
    if (!cx.wants(i)) continue;
    if (i >= num_carried)
      TRY(cx.output(i, TRY(cx.add(ops::Concatenation{.axis = 0}, now.stacks[i - num_carried]))));
    else if (const auto found = now.carried.sequences.find(i); found != now.carried.sequences.end())
      TRY(cx.output(i, found->second));
    else
      TRY(cx.output(i, now.carried.values[i]));
  }
  cx.bodies().warn(now.warnings);
  attempt.keep();
  return true;
}

}  // namespace kiln::onnx
