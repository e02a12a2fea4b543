#include "backend/cpu/tactics/byte_products.h"

#include "backend/cpu/tactics/registry.h"
#include "steps/quantized_convolution.h"
#include "steps/quantized_matrix_multiply.h"
#include "tactics/byte_products.h"
#include "tactics/convolution.h"
#include "tactics/matrix_multiply.h"
#include "tactics/region.h"
#include "tactics/window.h"

namespace kiln::cpu {
namespace {

class ByteConvolution final : public Tactic {
 public:
  std::string_view name() const override { return "convolution of bytes"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    return match_byte_product(cx, root, is_convolution, 1, ResultOrder::kChannelsLast, {.tables = true});
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    return {
        contraction_variant(cx, region, "packed bytes", Format::channels_last(cx.graph.type(region.inputs[0]).rank()))};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const Extents w = TRY(cx.graph.type(region.inputs[1]).extents());
    const auto& op = *contraction_of_bytes(cx, region).as<ops::Convolution>();
    return cpu_step(steps::QuantizedConvolution{.window = window_of(op, Extents(w.begin() + 2, w.end())),
                                                .is_depthwise = op.groups != 1,
                                                .epilogue = TRY(epilogue_of(region))});
  }
};

class ByteMatrixMultiply final : public Tactic {
 public:
  std::string_view name() const override { return "gemm of bytes"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    return match_byte_product(cx, root, is_product, -1, ResultOrder::kRowMajor, {.tables = true});
  }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "packed bytes")};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const auto& op = *contraction_of_bytes(cx, region).as<ops::MatrixMultiply>();
    return cpu_step(steps::QuantizedMatrixMultiply{.op = op, .epilogue = TRY(epilogue_of(region))});
  }
};

}  // namespace

const Tactic& byte_convolution_tactic() { return the<ByteConvolution>(); }
const Tactic& byte_product_tactic() { return the<ByteMatrixMultiply>(); }

bool takes_bytes(const ir::Graph& graph, ir::NodeId contraction) {
  return find_byte_product(graph, contraction).has_value();
}

}  // namespace kiln::cpu
