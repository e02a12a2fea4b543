/// A nest program as the text of a device function: what nests and the epilogues of contractions inline.
#pragma once

#include <string>
#include <string_view>

#include "ops/nest_program.h"

namespace kiln::cuda {

/// The points at which results of f16 and bf16 are rounded to their type.
enum class NestRounding : uint8_t {
  kEveryResult,  ///< as the program says
  kStores        ///< only casts and what is stored: what a network that is not strongly typed may do
};

/// `__device__ float NAME(float x0, float x1, ...)` of a program with one output, an argument an input in the
/// program's order. A value is `float` (f32, f16, bf16), `double` (f64), `int64_t` (i64) or `int` (other integers and
/// bool as 0 and 1), for the argument and the result alike; storing it as the output's type rounds what is left. Needs
/// "vocabulary.cuh" included before it, and "nest/doubles.cuh" before that where there is f64. `program` is valid.
std::string nest_device_function(const NestProgram& program, std::string_view name,
                                 NestRounding rounding = NestRounding::kEveryResult);
/// The same with any number of outputs: `__device__ void NAME(float x0, ..., float& y0, ...)`.
std::string nest_device_procedure(const NestProgram& program, std::string_view name, NestRounding rounding);

/// Whether all that it computes ends as a half, and nothing is meant to be a float on the way: its functions may be
/// approximations (KernelSource::quick).
bool only_halves(const NestProgram& program);

/// The headers of a nest's text.
std::string nest_includes(const NestProgram& program);

/// "float", "double", "int64_t" or "int": how kernels hold a value of `type`.
std::string_view register_name(DType type);
/// The type of an element in a kernel's memory: "float", "f16", "boolean". `type` is a nest's.
std::string_view element_name(DType type);

}  // namespace kiln::cuda
