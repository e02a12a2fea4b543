/// Products by a constant, plain or gated, for tests of their tactics.
#pragma once

#include <cmath>
#include <utility>

#include "backend/cuda/testing/net.h"
#include "ops/activation.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/slice.h"

namespace kiln::cuda {

/// The half of a product's columns that goes through SiLU and multiplies the other one, if any does.
enum class Gate : uint8_t { kNone, kFirst, kSecond };
struct ProductCase {
  const char* name;
  DType type;
  Extents a;
  int64_t columns;  ///< of a result: of a gated product half of those of b
  Gate gate = Gate::kNone;
  ops::MatrixOp b = ops::MatrixOp::kNone;
  bool has_bias = false;
};
struct ProductNet {
  explicit ProductNet(const ProductCase& c, Net::Inputs given = Net::Inputs::kRandom)
      : net(c.type, given), of(c), x(net.input(c.a, 3)) {}

  /// The product of `a` by a constant, and the bias if there is one.
  ir::ValueId sums(ir::ValueId a) {
    const int64_t k = of.a.back(), n = of.gate == Gate::kNone ? of.columns : 2 * of.columns;
    Extents b(of.a.size(), 1), bias(of.a.size(), 1);
    b[b.size() - 2] = of.b == ops::MatrixOp::kTranspose ? n : k;
    b.back() = of.b == ops::MatrixOp::kTranspose ? k : n;
    bias.back() = n;
    const ir::ValueId made = net.add(ops::MatrixMultiply{ops::MatrixOp::kNone, of.b},
                                     {a, net.constant(b, 1 / std::sqrt(static_cast<double>(k)))});
    if (!of.has_bias) return made;
    return net.add(ops::ElementWise{ops::ElementWiseKind::kSum}, {made, net.constant(bias)});
  }
  /// The result's columns of sums from `first` on.
  ir::ValueId half(ir::ValueId of_sums, int64_t first) {
    return net.add(ops::Slice{{first}, {of.columns}, {1}, {static_cast<int64_t>(of.a.size()) - 1}}, {of_sums});
  }
  /// The sums, or SiLU of one half of them times the other.
  ir::ValueId result(ir::ValueId of_sums) {
    if (of.gate == Gate::kNone) return of_sums;
    ir::ValueId gate = half(of_sums, 0), value = half(of_sums, of.columns);
    if (of.gate == Gate::kSecond) std::swap(gate, value);
    const ir::ValueId sigmoid = net.add(ops::Activation{.kind = ops::ActivationKind::kSigmoid}, {gate});
    return net.add(ops::ElementWise{ops::ElementWiseKind::kProd},
                   {net.add(ops::ElementWise{ops::ElementWiseKind::kProd}, {gate, sigmoid}), value});
  }

  Net net;
  ProductCase of;
  ir::ValueId x;
};

}  // namespace kiln::cuda
