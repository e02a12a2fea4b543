/// The name of what runs a step, as the inspector and the log print it.
#pragma once

#include <string>
#include <string_view>

namespace kiln::plan {

/// Programs read lists in which commas stand between the fields, so the name has none; the longest that they have room
/// for is what it is cut to.
std::string kernel_name(std::string_view tactic, std::string_view variant);

}  // namespace kiln::plan
