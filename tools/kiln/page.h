/// The page of `kiln show`: one HTML file that holds a picture, and all that draws it. It asks no network.
#pragma once

#include <string>
#include <string_view>

#include "picture.h"

namespace kiln {

/// Without spaces: how such a page begins, and what it has somewhere.
inline constexpr std::string_view kPageBegins = "<!doctypehtml><!--kilnshow-->", kPageHas = "id=\"picture\"";

/// The whole file. Texts of the picture never become markup.
std::string make_page(const Picture& picture);

/// A text in which "{{title}}", "{{picture}}" and the other parts of a page stand for themselves; names of no part stay
/// as they are.
std::string fill_frame(std::string_view frame, const Picture& picture);

}  // namespace kiln
