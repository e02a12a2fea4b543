/// A report for programs.
#pragma once

#include "kiln/diff/report.h"

namespace kiln::diff {

/// One JSON object; docs/tools.md lists its fields. Numbers that are not finite are as Python's json writes them.
std::string json_of(const Report& report);

}  // namespace kiln::diff
