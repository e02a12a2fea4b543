/// A report as a page: a picture of the errors by layer, and the table.
#pragma once

#include "kiln/diff/report.h"

namespace kiln::diff {

// How a page of ours begins, and what it has, without spaces.
inline constexpr std::string_view kPageBegins = "<!doctypehtml>", kPageHas = "<title>kilndiff";

/// One HTML file without scripts that needs no network. Names are escaped.
std::string page_of(const Report& report);

}  // namespace kiln::diff
