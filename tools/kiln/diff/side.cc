#include "kiln/diff/side.h"

namespace kiln::diff {

const std::string& Spot::name() const { return names.empty() || names[0].empty() ? layer : names[0]; }

}  // namespace kiln::diff
