#include "backend/cuda/tactics/cublaslt.h"

#include <algorithm>
#include <cstring>

#include "backend/cuda/exec/convolution.h"
#include "backend/cuda/exec/cublaslt.h"
#include "backend/cuda/exec/matrix_multiply.h"
#include "backend/cuda/tactics/byte_products.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/contraction.h"
#include "backend/cuda/tactics/library_epilogue.h"
#include "tactics/convolution.h"
#include "tactics/matrix_multiply.h"

namespace kiln::cuda {
namespace {

/// Rejects a product whose batches may not advance by one step, or whose sums may have no terms.
Match checked_product(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& epilogue) {
  const ir::Node& node = cx.graph.node(epilogue.contraction);
  const auto& op = *node.op.as<ops::MatrixMultiply>();
  const TensorType &a = cx.graph.type(node.inputs[0]), &b = cx.graph.type(node.inputs[1]);
  if (op.a == ops::MatrixOp::kVector || op.b == ops::MatrixOp::kVector) return reject("it is a product with a vector");
  const auto batches = [](const TensorType& t) { return std::span(t.shape).first(t.shape.size() - 2); };
  const auto is_one = [](const sym::Expr& e) { return e == sym::Expr(1); };
  if (!std::ranges::all_of(batches(a), is_one) && !std::ranges::all_of(batches(b), is_one) &&
      !std::ranges::equal(batches(a), batches(b)))
    return reject("the batches of ", a, " and ", b, " have no common step");
  const size_t k_axis = a.shape.size() - (op.a == ops::MatrixOp::kTranspose ? 2 : 1);
  if (a.shape[k_axis].min() < 1) return reject("the sums of ", a, " and ", b, " may have no terms");
  return contraction_region(cx, root, epilogue);
}

/// Whether every output pixel reads the input pixel at its own place and no other.
Match checked_point(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& epilogue) {
  const ir::Node& node = cx.graph.node(epilogue.contraction);
  const auto& op = *node.op.as<ops::Convolution>();
  Match region = static_filter_region(cx, root, epilogue);
  if (!region) return region;
  const auto step = convolution_step(cx, *region);
  CHECK(step.has_value());
  const bool padded = std::ranges::any_of(op.post_pads, [](int64_t pad) { return pad != 0; });
  if (padded || !Filter(*step).is_point())
    return reject("the convolution is more than a product: it has taps, steps, pads or groups");
  if (filter_of(cx, *region)[1] < 1) return reject("the sums have no terms");
  return region;
}

/// The common part of the two tactics.
class CublasLtTactic : public Tactic {
 public:
  std::string_view name() const override { return "cublaslt"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    if (!cx.numerics.cublas_lt) return reject("the build's tactic sources leave out cuBLASLt");
    if (limits_shared_memory(cx))
      return reject("the build limits shared memory, and cuBLASLt's kernels take what they need");
    Match region = find(cx, root);
    if (!region) return region;
    const auto library = device_of(cx).companion<CublasLtOnDevice>();
    if (!library) return reject(missing(cx, library.error()));
    const auto choices = choices_of(cx, *region, *library);
    if (!choices) return reject(choices.error().message);
    if (choices->empty()) return reject("cuBLASLt has no algorithm for it");
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    CublasLtOnDevice& lt = *device_of(cx).companion<CublasLtOnDevice>();
    const auto choices = choices_of(cx, region, lt);
    CHECK(choices.has_value());
    const double least_us = least_time_us(cx, region, multiply_adds(cx, region));
    std::vector<Variant> result;
    for (const LtChoice& choice : *choices) {
      if (result.size() == most_library_variants(cx)) break;
      const double behind = 1 + 0.01 * static_cast<double>(result.size());  // the order is the library's
      result.push_back(
          contraction_variant(cx, region, lt.describe(choice.algo), format_of(cx, region), least_us * behind));
      Bytes bytes(sizeof choice.algo);
      std::memcpy(bytes.data(), &choice.algo, bytes.size());
      result.back().params = to_record(LtTuning{may_use_tf32(cx, region), std::move(bytes), lt.library().version});
    }
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    CublasLtOnDevice& lt = TRY(device_of(cx).companion<CublasLtOnDevice>());
    StepDraft draft = TRY(draft_of(cx, region, TRY(from_record<LtTuning>(variant.params))));
    draft.libraries.set("cuBLASLt", version_text(lt.library()));
    draft.in_place_input = in_place_input(region);
    return draft;
  }

 private:
  /// The region, or why the library cannot have it.
  virtual Match find(const TacticContext& cx, ir::NodeId root) const = 0;
  virtual Result<StepDraft> draft_of(const TacticContext& cx, const Region& region, const LtTuning& tuning) const = 0;
  /// The product without extents.
  virtual Result<LtProduct> product_without_extents(const TacticContext& cx, const Region& region) const {
    return library_product(types_of(cx, region), TRY(epilogue_of(region)), may_use_tf32(cx, region));
  }
  /// `of`, at the optimum extents.
  virtual Result<LtProduct> product_at_optimum(const TacticContext& cx, const Region& region,
                                               const LtProduct& of) const = 0;
  virtual Format format_of(const TacticContext& cx, const Region& region) const = 0;

  static std::string missing(const TacticContext& cx, const Error& why) {
    compiler_of(device_of(cx))
        .notices()
        .add(
            Severity::kInfo,
            str("matrix products run by kernels of Kiln's own alone, which take longer for some sizes: ", why.message));
    return why.message;
  }

  Result<LtProduct> product_of(const TacticContext& cx, const Region& region) const {
    return product_at_optimum(cx, region, TRY(product_without_extents(cx, region)));
  }
  Result<std::vector<LtChoice>> choices_of(const TacticContext& cx, const Region& region, CublasLtOnDevice& lt) const {
    const LtProduct product = TRY(product_of(cx, region));
    TRY(require(product.m > 0 && product.n > 0 && product.batches > 0, "the product is empty"));
    return lt.choices(product);
  }
  double multiply_adds(const TacticContext& cx, const Region& region) const {
    const auto product = product_of(cx, region);
    if (!product) return 0;
    return static_cast<double>(product->m) * static_cast<double>(product->n) * static_cast<double>(product->k) *
           static_cast<double>(product->batches);
  }
};

class ProductTactic final : public CublasLtTactic {
  Match find(const TacticContext& cx, ir::NodeId root) const override {
    return checked_for_library(
        cx, match_contraction(cx, root, is_product, -1, ResultOrder::kRowMajor, checked_product, true));
  }
  Result<StepDraft> draft_of(const TacticContext& cx, const Region& region, const LtTuning& tuning) const override {
    return cuda_step(TRY(product_step(cx, region)), ProductTuning{.cublaslt = tuning});
  }
  Result<LtProduct> product_at_optimum(const TacticContext& cx, const Region& region,
                                       const LtProduct& of) const override {
    const TensorType &a = cx.graph.type(region.inputs[0]), &b = cx.graph.type(region.inputs[1]);
    return product_of_matrices(of, kiln::product_of(cx, region), a.opt_extents(), b.opt_extents());
  }
  Format format_of(const TacticContext&, const Region&) const override { return {}; }
};

class PointTactic final : public CublasLtTactic {
  Match find(const TacticContext& cx, ir::NodeId root) const override {
    return checked_for_library(
        cx, match_contraction(cx, root, is_convolution, 1, ResultOrder::kChannelsLast, checked_point, true));
  }
  Result<StepDraft> draft_of(const TacticContext& cx, const Region& region, const LtTuning& tuning) const override {
    return cuda_step(TRY(convolution_step(cx, region)), ConvolutionTuning{.cublaslt = tuning});
  }
  Result<LtProduct> product_at_optimum(const TacticContext& cx, const Region& region,
                                       const LtProduct& of) const override {
    const TensorType &w = cx.graph.type(region.inputs[1]), &y = cx.graph.type(region.outputs[0]);
    return product_of_points(of, w.opt_extents(), y.opt_extents());
  }
  Format format_of(const TacticContext& cx, const Region& region) const override {
    return Format::channels_last(cx.graph.type(region.inputs[0]).rank());
  }
};

/// Products of bytes. The library wants b along k, and lines of whole 16 bytes.
class ByteTactic final : public CublasLtTactic {
  Match find(const TacticContext& cx, ir::NodeId root) const override {
    Match region = match_product_of_bytes(cx, root);
    if (!region) return region;
    const ProductOperand b = columns_of(cx, *region);
    if (b.rows < 1 || b.rows % 16 != 0 || b.cols % 16 != 0)
      return reject("the library multiplies bytes by whole 16; b has ", b.rows, " rows and ", b.cols, " columns");
    if (const auto bytes = bytes_of_region(cx, *region); !bytes) return reject(bytes.error().message);
    return region;
  }
  Result<StepDraft> draft_of(const TacticContext& cx, const Region& region, const LtTuning& tuning) const override {
    return cuda_step(TRY(step_of_product_of_bytes(cx, region)), ProductTuning{.cublaslt = tuning});
  }
  Result<LtProduct> product_without_extents(const TacticContext& cx, const Region& region) const override {
    const LtBytes bytes = TRY(bytes_of_region(cx, region));
    return library_product_of_bytes(types_of(cx, region), TRY(epilogue_of(region)), bytes.scales.size() > 1);
  }
  Result<LtProduct> product_at_optimum(const TacticContext& cx, const Region& region,
                                       const LtProduct& of) const override {
    const ProductOperand b = columns_of(cx, region);
    Extents packed = TRY(cx.graph.type(region.inputs[1]).extents());
    packed[packed.size() - 2] = b.cols, packed.back() = b.rows;
    const ops::MatrixMultiply op{.b = ops::MatrixOp::kTranspose};
    return product_of_matrices(of, op, cx.graph.type(region.inputs[0]).opt_extents(), packed);
  }
  Format format_of(const TacticContext&, const Region&) const override { return {}; }

  static ProductOperand columns_of(const TacticContext& cx, const Region& region) {
    const auto step = step_of_product_of_bytes(cx, region);
    CHECK(step.has_value());
    return right_operand(*cx.graph.type(region.inputs[1]).extents(), step->op.b);
  }
  static Result<LtBytes> bytes_of_region(const TacticContext& cx, const Region& region) {
    using steps::ByteOperand;
    const auto value = [&](ByteOperand which) { return region.inputs[steps::input_of(which, region.inputs.size())]; };
    const auto constant = [&](ir::ValueId id) { return id == ir::ValueId::kNone ? nullptr : cx.graph.constant(id); };
    return library_bytes(types_of(cx, region), TRY(epilogue_of(region)),
                         {.x_scale = constant(value(ByteOperand::kXScale)),
                          .w_scale = constant(value(ByteOperand::kWScale)),
                          .y_scale = constant(value(ByteOperand::kYScale)),
                          .bias = constant(region.inputs[steps::Epilogue::kBias]),
                          .has_zero = value(ByteOperand::kXZero) != ir::ValueId::kNone ||
                                      value(ByteOperand::kYZero) != ir::ValueId::kNone});
  }
};

}  // namespace

const Tactic& cublaslt_product_tactic() {
  static const ProductTactic tactic;
  return tactic;
}
const Tactic& cublaslt_byte_tactic() {
  static const ByteTactic tactic;
  return tactic;
}
const Tactic& cublaslt_point_tactic() {
  static const PointTactic tactic;
  return tactic;
}

}  // namespace kiln::cuda
