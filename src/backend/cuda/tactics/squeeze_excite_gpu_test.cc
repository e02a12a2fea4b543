// Squeeze and excitation by every variant of its tactic, against the references of its ops; on a machine with a GPU
// only.
#include <gtest/gtest.h>

#include "backend/cuda/tactics/squeeze_excite.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/activation.h"
#include "ops/convolution.h"
#include "ops/element_wise.h"
#include "ops/reduce.h"

namespace kiln::cuda {
namespace {

struct ExciteCase {
  int64_t images, channels, hidden, height, width;
  bool biases, gates_first;
  bool float_weights = false;  ///< which half precision does not hold: beyond its range, and below
};

void add_excite(Net& net, const ExciteCase& c) {
  using ops::Activation, ops::ActivationKind, ops::ElementWise, ops::ElementWiseKind;
  const ir::ValueId x = net.input({c.images, c.channels, c.height, c.width}, c.float_weights ? 0.125 : 1);
  const ir::ValueId mean = net.add(ops::Reduce{.kind = ops::ReduceKind::kAvg, .axes = {3, 2}, .keep = true}, {x});
  const auto product = [&](ir::ValueId from, int64_t to, int64_t channels, double wide) {
    const ops::Convolution convolution{.kernel = {1, 1}};
    const auto constant = [&](const Extents& extents, double scale) {
      return c.float_weights ? net.constant(DType::kF32, extents, scale) : net.constant(extents, scale);
    };
    const ir::ValueId w = constant({to, channels, 1, 1}, c.float_weights ? wide : 0.5);
    return c.biases ? net.add(convolution, {from, w, constant({to}, 1)}) : net.add(convolution, {from, w});
  };
  const ir::ValueId inner = product(mean, c.hidden, c.channels, 1e5);
  const ir::ValueId silu = net.add(ElementWise{ElementWiseKind::kProd},
                                   {inner, net.add(Activation{.kind = ActivationKind::kSigmoid}, {inner})});
  const ir::ValueId outer = product(silu, c.channels, c.hidden, 1e-5);
  const Activation hard{.kind = ActivationKind::kHardSigmoid, .alpha = 1 / 6.0f, .beta = 0.5f};
  const ir::ValueId gates = net.add(hard, {outer});
  net.finish(c.gates_first ? net.add(ElementWise{ElementWiseKind::kProd}, {gates, x})
                           : net.add(ElementWise{ElementWiseKind::kProd}, {x, gates}));
}

class ExciteOnGpu : public OnGpu {};

TEST_F(ExciteOnGpu, AgreesWithItsParts) {
  for (const DType type : {DType::kF16, DType::kBF16, DType::kF32})
    for (const ExciteCase& c :
         {ExciteCase{1, 96, 4, 28, 28, false, true}, ExciteCase{3, 72, 24, 9, 7, true, false},
          ExciteCase{1, 1152, 48, 7, 7, true, true}, ExciteCase{2, 8, 1, 1, 3, false, false},
          ExciteCase{1, 32, 8, 112, 112, true, true}, ExciteCase{1, 96, 4, 28, 28, false, true, true},
          ExciteCase{2, 72, 24, 9, 7, true, false, true}}) {
      if (c.float_weights && type == DType::kF32) continue;
      Net net(type);
      add_excite(net, c);
      const double tolerance = type == DType::kF32 ? 3e-6 : type == DType::kF16 ? 3e-3 : 2e-2;
      expect_agreement(str(c.channels, " channels of ", type), net, squeeze_excite_tactic(), tolerance);
    }
}

TEST_F(ExciteOnGpu, DISABLED_ExciteRates) {  // efficientnet_b0's
  for (const int64_t images : {1, 32})
    for (const ExciteCase& c :
         {ExciteCase{images, 32, 8, 112, 112, false, true}, ExciteCase{images, 144, 6, 56, 56, false, true},
          ExciteCase{images, 240, 10, 28, 28, false, true}, ExciteCase{images, 672, 28, 14, 14, false, true},
          ExciteCase{images, 1152, 48, 7, 7, false, true}}) {
      Net net(DType::kF16, Net::Inputs::kNone);
      add_excite(net, c);
      const auto ran = run_variants(*gpu_, net.graph, squeeze_excite_tactic(), {}, {.timed = true, .made_up = true});
      ASSERT_TRUE(ran) << ran.error().message;
      for (const RanVariant& variant : *ran)
        std::printf("excite %lld x %lld x %lld: %s %.2f us %s\n", static_cast<long long>(images),
                    static_cast<long long>(c.channels), static_cast<long long>(c.height), variant.name.c_str(),
                    variant.time_us, variant.failure.c_str());
    }
}

}  // namespace
}  // namespace kiln::cuda
