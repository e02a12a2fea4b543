/// JSON written piece by piece; nothing that needs a library.
#pragma once

#include <string>
#include <string_view>

namespace kiln::cli {

/// The text in double quotes, with what JSON wants escaped.
std::string json_string(std::string_view text);

/// The fewest digits that read back as the same number; NaN, Infinity or -Infinity.
std::string number_text(double number);
std::string number_text(float number);

/// The same as a value of JSON, which has numbers for finite ones alone: the others are texts, "NaN", "Infinity" and
/// "-Infinity", that Python's float and JavaScript's Number read.
std::string json_number(double number);
std::string json_number(float number);

}  // namespace kiln::cli
