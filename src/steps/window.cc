#include "steps/window.h"

#include <algorithm>

#include "steps/step_tensors.h"

namespace kiln::steps {
namespace {

constexpr int64_t kMostReach = int64_t{1} << 30;   // products of two, and their sums, are numbers
constexpr int64_t kMostExtent = int64_t{1} << 31;  // what kernels count to

bool all(const Extents& extents, int64_t value) {
  return std::ranges::all_of(extents, [=](int64_t extent) { return extent == value; });
}

}  // namespace

Status Window::check() const {
  const size_t axes = kernel.size();
  TRY(require(axes >= 1 && axes <= 3 && strides.size() == axes && dilations.size() == axes && pads.size() == axes,
              "a window has ", axes, " axes with ", strides.size(), " strides, ", dilations.size(), " dilations and ",
              pads.size(), " pads"));
  TRY(require(!(same_upper && same_lower), "a window's pads are rounded both up and down"));
  const auto positive = [](int64_t n) { return n > 0 && n < kMostReach; };
  for (const Extents* numbers : {&kernel, &strides, &dilations})
    TRY(require(std::ranges::all_of(*numbers, positive), "a window has a kernel, strides or dilations of ", *numbers,
                "; 1 to 2^30 - 1 are possible"));
  for (size_t i = 0; i < axes; ++i)
    TRY(require(pads[i] >= 0 && pads[i] < kMostReach && reach(i) <= kMostReach, "a window reaches over ", reach(i),
                " elements from a pad of ", pads[i]));
  return {};
}

Status Window::check(const Extents& in, const Extents& out) const {
  const size_t rank = kernel.size() + 2;
  TRY(require(in.size() == rank && out.size() == rank && in[0] == out[0], "windows of ", kernel.size(), " axes over ",
              in, " cannot make ", out));
  for (size_t i = 0; i < rank; ++i)
    TRY(require(in[i] < kMostExtent && out[i] < kMostExtent && (i < 2 || out[i] * strides[i - 2] < kMostExtent),
                "windows with strides of ", strides, " over ", in, " make ", out, "; kernels count to 2^31"));
  return {};
}

Status Window::check(const StepTypes& types) const {
  TRY(check_ranks(types));
  for (const DType type : {types.inputs[0].dtype, types.inputs[1].dtype, types.outputs[0].dtype})
    TRY(require(is_kernel_float(type), "a convolution of ", type, "; f32, f16 and bf16 are possible"));
  return {};
}

Status Window::check_ranks(const StepTypes& types) const {
  const StepTensor &x = types.inputs[0], &w = types.inputs[1], &y = types.outputs[0];
  const auto rank = static_cast<int>(kernel.size() + 2);
  TRY(require(x.rank == rank && w.rank == rank && y.rank == rank, "a convolution of ", kernel.size(),
              " axes has tensors of ranks ", x.rank, ", ", w.rank, " and ", y.rank));
  return require_linear(types, 1);
}

Status Window::check_filter(const Extents& w, int64_t groups, int64_t out, int64_t in) const {
  return require(w.size() == kernel.size() + 2 && std::equal(kernel.begin(), kernel.end(), w.begin() + 2) &&
                     groups >= 1 && w[0] == out && w[0] % groups == 0 && in % groups == 0 && in / groups == w[1],
                 "a convolution by ", kernel, " of ", in, " to ", out, " channels in ", groups, " groups has weights ",
                 w);
}

bool Window::has_pads() const {
  return is_same() || std::ranges::any_of(pads, [](int64_t pad) { return pad != 0; });
}

bool Window::abuts() const { return kernel == strides && all(pads, 0) && all(dilations, 1) && !is_same(); }

bool Window::is_point() const { return all(kernel, 1) && all(strides, 1) && all(pads, 0); }

int64_t Window::same_pad(int64_t lacking) const {
  const int64_t total = std::max<int64_t>(lacking, 0);
  return same_upper ? total / 2 : total - total / 2;
}

}  // namespace kiln::steps
