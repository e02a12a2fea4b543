/// Networks of one contraction and what its region ends with, for tests of every variant.
#pragma once

#include <cmath>
#include <vector>

#include "backend/cuda/testing/net.h"

namespace kiln::cuda {

/// The ops behind a contraction in its region.
enum class Tail { kNone, kBiasRelu, kResidual, kSilu };
/// `bias` are the extents of the bias, if there is one.
ir::ValueId with_tail(Net& net, ir::ValueId y, Tail tail, const Extents& bias);

/// A convolution or deconvolution of a constant filter.
struct FilterCase {
  const char* name;
  DType type;
  Extents x, w;
  std::vector<int64_t> strides, pads, dilations;
  int64_t groups = 1;
  Tail tail = Tail::kNone;
};

template <class T>
Net filter_net(const FilterCase& c) {
  Net net(c.type);
  double k = 1;
  for (size_t i = 1; i < c.w.size(); ++i) k *= static_cast<double>(c.w[i]);
  T op;
  op.strides = c.strides;
  op.pre_pads = op.post_pads = c.pads;
  op.dilations = c.dilations;
  op.groups = c.groups;
  const ir::ValueId x = net.input(c.x), w = net.constant(c.w, 1 / std::sqrt(k));
  const ir::ValueId y = net.add(op, {x, w});
  Extents bias(c.x.size(), 1);
  bias[1] = (*net.graph.type(y).extents())[1];
  net.finish(with_tail(net, y, c.tail, bias));
  return net;
}

}  // namespace kiln::cuda
