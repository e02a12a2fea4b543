#include "backend/cuda/compile/gemm/epilogue.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "backend/cuda/compile/nest/function.h"
#include "ops/quantization.h"

namespace kiln::cuda {
namespace {

using steps::ByteOperand;
using steps::HookOperand;

/// `value` rounded to a float.
std::string literal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9e", static_cast<double>(static_cast<float>(value)));
  return str(text, "f");
}

/// Operands of one reach, as text: where they are kept, and how they get there; by way of shared memory, where they
/// take `bytes` a thread.
struct Fetches {
  std::string members, loads, copies, takes, bytes = "0";
};

/// A kernel's work on its operands, as text: what it loads, and how x becomes y.
struct EpilogueText {
  Fetches whole, channels, scalars;
  std::string once, steps;

  /// Operand `i`; the result is what it is called in the steps.
  std::string read(size_t i, DType type, HookOperand reach) {
    switch (reach) {
      case HookOperand::kScalar: return str(add(scalars, "scalars", i, type, "1", ""), "[0]");
      case HookOperand::kWhole: return str(add(whole, "whole", i, type, "V", " + index"), "[v]");
      default: return str(add(channels, "channels", i, type, "V", " + column"), "[v]");
    }
  }

 private:
  static std::string add(Fetches& to, std::string_view kind, size_t i, DType type, std::string_view length,
                         std::string_view place) {
    const std::string_view element = element_name(type);
    const std::string fetched = str("Fetched<", element, ", ", length, ">"),
                      from = str("static_cast<const ", element, "*>(from.operand[", i, "])", place);
    to.members += str("    ", fetched, " x", i, ";\n");
    to.loads += str("      x", i, ".fetch(", from, ");\n");
    to.copies += str("      ", fetched, "::template copy<kStep>(", from, ", to + (", to.bytes, ") / 16 * kStep);\n");
    to.takes += str("      x", i, ".template take<kStep>(from + (", to.bytes, ") / 16 * kStep);\n");
    to.bytes += str(" + ", fetched, "::kHeld");
    return str(kind, ".x", i);
  }

 public:
  /// Makes numbers of sums of bytes, whose operands begin at `first`.
  void dequantize(const ByteScales& scales, size_t first) {
    const auto at = [&](ByteOperand operand) { return first + static_cast<size_t>(operand); };
    if (scales.corrected)
      steps += str("        y -= ", read(at(ByteOperand::kXZero), DType::kF32, HookOperand::kChannel), ";\n");
    if (scales.x_scale)
      steps += str("        y *= ", read(at(ByteOperand::kXScale), *scales.x_scale, HookOperand::kScalar), ";\n");
    const HookOperand reach = scales.w_by_channel ? HookOperand::kChannel : HookOperand::kScalar;
    steps += str("        y *= ", read(at(ByteOperand::kWScale), scales.w_scale, reach), ";\n");
  }
  /// Makes what is stored as bytes of numbers: storing rounds and saturates.
  void quantize(const ByteScales& scales, size_t first) {
    const auto at = [&](ByteOperand operand) { return first + static_cast<size_t>(operand); };
    std::string zero;
    if (scales.y_by_value) {
      scalars.members += "    float inverse, zero;\n";
      scalars.loads += "      inverse = from.y_inverse;\n      zero = from.y_zero;\n";
      once = "      const float inverse = scalars.inverse;\n";
      if (scales.y_shifted) zero = "scalars.zero";
    } else if (scales.y_scale) {
      once = str("      const float inverse = __frcp_rn(",
                 read(at(ByteOperand::kYScale), *scales.y_scale, HookOperand::kScalar), ");\n");
      if (scales.y_zero) zero = read(at(ByteOperand::kYZero), *scales.y_zero, HookOperand::kScalar);
    } else {
      return;
    }
    steps += "        y *= inverse;\n";
    // A whole number more does not change how the rest is rounded, but for what is half way between two.
    if (!zero.empty()) steps += str("        y = rintf(y) + ", zero, ";\n");
  }
};

/// The program with bytes that it only converts to FP32 as FP32, in which their numbers are the same.
NestProgram with_floats(NestProgram program) {
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const auto reads = [&](const NestInstruction& at) {
      return std::ranges::count(at.operands(), ~static_cast<int>(i)) > 0;
    };
    const bool is_converted = std::ranges::all_of(program.code, [&](const NestInstruction& at) {
      return !reads(at) || (at.fn == ScalarFn::kCast && at.result == DType::kF32);
    });
    if (!is_byte(program.inputs[i]) || !is_converted) continue;
    program.inputs[i] = DType::kF32;
    for (NestInstruction& at : program.code)
      if (reads(at)) at.type = DType::kF32;
  }
  return program;
}

/// A struct of operands of one reach; `place` is the parameter by which they are found.
std::string fetched(std::string_view head, std::string_view name, std::string_view place, const Fetches& of,
                    std::string_view more = "") {
  return str(head, "  struct ", name, " {\n", of.members,
             "    __device__ __forceinline__ void fetch(const Epilogue& from", place.empty() ? "" : ", ", place,
             ") {\n", of.loads, "    }\n", more, "  };\n");
}
/// How the same is copied to shared memory first, kStep bytes from piece to piece of 16.
std::string by_way_of_shared(const Fetches& of) {
  return str("    static constexpr int kBytes = ", of.bytes, ";\n", R"(    template <int kStep>
    static __device__ __forceinline__ void copy(const Epilogue& from, long long index, unsigned to) {
)",
             of.copies, R"(    }
    template <int kStep>
    __device__ __forceinline__ void take(unsigned from) {
)",
             of.takes, "    }\n");
}

}  // namespace

bool is_quick(const Epilogue& epilogue) { return epilogue.hook && only_halves(epilogue.hook->program); }

std::string epilogue_source(const Epilogue& epilogue, const std::optional<ByteScales>& scales) {
  std::string text = "#include \"gemm/vectors.cuh\"\n";
  if (epilogue.hook) text += "#include \"vocabulary.cuh\"\n";
  text += "namespace kiln {\n";
  if (epilogue.hook)
    text += nest_device_function(with_floats(epilogue.hook->program), "epilogue_hook", NestRounding::kStores);
  EpilogueText of;
  const size_t first_of_bytes = EpilogueArguments::kFixed + (epilogue.hook ? epilogue.hook->operands.size() : 0);
  if (scales) of.dequantize(*scales, first_of_bytes);
  if (epilogue.bias) of.steps += str("        y += ", of.read(0, *epilogue.bias, HookOperand::kChannel), ";\n");
  if (epilogue.residual) of.steps += str("        y += ", of.read(1, *epilogue.residual, HookOperand::kWhole), ";\n");
  if (std::isfinite(epilogue.lo)) of.steps += str("        y = greater(y, ", literal(epilogue.lo), ");\n");
  if (std::isfinite(epilogue.hi)) of.steps += str("        y = lesser(y, ", literal(epilogue.hi), ");\n");
  if (epilogue.hook) {
    std::string arguments;
    for (size_t i = 0; i < epilogue.hook->operands.size(); ++i)
      arguments += str(", ", of.read(EpilogueArguments::kFixed + i, epilogue.hook->program.inputs[i + 1],
                                     epilogue.hook->operands[i]));
    of.steps += str("        y = epilogue_hook(y", arguments, ");\n");
  }
  if (scales) of.quantize(*scales, first_of_bytes);
  const bool by_channel = scales && scales->w_by_channel;
  text += str("struct Epilogue {\n  using Bias = ", epilogue.bias ? element_name(*epilogue.bias) : "void",
              ";\n  using Scale = ", by_channel ? element_name(scales->w_scale) : "void",
              ";\n  static constexpr int kScale = ", first_of_bytes + static_cast<size_t>(ByteOperand::kWScale),
              ";\n  const void* operand[", EpilogueArguments::kMost, "];\n  float y_inverse, y_zero;\n\n",
              "  /// What V results read: an element each, one of their channel, and what is the same for all.\n",
              fetched("  template <int V>\n", "Whole", "long long index", of.whole, by_way_of_shared(of.whole)),
              fetched("  template <int V>\n", "Channels", "int column", of.channels),
              fetched("", "Scalars", "", of.scalars), R"(  template <int V>
  static __device__ __forceinline__ void apply(float (&x)[V], const Whole<V>& whole, const Channels<V>& channels,
                                               const Scalars& scalars) {
)",
              of.once, "#pragma unroll\n    for (int v = 0; v < V; ++v) {\n        float y = x[v];\n", of.steps,
              R"(        x[v] = y;
    }
  }
  /// All of it; fetched while the sums are still in the making.
  template <int V>
  struct Operands {
    Whole<V> whole;
    Channels<V> channels;
    Scalars scalars;
    __device__ __forceinline__ void fetch(const Epilogue& from, long long index, int column) {
      whole.fetch(from, index);
      channels.fetch(from, column);
      scalars.fetch(from);
    }
    __device__ __forceinline__ void apply(float (&x)[V]) const { Epilogue::apply(x, whole, channels, scalars); }
  };
  template <int V>
  __device__ __forceinline__ void apply(float (&x)[V], long long index, int column) const {
    Operands<V> operands;
    operands.fetch(*this, index, column);
    operands.apply(x);
  }
};
}  // namespace kiln
)");
  return text;
}

}  // namespace kiln::cuda
