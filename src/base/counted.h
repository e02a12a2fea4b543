/// Numbers with their nouns.
#pragma once

#include <concepts>

#include "base/str.h"

namespace kiln {

/// "1 layer", "2 layers". The plural of `noun` takes an "s".
std::string counted(std::integral auto count, std::string_view noun) {
  return str(count, ' ', noun, count == 1 ? "" : "s");
}

}  // namespace kiln
