#include "backend/cuda/exec/filter.h"

#include <algorithm>

#include "steps/step_tensors.h"

namespace kiln::cuda {

Result<FilterSpec> FilterSpec::parse(const Record& payload) {
  FilterSpec spec{TRY(payload.get_ints("kernel")),     TRY(payload.get_ints("strides")),
                  TRY(payload.get_ints("dilations")),  TRY(payload.get_ints("pads")),
                  TRY(payload.get_bool("same_upper")), TRY(payload.get_bool("same_lower")),
                  TRY(payload.get_bool("transposed"))};
  const size_t axes = spec.kernel.size();
  TRY(require(axes >= 1 && axes <= 3 && spec.strides.size() == axes && spec.dilations.size() == axes &&
                  spec.pads.size() == axes,
              "a filter has ", axes, " axes with ", spec.strides.size(), " strides"));
  const auto positive = [](int64_t n) { return n > 0 && n < (int64_t{1} << 30); };
  TRY(require(std::ranges::all_of(spec.kernel, positive) && std::ranges::all_of(spec.strides, positive) &&
                  std::ranges::all_of(spec.dilations, positive),
              "a filter's kernel, strides and dilations must be positive"));
  constexpr int64_t kMostReach = int64_t{1} << 30;
  for (size_t i = 0; i < axes; ++i)
    TRY(require(spec.pads[i] > -kMostReach && spec.pads[i] < kMostReach &&
                    spec.dilations[i] * (spec.kernel[i] - 1) < kMostReach,
                "a filter reaches over ", spec.dilations[i] * (spec.kernel[i] - 1), " elements from a pad of ",
                spec.pads[i]));
  return spec;
}

bool FilterSpec::abuts() const {
  const auto all = [](const Extents& e, int64_t value) {
    return std::ranges::all_of(e, [=](int64_t x) { return x == value; });
  };
  return kernel == strides && all(pads, 0) && all(dilations, 1) && !same_upper && !same_lower;
}

Status FilterSpec::check(const Extents& in, const Extents& out) const {
  constexpr int64_t kMost = int64_t{1} << 31;
  const size_t rank = kernel.size() + 2;
  TRY(require(in.size() == rank && out.size() == rank && in[0] == out[0], "a filter of ", kernel.size(), " axes takes ",
              in, " to ", out));
  for (size_t i = 0; i < rank; ++i) {
    const int64_t step = i < 2 ? 1 : strides[i - 2], walked = transposed ? in[i] : out[i];
    TRY(require(in[i] < kMost && out[i] < kMost && walked * step < kMost, "a filter with a stride of ", step, " takes ",
                in, " to ", out, "; kernels count to 2^31"));
  }
  return {};
}

Record FilterSpec::record() const {
  Record record;
  record.set("kernel", kernel).set("strides", strides).set("dilations", dilations).set("pads", pads);
  record.set("same_upper", same_upper).set("same_lower", same_lower).set("transposed", transposed);
  return record;
}

ConvWindow FilterSpec::bind(std::span<const int64_t> in, std::span<const int64_t> out) const {
  ConvWindow window;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const size_t at = 3 - kernel.size() + i;
    const int64_t reach = dilations[i] * (kernel[i] - 1) + 1;
    int64_t pad = pads[i];
    if ((same_upper || same_lower) && (transposed || !in.empty())) {
      const int64_t lacking = transposed ? reach - strides[i] : (out[2 + i] - 1) * strides[i] + reach - in[2 + i];
      const int64_t total = std::max<int64_t>(lacking, 0);
      pad = same_upper ? total / 2 : total - total / 2;
    }
    if (!in.empty()) {
      window.in[at] = static_cast<int32_t>(in[2 + i]);
      window.out[at] = static_cast<int32_t>(out[2 + i]);
    }
    window.kernel[at] = static_cast<int32_t>(kernel[i]);
    window.stride[at] = static_cast<int32_t>(strides[i]);
    window.dilation[at] = static_cast<int32_t>(dilations[i]);
    window.pad[at] = static_cast<int32_t>(pad);
  }
  return window;
}

Status check_point(const StepShapes& shapes) {
  constexpr int64_t kMost = int64_t{1} << 30;
  const Extents &x = shapes.inputs[0], &w = shapes.inputs[1], &y = shapes.outputs[0];
  TRY(require(
      w.size() >= 2 && x.size() >= 2 && x[1] == w[1] && w[0] < kMost && w[1] < kMost && volume(w) == w[0] * w[1],
      "a convolution of ", x, " by one tap, ", w, ", to ", y));
  Extents made = x;
  made[1] = w[0];
  return require_extents(y, made, "a convolution by one tap");
}

ConvStrides strides_of(const Format& format, std::span<const int64_t> extents) {
  const Extents all = format.strides(extents);
  ConvStrides strides{all[0], all[1], {0, 0, 0}};
  for (size_t i = 2; i < all.size(); ++i) strides.at[3 - (all.size() - 2) + (i - 2)] = all[i];
  return strides;
}

}  // namespace kiln::cuda
