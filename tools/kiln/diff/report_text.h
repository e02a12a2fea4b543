/// A report for a terminal.
#pragma once

#include "kiln/diff/report.h"

namespace kiln::diff {

/// The table, the first tensor outside the tolerance, layers at fault by themselves, overflow, and what cannot be seen;
/// with `all`, every tensor that cannot.
std::string text_of(const Report& report, bool all);

/// "1.2e-05"; "nan" whatever its sign, which says nothing.
std::string number_text(double number, const char* format = "%.3g");
/// What a row of the table says of a tensor beside its numbers: "outside, at fault, run 2 of 5".
std::string notes_of(const TensorDiff& diff);
/// A name, or the end of one that is longer than `most` bytes: names that converters join of many differ there.
std::string short_name(const std::string& name, size_t most);
/// "'y' of step 3 'conv3'", "'y' of 'conv3'", and the body where there is one; with the ends of long names.
std::string place_text(const Spot& spot);
/// The element of a tensor at a row-major position: "[0, 3, 1, 1]".
std::string element_text(int64_t position, const Extents& extents);
/// "0.12 at [0, 3] (1.2 instead of 1.08), 0.034 of the largest": how far a tensor is off.
std::string error_text(const Errors& errors, const Extents& extents);
/// Who is at fault for a tensor that is outside of the tolerance by its own error: its step or, where b had no tensor
/// to feed it with, a step before.
std::string fault_text(const TensorDiff& faulty);
/// What was left out though both have it, and why: no finite numbers, no memory; empty: nothing was.
std::string missing_text(const Report& report);
/// "12 numbers of the 480 are beyond FP16, the largest 131072 at [0, 3]"; empty: no number overflowed.
std::string overflow_text(const TensorDiff& diff);

}  // namespace kiln::diff
