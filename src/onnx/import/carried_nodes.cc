#include "onnx/import/carried_nodes.h"

#include <algorithm>
#include <array>

#include "onnx/dtypes.h"
#include "onnx/import/carried_quantization.h"
#include "onnx/import/carried_types.h"

namespace kiln::onnx {
namespace {

/// What an operator does with elements.
enum class Treatment : uint8_t {
  kMoves,         ///< nothing: any type
  kWraps,         ///< arithmetic modulo 2^n: of integers
  kWrapsTo32,     ///< arithmetic that needs their values: of integers of up to 32 bits
  kOrders,        ///< compares them: of integers
  kKnowsCarriers  ///< its importer asks for the types of inputs itself
};
/// The outputs that have the type of the inputs.
enum class Results : uint8_t { kNone, kFirst, kAll };

struct Rule {
  std::string_view op_type;
  Treatment treatment;
  Results results = Results::kFirst;
  size_t first = 0, count = 1;  ///< of the inputs that have the type; those behind are of other types
};
constexpr size_t kEvery = SIZE_MAX;

constexpr std::array kRules = {
    Rule{"Compress", Treatment::kMoves},
    Rule{"Concat", Treatment::kMoves, Results::kFirst, 0, kEvery},
    Rule{"DepthToSpace", Treatment::kMoves},
    Rule{"Expand", Treatment::kMoves},
    Rule{"Flatten", Treatment::kMoves},
    Rule{"Gather", Treatment::kMoves},
    Rule{"GatherElements", Treatment::kMoves},
    Rule{"GatherND", Treatment::kMoves},
    Rule{"Identity", Treatment::kMoves},
    Rule{"Reshape", Treatment::kMoves},
    Rule{"ReverseSequence", Treatment::kMoves},
    Rule{"Slice", Treatment::kMoves},
    Rule{"SpaceToDepth", Treatment::kMoves},
    Rule{"Split", Treatment::kMoves, Results::kAll},
    Rule{"Squeeze", Treatment::kMoves},
    Rule{"Tile", Treatment::kMoves},
    Rule{"Transpose", Treatment::kMoves},
    Rule{"Trilu", Treatment::kMoves},
    Rule{"Unsqueeze", Treatment::kMoves},
    Rule{"Where", Treatment::kMoves, Results::kFirst, 1, 2},

    Rule{"Shape", Treatment::kMoves, Results::kNone},
    Rule{"Size", Treatment::kMoves, Results::kNone},

    Rule{"Add", Treatment::kWraps, Results::kFirst, 0, 2},
    Rule{"CumProd", Treatment::kWraps},
    Rule{"CumSum", Treatment::kWraps},
    Rule{"Mul", Treatment::kWraps, Results::kFirst, 0, 2},
    Rule{"Neg", Treatment::kWraps},
    Rule{"ReduceProd", Treatment::kWraps},
    Rule{"ReduceSum", Treatment::kWraps},
    Rule{"ReduceSumSquare", Treatment::kWraps},
    Rule{"Sub", Treatment::kWraps, Results::kFirst, 0, 2},

    Rule{"Abs", Treatment::kWrapsTo32},
    Rule{"Sign", Treatment::kWrapsTo32},

    Rule{"ArgMax", Treatment::kOrders, Results::kNone},
    Rule{"ArgMin", Treatment::kOrders, Results::kNone},
    Rule{"Clip", Treatment::kOrders, Results::kFirst, 0, kEvery},
    Rule{"Equal", Treatment::kOrders, Results::kNone, 0, 2},
    Rule{"Greater", Treatment::kOrders, Results::kNone, 0, 2},
    Rule{"GreaterOrEqual", Treatment::kOrders, Results::kNone, 0, 2},
    Rule{"Less", Treatment::kOrders, Results::kNone, 0, 2},
    Rule{"LessOrEqual", Treatment::kOrders, Results::kNone, 0, 2},
    Rule{"Max", Treatment::kOrders, Results::kFirst, 0, kEvery},
    Rule{"Min", Treatment::kOrders, Results::kFirst, 0, kEvery},
    Rule{"ReduceMax", Treatment::kOrders},
    Rule{"ReduceMin", Treatment::kOrders},
    Rule{"TopK", Treatment::kOrders},
    Rule{"Unique", Treatment::kOrders},

    Rule{"BitCast", Treatment::kKnowsCarriers},
    Rule{"BitShift", Treatment::kKnowsCarriers},
    Rule{"BitwiseAnd", Treatment::kKnowsCarriers},
    Rule{"BitwiseNot", Treatment::kKnowsCarriers},
    Rule{"BitwiseOr", Treatment::kKnowsCarriers},
    Rule{"BitwiseXor", Treatment::kKnowsCarriers},
    Rule{"Cast", Treatment::kKnowsCarriers},
    Rule{"CastLike", Treatment::kKnowsCarriers},
    Rule{"DequantizeLinear", Treatment::kKnowsCarriers},
    Rule{"Div", Treatment::kKnowsCarriers},
    Rule{"GatherBlockQuantized", Treatment::kKnowsCarriers},
    Rule{"Mod", Treatment::kKnowsCarriers},
    Rule{"Pow", Treatment::kKnowsCarriers},
    Rule{"QuantizeLinear", Treatment::kKnowsCarriers},
};

std::optional<size_t> first_carried(const ImportContext& cx) {
  for (size_t i = 0; i < cx.num_inputs(); ++i)
    if (cx.carried(i) != ElementType::kUndefined) return i;
  return std::nullopt;
}

std::unexpected<Error> refusal(const ImportContext& cx, size_t input) {
  return error(Code::kUnsupported, "'", cx.input_name(input), "' is ", cx.carried(input), "; ", cx.def().op_type,
               " of such elements is not in Kiln");
}

/// Fails unless all inputs that are to have the type of the first such have it.
Status check_operands(const ImportContext& cx, const Rule& rule, size_t known) {
  for (size_t i = rule.first; i < cx.num_inputs() && i - rule.first < rule.count; ++i)
    if (cx.has_input(i))
      TRY(require(cx.carried(i) == cx.carried(known), "'", cx.input_name(known), "' is ", cx.carried(known), " and '",
                  cx.input_name(i), "' is not; both need one type"));
  return {};
}

/// Imports an operator that compares UINT64s: on numbers whose signed order is theirs.
Status import_ordered(ImportContext& cx, ImportFunction import, const Rule& rule, ElementType type) {
  for (size_t i = rule.first; i < cx.num_inputs() && i - rule.first < rule.count; ++i)
    if (cx.has_input(i)) cx.set_input(i, TRY(with_signed_order(cx, TRY(cx.input(i)))));
  if (rule.results == Results::kFirst)
    cx.set_finish([&cx, type](size_t i, ValueId value) -> Result<ValueId> {
      if (i > 0) return value;
      cx.set_carried(i, type);
      return with_signed_order(cx, value);
    });
  return import(cx);
}

}  // namespace

Status refuse_carried(const ImportContext& cx) {
  const auto known = first_carried(cx);
  return known ? Status(refusal(cx, *known)) : Status();
}

Status import_by_type(ImportContext& cx, ImportFunction import) {
  if (TRY(import_carried_quantization(cx))) return {};
  const auto known = first_carried(cx);
  if (!known) return import(cx);
  const ElementType type = cx.carried(*known);
  const auto* const rule = std::ranges::find(kRules, cx.def().op_type, &Rule::op_type);
  // ONNX Runtime's tools write 16-bit DequantizeLinear and tables of four bits in their own domain.
  const bool is_known = rule != kRules.end() && (cx.def().domain.empty() || rule->op_type == "DequantizeLinear" ||
                                                 rule->op_type == "GatherBlockQuantized");
  if (!is_known) return refusal(cx, *known);
  if (rule->treatment == Treatment::kKnowsCarriers) return import(cx);
  const auto integer = small_integer(type);
  const bool is_fit = rule->treatment == Treatment::kMoves || (integer && rule->treatment != Treatment::kWrapsTo32) ||
                      (integer && integer->bits <= 32);
  if (!is_fit) return refusal(cx, *known);
  TRY(check_operands(cx, *rule, *known));
  if (rule->treatment == Treatment::kOrders && type == ElementType::kUint64)
    return import_ordered(cx, import, *rule, type);
  const bool wraps = rule->treatment == Treatment::kWraps || rule->treatment == Treatment::kWrapsTo32;
  cx.set_finish([&cx, rule, type, wraps](size_t i, ValueId value) -> Result<ValueId> {
    if (rule->results == Results::kNone || (rule->results == Results::kFirst && i > 0)) return value;
    cx.set_carried(i, type);
    return wraps ? wrapped(cx, value, type) : value;
  });
  return import(cx);
}

}  // namespace kiln::onnx
