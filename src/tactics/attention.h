/// Attention as exporters spell it: products, a softmax between them, and what stands around.
#pragma once

#include <span>

#include "tactics/quantization.h"

namespace kiln {

/// The reach of a backend's attention kernels: what they can read.
struct AttentionReach {
  std::span<const DType> types;  ///< of operands and scores
  bool strided_k_and_v = false;  ///< channels of k and v need not be neighbours
  bool joined_keys = false;      ///< keys and values are those of two tensors, and nothing else is wanted
  QuantizedTo results = QuantizedTo::kNothing;   ///< kNothing with joined keys
  QuantizedTo operands = QuantizedTo::kNothing;  ///< else q, k and v are all bytes with a sign, and not joined
};

/// softmax(q k^T * scale + mask) v that ends at `root`, with what moves its operands and its result: they are read and
/// written where they are, be it inside a larger tensor. Inputs: what holds q, k, v, and the mask or kNone; where reach
/// has joined keys, also what holds the rows that Concatenations put behind k's and v's. Params: as AttentionLayout has
/// them. Data: a steps::Attention. All tensors are of one type; where the root is a Quantize, all but the result, and
/// the last inputs are those of steps/quantized_result.h. Where reach has operands of bytes, q, k and v are those that
/// nodes of Dequantize read, which belong to the region, as do a Quantize and Dequantize behind the softmax.
Match attention_region(const TacticContext& cx, ir::NodeId root, const AttentionReach& reach);

class AttentionRegions : public Tactic {
 public:
  std::string_view name() const override { return "attention"; }

 protected:
  /// The step of what `attention_region` found.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant& variant);
};

}  // namespace kiln
