#include "backend/cuda/tactics/byte_products.h"

#include <algorithm>

#include "backend/cuda/compile/conv/conv.h"
#include "backend/cuda/compile/gemm/gemm.h"
#include "backend/cuda/exec/convolution.h"
#include "backend/cuda/exec/matrix_multiply.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/contraction.h"
#include "backend/cuda/tactics/filter_convolution.h"
#include "backend/cuda/tactics/matrix_multiply.h"
#include "backend/cuda/tactics/registry.h"
#include "ops/convolution.h"
#include "ops/matrix_multiply.h"
#include "steps/quantized_convolution.h"
#include "steps/quantized_matrix_multiply.h"
#include "tactics/byte_products.h"
#include "tactics/convolution.h"
#include "tactics/matrix_multiply.h"
#include "tactics/window.h"

namespace kiln::cuda {
namespace {

using ir::ValueId;
using steps::ByteOperand;

ByteRules rules_of(const Machine& machine) { return {.halves = true, .fp8 = machine.compute >= 89}; }

/// Whether a value is a constant, or becomes one when constants are folded: whether weights stay bytes is asked before
/// the Reshape of a zero point to x's rank is folded.
bool is_fixed(const ir::Graph& graph, ValueId value) {
  while (!graph.constant(value)) {
    const ir::NodeId producer = graph.value(value).producer;
    if (producer == ir::NodeId::kNone || graph.node(producer).inputs.empty()) return false;
    const std::span<const ValueId> inputs = graph.node(producer).inputs;
    const auto is_known = [&](ValueId input) { return input == ValueId::kNone || graph.constant(input); };
    if (inputs[0] == ValueId::kNone || !std::ranges::all_of(inputs.subspan(1), is_known)) return false;
    value = inputs[0];
  }
  return true;
}

/// Why no kernel takes a product of bytes; empty if one does.
std::string refusal(const ir::Graph& graph, const ByteProduct& product, const Machine& machine) {
  if (machine.compute < 80) return "kernels of bytes need compute capability 8.0";
  const ir::Node& node = graph.node(product.contraction);
  const ir::Node& x = graph.node(product.x);
  const bool has_zero = x.inputs.size() > 2 && x.inputs[2] != ValueId::kNone;
  if (has_zero && !is_fixed(graph, x.inputs[2])) return "x's zero point is computed; kernels take a constant";
  if (const auto* convolution = node.op.as<ops::Convolution>()) {
    if (convolution->groups != 1)  // its kernels pad with a zero point
      return graph.input_type(product.x, 0).dtype == DType::kF8E4M3 ? "no depthwise kernel takes FP8" : "";
    const bool pads_behind = std::ranges::any_of(convolution->post_pads, [](int64_t pixels) { return pixels != 0; });
    if (has_zero && (pads_behind || window_of(*convolution, {}).has_pads()))
      return "x has a zero point, and kernels pad with 0";
  }
  return "";
}

/// What an epilogue reads besides, of a contraction of so many products a sum (exec/byte_inputs.h).
ByteScales scales_of(const TacticContext& cx, const Region& region, int64_t products) {
  const auto operand = [&](ByteOperand which) { return region.inputs[steps::input_of(which, region.inputs.size())]; };
  const auto type = [&](ByteOperand which) -> std::optional<DType> {
    if (operand(which) == ValueId::kNone) return std::nullopt;
    return cx.graph.type(operand(which)).dtype;
  };
  const auto is_constant = [&](ByteOperand which) { return cx.graph.constant(operand(which)) != nullptr; };
  ByteScales scales{.x_scale = type(ByteOperand::kXScale),
                    .w_scale = *type(ByteOperand::kWScale),
                    .w_by_channel = cx.graph.type(operand(ByteOperand::kWScale)).volume() != sym::Expr(1),
                    .corrected = type(ByteOperand::kXZero).has_value(),
                    .y_scale = type(ByteOperand::kYScale),
                    .y_zero = type(ByteOperand::kYZero)};
  if (is_constant(ByteOperand::kXScale) && is_constant(ByteOperand::kWScale)) {
    scales.x_scale.reset();
    scales.w_scale = DType::kF32;
  }
  if (scales.y_scale && is_constant(ByteOperand::kYScale) && (!scales.y_zero || is_constant(ByteOperand::kYZero))) {
    scales.y_by_value = true;
    scales.y_shifted = scales.y_zero.has_value();
    scales.y_scale.reset(), scales.y_zero.reset();
  }
  const int64_t largest = cx.graph.type(region.inputs[0]).dtype == DType::kU8 ? 255 * 128 : 128 * 128;
  scales.narrow_sums = products <= (int64_t{1} << 22) / largest;
  return scales;
}

/// The region of a product of bytes that kernels for the device take.
Match match_bytes(const TacticContext& cx, ir::NodeId root, bool (*is_contraction)(const Op&), int channel_axis,
                  ResultOrder order) {
  const Machine machine = machine_of(cx);
  Match region = match_byte_product(cx, root, is_contraction, channel_axis, order, rules_of(machine));
  if (!region) return region;
  const ByteProduct product{region->nodes[2], region->nodes[0], region->nodes[1]};
  if (std::string why = refusal(cx.graph, product, machine); !why.empty()) return reject(std::move(why));
  if (const Status valid = validate(*epilogue_of(*region)); !valid) return reject(valid.error().message);
  return region;
}

class ByteConvolution final : public Tactic {
 public:
  std::string_view name() const override { return "convolution of bytes"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    return match_bytes(cx, root, is_convolution, 1, ResultOrder::kChannelsLast);
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const auto step = step_of(cx, region);
    CHECK(step.has_value());
    return filter_variants(cx, region, Filter(*step, channels_of(cx, region)));
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto tuning = TRY(from_record<ConvolutionTuning>(variant.params));
    const steps::QuantizedConvolution step = TRY(step_of(cx, region));
    const Extents w = TRY(cx.graph.type(region.inputs[1]).extents());
    const ByteScales scales = scales_of(cx, region, volume(w) / std::max<int64_t>(1, w[0]));
    StepDraft draft = cuda_step(step, tuning);
    draft.binary = TRY(compile_kernel(cx, tuning.gemm ? source_of(*tuning.gemm, step.epilogue, scales)
                                                      : source_of(*tuning.conv, step.epilogue, scales)));
    return draft;
  }

 private:
  /// Channels of the result.
  static int64_t channels_of(const TacticContext& cx, const Region& region) {
    return *cx.graph.type(region.inputs[1]).shape[0].constant();
  }
  static Result<steps::QuantizedConvolution> step_of(const TacticContext& cx, const Region& region) {
    const Extents w = TRY(cx.graph.type(region.inputs[1]).extents());
    const auto& op = *contraction_of_bytes(cx, region).as<ops::Convolution>();
    return steps::QuantizedConvolution{.window = window_of(op, Extents(w.begin() + 2, w.end())),
                                       .is_depthwise = op.groups != 1,
                                       .epilogue = TRY(epilogue_of(region))};
  }
};

class ByteMatrixMultiply final : public Tactic {
 public:
  std::string_view name() const override { return "gemm of bytes"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override { return match_product_of_bytes(cx, root); }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    return product_variants(cx, region, *contraction_of_bytes(cx, region).as<ops::MatrixMultiply>());
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto tuning = TRY(from_record<ProductTuning>(variant.params));
    const steps::QuantizedMatrixMultiply step = TRY(step_of_product_of_bytes(cx, region));
    StepDraft draft = cuda_step(step, tuning);
    const TensorType& a = cx.graph.type(region.inputs[0]);
    const ByteScales scales = scales_of(cx, region, *a.shape[static_cast<size_t>(a.rank()) - 1].constant());
    draft.binary = TRY(compile_kernel(cx, source_of(*tuning.gemm, step.epilogue, scales)));
    return draft;
  }
};

}  // namespace

const Tactic& byte_convolution_tactic() { return the<ByteConvolution>(); }
const Tactic& byte_product_tactic() { return the<ByteMatrixMultiply>(); }

Match match_product_of_bytes(const TacticContext& cx, ir::NodeId root) {
  return match_bytes(cx, root, is_product, -1, ResultOrder::kRowMajor);
}
Result<steps::QuantizedMatrixMultiply> step_of_product_of_bytes(const TacticContext& cx, const Region& region) {
  return steps::QuantizedMatrixMultiply{.op = *contraction_of_bytes(cx, region).as<ops::MatrixMultiply>(),
                                        .epilogue = TRY(epilogue_of(region))};
}

bool takes_bytes(const ir::Graph& graph, ir::NodeId contraction, const Machine& machine) {
  const auto product = find_byte_product(graph, contraction, rules_of(machine));
  return product && refusal(graph, *product, machine).empty();
}

}  // namespace kiln::cuda
