/// Times in messages.
#pragma once

#include <cmath>
#include <string>

#include "base/str.h"

namespace kiln {

/// "12.345 us". Clocks tell no more than nanoseconds; averages of their times have digits without end.
inline std::string us_text(double time_us) { return str(std::round(time_us * 1e3) / 1e3, " us"); }

}  // namespace kiln
