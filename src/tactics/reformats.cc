#include "tactics/reformats.h"

#include <algorithm>

namespace kiln {

bool same_layout(const TensorType& type, const Format& a, const Format& b) {
  if (a == b) return true;
  if (a.is_blocked() || b.is_blocked()) return false;
  const auto order = [&](const Format& format) {
    std::vector<int> axes;
    for (int i = 0; i < type.rank(); ++i)
      if (type.shape[static_cast<size_t>(format.axis_at(i))] != sym::Expr(1)) axes.push_back(format.axis_at(i));
    return axes;
  };
  return order(a) == order(b);
}

bool meet_in_linear(const Format& a, const Format& b) {
  return a.is_blocked() && b.is_blocked() && (a.block() != b.block() || a.block_axis() != b.block_axis());
}

int Reformats::number_of(const Format& format) {
  const auto found = std::ranges::find(formats_, format);
  if (found != formats_.end()) return static_cast<int>(found - formats_.begin());
  formats_.push_back(format);
  return static_cast<int>(formats_.size()) - 1;
}

double Reformats::cost_us(ir::ValueId value, int from, int to) {
  if (from == to) return 0;
  const auto [at, is_new] = costs_.emplace(std::tuple(value, from, to), 0);
  if (is_new) {
    const Format &a = formats_[static_cast<size_t>(from)], &b = formats_[static_cast<size_t>(to)];
    const TensorType& type = graph_.type(value);
    const auto copy_us = [&](const Format& x, const Format& y) {
      return same_layout(type, x, y) ? 0 : backend_.reformat_estimate_us(type, x, y) + backend_.step_overhead_us();
    };
    at->second = meet_in_linear(a, b) ? copy_us(a, {}) + copy_us({}, b) : copy_us(a, b);
    constexpr double kAvoidUs = 1e7;  // above what steps take, below what an assigned tactic insists with
    const bool is_surface = graph_.value(value).producer == ir::NodeId::kNone || graph_.is_output(value);
    if (at_surface_ == AtSurface::kAvoided && is_surface && at->second > 0) at->second += kAvoidUs;
  }
  return at->second;
}

}  // namespace kiln
