/// JSON written piece by piece; nothing that needs a library.
#pragma once

#include <string>
#include <string_view>

namespace kiln::cli {

/// The text in double quotes, with what JSON wants escaped.
std::string json_string(std::string_view text);

/// The fewest digits that read back as the same number. NaN and infinities as JavaScript and Python have them: "NaN",
/// "Infinity", "-Infinity".
std::string json_number(double number);
std::string json_number(float number);

}  // namespace kiln::cli
