#include "backend/cuda/testing/filter_net.h"

#include "ops/activation.h"
#include "ops/element_wise.h"

namespace kiln::cuda {

ir::ValueId with_tail(Net& net, ir::ValueId y, Tail tail, const Extents& bias) {
  const Extents result = *net.graph.type(y).extents();
  const ops::ElementWise sum{ops::ElementWiseKind::kSum};
  switch (tail) {
    case Tail::kNone: return y;
    case Tail::kBiasRelu:
      return net.add(ops::Activation{.kind = ops::ActivationKind::kRelu}, {net.add(sum, {y, net.constant(bias)})});
    case Tail::kResidual: return net.add(sum, {net.add(sum, {y, net.constant(bias)}), net.input(result)});
    case Tail::kSilu: {
      const ir::ValueId x = net.add(sum, {y, net.constant(bias)});
      return net.add(ops::ElementWise{ops::ElementWiseKind::kProd},
                     {x, net.add(ops::Activation{.kind = ops::ActivationKind::kSigmoid}, {x})});
    }
  }
  return y;
}

}  // namespace kiln::cuda
