// Nests and concatenations that read what Slices and Transposes move where it lies, against the references of their
// ops; on a machine with a GPU only.
#include <gtest/gtest.h>

#include "backend/cuda/tactics/nest.h"
#include "backend/cuda/tactics/registry.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/activation.h"
#include "ops/concatenation.h"
#include "ops/element_wise.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/transpose.h"

namespace kiln::cuda {
namespace {

using ops::ElementWise, ops::ElementWiseKind;

/// Heads of a product of several projections: [batch, length, width] to [batch, count, length, size].
ir::ValueId heads_of(Net& net, ir::ValueId product, int64_t first, const Extents& heads) {
  const int64_t size = heads[3], count = heads[1];
  const ir::ValueId part = net.add(ops::Slice{{first * size}, {count * size}, {1}, {2}}, {product});
  const ir::ValueId split = net.add(ops::Reshape{.dims = {heads[0], heads[2], count, size}}, {part});
  return net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {split});
}

class ViewsOnGpu : public OnGpu {};

TEST_F(ViewsOnGpu, HalvesOfAProductGateEachOther) {
  for (const DType type : {DType::kF16, DType::kBF16, DType::kF32})
    for (const int64_t width : {8, 17, 4096}) {
      Net net(type);
      const ir::ValueId x = net.input({3, 5, 2 * width});
      const auto half = [&](int64_t start) { return net.add(ops::Slice{{start}, {width}, {1}, {2}}, {x}); };
      const ir::ValueId gate = half(0);
      const ir::ValueId sigmoid = net.add(ops::Activation{.kind = ops::ActivationKind::kSigmoid}, {gate});
      const ir::ValueId silu = net.add(ElementWise{ElementWiseKind::kProd}, {gate, sigmoid});
      net.finish(net.add(ElementWise{ElementWiseKind::kProd}, {silu, half(width)}));
      expect_agreement(str("gates of ", width), net, nest_of_views_tactic(), type == DType::kF32 ? 1e-6 : 1e-2);
    }
}
TEST_F(ViewsOnGpu, RotaryEmbeddings) {
  for (const DType type : {DType::kF16, DType::kF32})
    for (const bool interleaved : {false, true})
      for (const int64_t size : {64, 10}) {
        Net net(type);
        const ir::ValueId product = net.input({2, 7, 12 * size});
        const ir::ValueId x = heads_of(net, product, 2, {2, 8, 7, size});
        const int64_t axis = interleaved ? 4 : 3;
        Extents pairs{2, 8, 7, 2, 2}, angles{1, 1, 7, 2, 2};
        pairs[static_cast<size_t>(7 - axis)] = angles[static_cast<size_t>(7 - axis)] = size / 2;
        const ir::ValueId both = net.add(ops::Reshape{.dims = pairs}, {x});
        const ir::ValueId reversed = net.add(ops::Slice{{1}, {2}, {-1}, {axis}}, {both});
        const ir::ValueId direct = net.add(ElementWise{ElementWiseKind::kProd}, {both, net.input(angles)});
        const ir::ValueId crossed = net.add(ElementWise{ElementWiseKind::kProd}, {reversed, net.input(angles)});
        net.finish(net.add(ElementWise{ElementWiseKind::kSum}, {direct, crossed}));
        expect_agreement(str("rotation of ", size), net, nest_of_views_tactic(), type == DType::kF32 ? 1e-6 : 5e-3);
      }
}
TEST_F(ViewsOnGpu, CachesGrowByHeadsOfAProduct) {
  const Tactic& tactic = *tactics_for(op_info<ops::Concatenation>())[0];
  ASSERT_EQ(tactic.name(), "concatenation of views");
  for (const DType type : {DType::kF16, DType::kF32})
    for (const int64_t size : {64, 9}) {
      Net net(type);
      const ir::ValueId caches = net.input({3, 2, 4, 33, size}), product = net.input({2, 2, 12 * size});
      const ir::ValueId layer = net.add(ops::Slice{{2}, {1}, {1}, {0}}, {caches});
      const ir::ValueId cache = net.add(ops::Reshape{.dims = {2, 4, 33, size}}, {layer});
      net.finish(net.add(ops::Concatenation{2}, {cache, heads_of(net, product, 4, {2, 4, 2, size})}));
      expect_agreement(str("cache of ", size), net, tactic, 0);
    }
}

}  // namespace
}  // namespace kiln::cuda
