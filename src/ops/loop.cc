#include "ops/loop.h"

#include <algorithm>
#include <cstring>

#include "ops/define.h"
#include "ops/result_copies.h"
#include "sym/facts.h"
#include "sym/unbounded.h"

template const kiln::OpInfo& kiln::op_info<kiln::ops::Loop>();

namespace kiln::ops {
namespace {

Status check_scalar(const InferContext& cx, int i, bool (*is)(DType), std::string_view what) {
  if (!cx.has_input(i)) return {};
  const TensorType& type = TRY(cx.input(i));
  return cx.require(is(type.dtype) && sym::provably_equal(type.volume(), 1), "the ", what, " is ", type,
                    "; one element of type ", what == "count" ? "i32 or i64" : "bool", " is needed");
}

/// The symbol of an element: of the iteration's number, which is less than their count, or of another value.
sym::Expr inner_element(InferContext& cx, int input, const TripCount& trips) {
  if (input > 0) return cx.inner_element("element", sym::kAnyNumber);
  const sym::Expr number = cx.inner_element("iteration", iteration_bounds(trips.most));
  if (trips.most) learn_iteration(number, *trips.most);
  return number;
}

TensorType slice_of(const TensorType& scanned) {
  return {scanned.dtype, kiln::Shape(scanned.shape.begin() + 1, scanned.shape.end())};
}

}  // namespace

Result<TripCount> trip_count(const Loop& loop, InferContext& cx) {
  TripCount trips;
  trips.is_exact = !loop.tests && !cx.has_input(1) && TRY(cx.bodies()).get().count() == 1;
  if (cx.has_input(0)) {
    if (cx.has_values(0))
      trips.most = sym::max(TRY(cx.values(0))[0], 0);
    else
      trips.is_exact = false;
  }
  const bool counted = trips.is_exact && trips.most;
  for (size_t k = 0; k < loop.scans.size(); ++k) {
    const TensorType& scanned = TRY(cx.input(loop.first_scanned() + static_cast<int>(k)));
    TRY(cx.require(scanned.rank() > 0, "scanned input ", k, " is ", scanned, "; an axis to scan is needed"));
    if (counted)
      TRY(sym::assume(cx.assumptions(), {sym::Relation::kLessEqual, *trips.most, scanned.shape[0],
                                         str("as many iterations as scanned input ", k, " has slices, at most")}));
    else if (k > 0)
      TRY(cx.assume_equal(TRY(cx.input(loop.first_scanned())).get().shape[0], scanned.shape[0],
                          str("extents of the axes that are scanned, inputs 0 and ", k)));
    else
      trips.most = trips.most ? sym::min(*trips.most, scanned.shape[0]) : scanned.shape[0];
  }
  if (!trips.most) trips.is_exact = false;
  return trips;
}

int num_followed(const TensorType& input) {
  if (!is_index(input.dtype)) return 0;
  if (sym::provably_equal(input.volume(), 1)) return 1;
  const std::optional<int64_t> count = input.rank() == 1 ? input.shape[0].constant() : std::nullopt;
  return count && *count > 0 && *count <= kMaxRank ? static_cast<int>(*count) : 0;
}

TensorType with_followed_elements(InferContext& cx, TensorType type) {
  SymbolicValues elements;
  for (int k = 0, count = num_followed(type); k < count; ++k)
    elements.push_back(cx.inner_element("element", sym::kAnyNumber));
  if (!elements.empty()) type.values = std::make_shared<const SymbolicValues>(std::move(elements));
  return type;
}

sym::Bounds iteration_bounds(const std::optional<sym::Expr>& trips) {
  return {0, 0, trips ? std::clamp<int64_t>(trips->max() - 1, 0, sym::kMostUnbounded) : sym::kMostUnbounded};
}

bool is_endless(int64_t count, DType dtype) {
  return dtype == DType::kI32 ? count == INT32_MAX : count >= INT64_MAX / 2;
}

bool bounds_nothing(sym::Expr trips) { return trips.is_const() && trips.value() >= INT32_MAX; }

void learn_iteration(sym::Expr number, sym::Expr trips) {
  constexpr std::string_view kReason = "an iteration's number is less than how many there are";
  sym::learn(trips - number, 1, kReason);
  sym::learn(trips - number - 1, 0, kReason);  // facts are of expressions as they stand
}

namespace {

/// The extents that a loop's runs decide, in the shapes of its outputs.
class DecidedExtents {
 public:
  DecidedExtents(const Loop& loop, InferContext& cx) : loop_(loop) {
    for (const sym::Expr& bound : loop.most) sizes_.push_back(cx.decided_size("extent", bound));
  }
  void set(int output, kiln::Shape& shape) const {
    for (size_t k = 0; k < loop_.decided.size(); ++k)
      if (loop_.decided[k].output == output && loop_.decided[k].axis < std::ssize(shape))
        shape[static_cast<size_t>(loop_.decided[k].axis)] = sizes_[k];
  }

 private:
  const Loop& loop_;
  std::vector<sym::Expr> sizes_;
};

Result<std::vector<TensorType>> body_inputs(const Loop& loop, InferContext& cx, const TripCount& trips,
                                            const DecidedExtents& decided) {
  std::vector<TensorType> inputs{{DType::kI64, {}}};
  for (int c = 0; c < loop.carried; ++c) {
    TensorType type = TRY(cx.input_type(Loop::kFirstCarried + c));
    type.values = nullptr;  // of the first iteration only
    decided.set(c, type.shape);
    inputs.push_back(std::move(type));
  }
  for (size_t k = 0; k < loop.scans.size(); ++k)
    inputs.push_back(slice_of(TRY(cx.input(loop.first_scanned() + static_cast<int>(k)))));
  for (int i = loop.first_captured(); i < cx.num_inputs(); ++i) inputs.push_back(TRY(cx.input_type(i)));
  for (const int input : loop.elements) {
    const auto at = static_cast<size_t>(input);
    const int count = at < inputs.size() ? num_followed(inputs[at]) : 0;
    TRY(cx.require(count > 0, "body input ", input, " is no integer and no short list of them"));
    SymbolicValues elements;
    for (int k = 0; k < count; ++k) elements.push_back(inner_element(cx, input, trips));
    inputs[at].values = std::make_shared<const SymbolicValues>(std::move(elements));
  }
  return inputs;
}

/// Fails for a loop that nothing ends, unless its condition is false from the beginning.
Status check_ends(const Loop& loop, InferContext& cx, int num_bodies) {
  if (loop.tests || num_bodies == 2 || !loop.scans.empty()) return {};
  if (cx.has_input(1) && cx.has_values(1) && TRY(cx.values(1))[0].constant() == 0) return {};
  if (!cx.has_input(0))
    return cx.require(false, "nothing ends the loop: it has no count, and its condition stays true");
  if (!cx.has_values(0)) return {};
  const std::optional<int64_t> count = TRY(cx.values(0))[0].constant();
  const DType dtype = TRY(cx.input(0)).get().dtype;
  return cx.require(!count || !is_endless(*count, dtype), "nothing ends the loop: its count is ", count.value_or(0),
                    ", and its condition stays true");
}

Status check_condition(const InferContext& cx, const TensorType& condition) {
  return cx.require(condition.dtype == DType::kBool && sym::provably_equal(condition.volume(), 1),
                    "the body's condition is ", condition, "; one boolean is needed");
}

/// A carried value has the type that it had before an iteration, but for the axes that the run decides.
Status check_carried(const Loop& loop, InferContext& cx, int c, const TensorType& before, const TensorType& after) {
  TRY(cx.require(before.dtype == after.dtype && before.rank() == after.rank(), "carried value ", c, " is ", before,
                 " before an iteration and ", after, " behind it; its type and rank must stay"));
  for (int axis = 0; axis < before.rank(); ++axis)
    if (const auto at = static_cast<size_t>(axis); find_axis(loop.decided, c, axis) < 0)
      TRY(cx.assume_equal(
          before.shape[at], after.shape[at],
          str("the extents of axis ", axis, " of carried value ", c, " before and behind an iteration")));
  return {};
}

}  // namespace

Status Loop::infer(InferContext& cx) const {
  const auto is_bool = [](DType t) { return t == DType::kBool; };
  TRY(check_scalar(cx, 0, is_index, "count"));
  TRY(check_scalar(cx, 1, is_bool, "condition"));
  TRY(cx.require(cx.num_inputs() >= first_captured(), "a loop with ", carried, " carried and ", scans.size(),
                 " scanned values has ", cx.num_inputs(), " inputs"));
  TRY(cx.require(most.size() == decided.size(), decided.size(), " axes are decided, and ", most.size(),
                 " have bounds"));
  BodyTypes& bodies = TRY(cx.bodies());
  TRY(cx.require(bodies.count() == 1 || bodies.count() == 2, "a loop has ", bodies.count(), " bodies; 1 or 2 needed"));
  TRY(check_ends(*this, cx, bodies.count()));
  TRY(cx.require(!(tests || bodies.count() == 2) || std::ranges::count(stacks, -1) == 0,
                 "what a condition may end before its count cannot be stacked in reverse"));
  const TripCount trips = TRY(trip_count(*this, cx));
  const DecidedExtents extents(*this, cx);
  const std::vector<TensorType> inputs = TRY(body_inputs(*this, cx, trips, extents));
  if (bodies.count() == 2) {
    const std::vector<TensorType> test = TRY(bodies.infer(1, inputs));
    TRY(cx.require(test.size() == 1, "the body that tests has ", test.size(), " outputs; one is needed"));
    TRY(check_condition(cx, test[0]));
  }
  const std::vector<TensorType> results = TRY(bodies.infer(0, inputs));
  const size_t first = tests ? 1 : 0;
  TRY(cx.require(results.size() == first + static_cast<size_t>(num_outputs()), "the body has ", results.size(),
                 " outputs; ", first + static_cast<size_t>(num_outputs()), " are needed"));
  if (tests) TRY(check_condition(cx, results[0]));
  for (int c = 0; c < carried; ++c) {
    const TensorType& before = inputs[1 + static_cast<size_t>(c)];
    TRY(check_carried(*this, cx, c, before, results[first + static_cast<size_t>(c)]));
    TRY(cx.set_output(c, {before.dtype, before.shape}));
  }
  for (size_t k = 0; k < stacks.size(); ++k) {
    const TensorType& slice = results[first + static_cast<size_t>(carried) + k];
    const int output = carried + static_cast<int>(k);
    TRY(cx.require(trips.is_exact || find_axis(decided, output, 0) >= 0, "stacked output ", k,
                   " has no bound of how many iterations there are, which only the run tells"));
    TensorType type(slice.dtype, {trips.is_exact ? *trips.most : sym::Expr(0)});
    type.shape.insert(type.shape.end(), slice.shape.begin(), slice.shape.end());
    extents.set(output, type.shape);
    TRY(cx.set_output(output, std::move(type)));
  }
  return {};
}

Status Loop::reference(ReferenceContext& cx) const {
  BodyRuns& bodies = TRY(cx.bodies());
  std::vector<HostTensor> captured, scanned, state;
  for (int c = 0; c < carried; ++c) state.push_back(TRY(cx.input_tensor(kFirstCarried + c)));
  for (size_t k = 0; k < scans.size(); ++k)
    scanned.push_back(TRY(cx.input_tensor(first_scanned() + static_cast<int>(k))));
  for (int i = first_captured(); i < cx.num_inputs(); ++i) captured.push_back(TRY(cx.input_tensor(i)));
  int64_t count = cx.has_input(0) ? TRY(cx.input(0)).integer(0) : INT64_MAX;
  for (const HostTensor& x : scanned) count = std::min(count, x.extents()[0]);
  bool goes_on = !cx.has_input(1) || TRY(cx.input(1))[0] != 0;
  std::vector<std::vector<HostTensor>> stacked(stacks.size());
  for (int64_t i = 0; i < count && goes_on; ++i) {
    HostTensor::Fresh number = TRY(HostTensor::make(DType::kI64, {}));
    std::memcpy(number.data.data(), &i, sizeof i);
    std::vector<HostTensor> inputs{number.tensor};
    inputs.insert(inputs.end(), state.begin(), state.end());
    for (size_t k = 0; k < scans.size(); ++k)
      inputs.push_back(TRY(slice_at(scanned[k], scans[k] > 0 ? i : scanned[k].extents()[0] - 1 - i)));
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    if (bodies.count() == 2)
      if (const auto test = TRY(bodies.run(1, inputs)); View(test[0])[0] == 0) break;
    std::vector<HostTensor> results = TRY(bodies.run(0, inputs));
    if (tests) {
      goes_on = View(results[0])[0] != 0;
      results.erase(results.begin());
    }
    for (size_t k = 0; k < stacks.size(); ++k) stacked[k].push_back(results[static_cast<size_t>(carried) + k]);
    results.resize(static_cast<size_t>(carried));
    state = std::move(results);
  }
  for (size_t k = 0; k < stacks.size(); ++k) {
    if (stacks[k] < 0) std::ranges::reverse(stacked[k]);
    state.push_back(TRY(stack(stacked[k], TRY(cx.output(carried + static_cast<int>(k))))));
  }
  return copy_results(cx, state, decided);
}

}  // namespace kiln::ops
