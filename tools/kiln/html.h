/// Texts within HTML.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

/// The text as HTML shows it, in an element or in an attribute in quotes. Characters that no document may have become
/// question marks.
std::string html_text(std::string_view text);

}  // namespace kiln
