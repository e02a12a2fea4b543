#include "backend/cpu/exec/window.h"

#include <algorithm>

namespace kiln::cpu {
namespace {

constexpr int64_t kMostReach = int64_t{1} << 30;  // products of two, and their sums, are numbers

}  // namespace

Result<WindowSpec> WindowSpec::parse(const Record& payload) {
  WindowSpec spec{TRY(payload.get_ints("kernel")),     TRY(payload.get_ints("strides")),
                  TRY(payload.get_ints("dilations")),  TRY(payload.get_ints("pads")),
                  TRY(payload.get_bool("same_upper")), TRY(payload.get_bool("same_lower"))};
  const size_t axes = spec.kernel.size();
  TRY(require(axes >= 1 && axes <= 3 && spec.strides.size() == axes && spec.dilations.size() == axes &&
                  spec.pads.size() == axes,
              "a window has ", axes, " axes with ", spec.strides.size(), " strides"));
  const auto positive = [](int64_t n) { return n > 0 && n < kMostReach; };
  TRY(require(std::ranges::all_of(spec.kernel, positive) && std::ranges::all_of(spec.strides, positive) &&
                  std::ranges::all_of(spec.dilations, positive),
              "a window's kernel, strides and dilations must be positive"));
  for (size_t i = 0; i < axes; ++i)
    TRY(require(spec.pads[i] >= 0 && spec.pads[i] < kMostReach && spec.dilations[i] * (spec.kernel[i] - 1) < kMostReach,
                "a window reaches over ", spec.dilations[i] * (spec.kernel[i] - 1), " elements from a pad of ",
                spec.pads[i]));
  return spec;
}

Status WindowSpec::check(const Extents& in, const Extents& out) const {
  const size_t rank = kernel.size() + 2;
  const auto counts = [](int64_t n) { return n <= kMostReach; };
  return require(in.size() == rank && out.size() == rank && in[0] == out[0] && std::ranges::all_of(in, counts) &&
                     std::ranges::all_of(out, counts),
                 "a window of ", kernel.size(), " axes takes ", in, " to ", out);
}

Record WindowSpec::record() const {
  Record record;
  record.set("kernel", kernel).set("strides", strides).set("dilations", dilations).set("pads", pads);
  record.set("same_upper", same_upper).set("same_lower", same_lower);
  return record;
}

Window WindowSpec::bind(std::span<const int64_t> in, std::span<const int64_t> out) const {
  Window window;
  const size_t axes = kernel.size();
  for (size_t i = 0; i < axes; ++i) {
    const size_t at = 3 - axes + i;
    window.in[at] = in[2 + i];
    window.out[at] = out[2 + i];
    window.kernel[at] = kernel[i];
    window.stride[at] = strides[i];
    window.dilation[at] = dilations[i];
    window.pad[at] = pads[i];
    if (!same_upper && !same_lower) continue;
    const int64_t reach = dilations[i] * (kernel[i] - 1) + 1;
    const int64_t total = std::max<int64_t>((out[2 + i] - 1) * strides[i] + reach - in[2 + i], 0);
    window.pad[at] = same_upper ? total / 2 : total - total / 2;
  }
  return window;
}

}  // namespace kiln::cpu
