#include <algorithm>

#include "onnx/import/axes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

struct Parameters {
  SymbolicValues starts, ends, steps;
  Axes axes;
};

Result<Parameters> parameters(ImportContext& cx, int rank) {
  Parameters p;
  SymbolicValues axes;
  if (cx.opset() < 10) {
    const Ints starts = TRY(cx.node().need_ints("starts")), ends = TRY(cx.node().need_ints("ends"));
    const Ints given = TRY(cx.node().get_ints("axes", axes_between(0, static_cast<int>(starts.size()))));
    p.starts.assign(starts.begin(), starts.end());
    p.ends.assign(ends.begin(), ends.end());
    axes.assign(given.begin(), given.end());
  } else {
    p.starts = TRY(cx.values(TRY(cx.input(1)), "starts"));
    p.ends = TRY(cx.values(TRY(cx.input(2)), "ends"));
    if (cx.has_input(3))
      axes = TRY(cx.values(TRY(cx.input(3)), "axes"));
    else
      for (size_t i = 0; i < p.starts.size(); ++i) axes.emplace_back(static_cast<int64_t>(i));
    if (cx.has_input(4)) p.steps = TRY(cx.values(TRY(cx.input(4)), "steps"));
  }
  if (p.steps.empty()) p.steps.assign(p.starts.size(), 1);
  TRY(require(p.starts.size() == p.ends.size() && p.starts.size() == axes.size() && p.starts.size() == p.steps.size(),
              "there are ", p.starts.size(), " starts, ", p.ends.size(), " ends, ", axes.size(), " axes and ",
              p.steps.size(), " steps; as many of each are needed"));
  p.axes = TRY(make_axes(std::move(axes), rank));
  return p;
}

/// Whether a step is at least as long as the axis. A range with such a step ends behind its first element.
bool is_beyond(sym::Expr extent, int64_t step) {
  constexpr int64_t kLongestAxis = int64_t{1} << 62;  // what is beyond leaves no room for a sum
  const int64_t longest = std::min(extent.max(), kLongestAxis);
  return (step > 1 && step >= longest) || (step < -1 && step <= -longest);
}

/// Like clamped_range, also for a step whose sign is not known. If the range takes one element, the step becomes 1 or
/// -1.
SliceRange clamped(sym::Expr extent, sym::Expr start, sym::Expr end, sym::Expr& step) {
  if (step.is_const() && step.value() != 0) {
    if (!is_beyond(extent, step.value())) {
      SliceRange range = clamped_range(extent, start, end, step.value());
      // From a place of the run to the next: limits of the places alone do not say that this is at most one element.
      if (step.value() == 1 && !range.size.is_const() && sym::provably_equal(end, start + 1))
        range.size = sym::min(range.size, 1);
      return range;
    }
    step = step.value() < 0 ? -1 : 1;
    const SliceRange range = clamped_range(extent, start, end, step.value());
    return {range.start, sym::min(range.size, 1)};
  }
  const sym::Expr backward = sym::less(step, 0);
  const auto clamp = [&](sym::Expr at, sym::Expr low) {
    return sym::max(low, sym::min(at + extent * sym::less(at, 0), extent - backward));
  };
  const sym::Expr first = clamp(start, 0), last = clamp(end, -backward);
  const sym::Expr by = step + sym::equal(step, 0);  // an assertion says what is wrong with 0; limits need a number
  return {first, sym::max(0, sym::ceil_div(last - first, by))};
}

/// Fails the run where one of the steps that only it knows is 0.
Status assert_steps(ImportContext& cx, const SymbolicValues& steps) {
  sym::Expr are_steps = 1;
  for (const sym::Expr& step : steps)
    if (!step.is_const()) are_steps = sym::min(are_steps, 1 - sym::equal(step, 0));
  return assert_true(cx, are_steps, "no step is 0");
}

}  // namespace

Status slice(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int rank = cx.rank(x);
  const Parameters p = TRY(parameters(cx, rank));
  for (const sym::Expr& step : p.steps)
    TRY(require(!step.is_const() || step.value() != 0, "steps ", p.steps, " has a step of 0"));
  TRY(assert_steps(cx, p.steps));
  SliceAlong along;
  const auto add = [&](int axis, sym::Expr start, sym::Expr end, sym::Expr step) {
    const SliceRange range = clamped(cx.extent(x, axis), start, end, step);
    along.axes.push_back(axis);
    along.starts.push_back(range.start);
    along.sizes.push_back(range.size);
    along.strides.push_back(step);
    // The clamped range lies inside x. That cannot be proven for a step of unknown sign, so the mode must not require
    // it.
    if (!step.is_const()) along.mode = SliceMode::kClamp;
  };
  if (p.axes.known) {
    for (size_t i = 0; i < p.axes.known->size(); ++i) add((*p.axes.known)[i], p.starts[i], p.ends[i], p.steps[i]);
  } else {
    for (int axis = 0; axis < rank; ++axis)
      add(axis, p.axes.pick(p.starts, axis, 0), p.axes.pick(p.ends, axis, cx.extent(x, axis)),
          p.axes.pick(p.steps, axis, 1));
  }
  if (along.axes.empty()) return cx.output(x);
  return cx.output(TRY(slice(cx, x, along)));
}

}  // namespace kiln::onnx::importers
