/// Cases that run by their op's reference though the op has tactics, by name, each with the reason. A line goes when a
/// tactic takes the case: then the tests that read this fail.
#pragma once

#include <map>
#include <string_view>

namespace kiln {

using Reasons = std::map<std::string_view, std::string_view>;

inline const Reasons kCpuByReference{
    {"Dequantize: blocks", "scales of blocks"},
    {"Dequantize: f8", "nests have no f8"},
    {"Dequantize: i4, blocks", "nests have no 4-bit types"},
    {"Gather: batch broadcast", "elementwise axes that broadcast"},
    {"Normalization: group, scale a group", "coefficients of neither the normalised axes nor the channels"},
    {"Normalization: outermost", "not the innermost axes; networks transpose before it"},
    {"Pooling: blend", "maximum and average mixed: TensorRT's alone"},
    {"Quantize: blocks", "scales of blocks"},
    {"Quantize: f4 by e8m0", "nests have no 4-bit types"},
    {"Quantize: f8", "nests have no f8"},
    {"Quantize: i4", "nests have no 4-bit types"},
    {"Recurrence: lstm, weights of the run", "weights are packed when a step is loaded"},
    {"Reduce: sum over no axis", "a copy, which a pass makes of it"},
    {"Reduce: int8, max", "no kernel of 8-bit integers"},
    {"Scatter: bytes, the larger", "no reduction of 8-bit integers"},
};

/// On a GPU of compute capability below 8.9 besides.
inline const Reasons kOldCudaByReference{
    {"Dequantize: f8", "such a GPU converts no f8"},
    {"Quantize: f8", "such a GPU converts no f8"},
};

inline const Reasons kCudaByReference{
    {"Dequantize: blocks", "scales of blocks"},
    {"Dequantize: i4, blocks", "nests have no 4-bit types"},
    {"Gather: batch broadcast", "elementwise axes that broadcast"},
    {"Normalization: group, scale a group", "coefficients of neither the normalised axes nor the channels"},
    {"Normalization: outermost", "not the innermost axes; networks transpose before it"},
    {"Quantize: blocks", "scales of blocks"},
    {"Quantize: f4 by e8m0", "nests have no 4-bit types"},
    {"Quantize: i4", "nests have no 4-bit types"},
    {"Recurrence: lstm, weights of the run", "weights are packed when a step is loaded"},
    {"Resize: bicubic by scales of the run", "tables of taps are made before the run"},
    {"Resize: bilinear crop", "tables of taps are made before the run"},
    {"Resize: cubic along five axes", "kernels have three axes"},
    {"Resize: cubic along more axes than kernels mix", "kernels have three axes"},
    {"Resize: linear, fitted by a scale of the run", "tables of taps are made before the run"},
    {"Resize: nearest crop of bytes", "tables of taps are made before the run"},
    {"Scatter: bytes, the larger", "no reduction of 8-bit integers"},
    {"Unique: rows of many elements", "an element is sorted by at a time, and rows have 17"},
};

/// Cases that no tactic of CUDA's takes as they are: a pass makes others of them first.
inline const Reasons kCudaByPass{
    {"MatrixMultiply: f64", "products and sums, which a pass makes of it"},
    {"MatrixMultiply: f64, both transposed", "products and sums, which a pass makes of it"},
    {"MatrixMultiply: f64, batch, broadcast both ways", "products and sums, which a pass makes of it"},
    {"MatrixMultiply: f64, nothing to sum", "products and sums, which a pass makes of it"},
    {"MatrixMultiply: f64, outer", "products and sums, which a pass makes of it"},
    {"MatrixMultiply: i32", "products and sums, which a pass makes of it"},
    {"MatrixMultiply: i64", "products and sums, which a pass makes of it"},
    {"MatrixMultiply: i64, vectors", "products and sums, which a pass makes of it"},
};

}  // namespace kiln
