/// The sliding window of a convolution, deconvolution or pooling.
#pragma once

#include "base/field.h"
#include "steps/step_types.h"
#include "tensor/extents.h"

namespace kiln::steps {

/// One number a spatial axis, of which there are 1 to 3. Position o of what windows make reads positions
/// o * stride - pad + k * dilation of what they look at.
struct Window {
  Extents kernel{1}, strides{1}, dilations{1};
  Extents pads{0};                              ///< before the first element
  bool same_upper = false, same_lower = false;  ///< pads are what SAME rounding implies once extents are known

  static void reflect(auto& self, auto f) {
    f("kernel", self.kernel), f("strides", self.strides), f("dilations", self.dilations), f("pads", self.pads);
    f("same_upper", self.same_upper), f("same_lower", self.same_lower);
  }
  bool operator==(const Window&) const = default;
  Status check() const;
  /// Fails unless windows over a tensor `in` make `out`, as far as this is up to them: both [N, C, spatial...]. What a
  /// deconvolution makes is its `in`.
  Status check(const Extents& in, const Extents& out) const;

  /// Fails unless the step's first two inputs and its output are those of a convolution with this window: of its axes,
  /// of floats, w row-major.
  Status check(const StepTypes& types) const;
  /// The same for tensors of any type.
  Status check_ranks(const StepTypes& types) const;
  /// Fails unless `w` is a filter of `out` and `in` channels in groups: [out, in of a group, kernel...].
  Status check_filter(const Extents& w, int64_t groups, int64_t out, int64_t in) const;

  bool is_same() const { return same_upper || same_lower; }
  /// Whether windows may begin before the first element.
  bool has_pads() const;
  int64_t reach(size_t axis) const { return dilations[axis] * (kernel[axis] - 1) + 1; }
  /// Whether windows lie side by side: a kernel as large as its strides, without pads.
  bool abuts() const;
  /// Whether each is of one element, which the next one follows.
  bool is_point() const;
  /// The window as a backend's kernels take it: W has in, out, kernel, stride, dilation and pad, of three axes each,
  /// the last ones in use. `in` and `out` are [N, C, spatial...].
  template <class W>
  W bind(std::span<const int64_t> in, std::span<const int64_t> out) const {
    return bound<W>(in, out, [&](size_t i) {
      return in.empty() ? -reach(i) : (out[2 + i] - 1) * strides[i] - in[2 + i];  // extents decide pads that are SAME
    });
  }
  /// A deconvolution's window, which looks at `out`. Without extents, W has what they do not decide.
  template <class W>
  W bind_transposed(std::span<const int64_t> in, std::span<const int64_t> out) const {
    return bound<W>(in, out, [&](size_t i) { return -strides[i]; });
  }

 private:
  /// The pad in front where SAME rounding lacks so many elements in front and behind.
  int64_t same_pad(int64_t lacking) const;
  template <class W, class Beside>
  W bound(std::span<const int64_t> in, std::span<const int64_t> out, const Beside& lacks_beside_reach) const {
    W window;
    using Number = std::remove_reference_t<decltype(window.in[0])>;
    for (size_t i = 0; i < kernel.size(); ++i) {
      const size_t at = 3 - kernel.size() + i;
      if (!in.empty()) window.in[at] = static_cast<Number>(in[2 + i]), window.out[at] = static_cast<Number>(out[2 + i]);
      window.kernel[at] = static_cast<Number>(kernel[i]);
      window.stride[at] = static_cast<Number>(strides[i]);
      window.dilation[at] = static_cast<Number>(dilations[i]);
      window.pad[at] = static_cast<Number>(is_same() ? same_pad(lacks_beside_reach(i) + reach(i)) : pads[i]);
    }
    return window;
  }
};

}  // namespace kiln::steps
