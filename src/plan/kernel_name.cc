#include "plan/kernel_name.h"

#include <algorithm>

namespace kiln::plan {

std::string kernel_name(std::string_view tactic, std::string_view variant) {
  constexpr size_t kMost = 127;
  std::string name(tactic);
  if (!variant.empty()) name.append(": ").append(variant);
  std::ranges::replace(name, ',', ';');
  return name.substr(0, kMost);
}

}  // namespace kiln::plan
