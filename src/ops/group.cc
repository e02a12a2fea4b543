#include "ops/group.h"

namespace kiln {

Status boundary_has_no_reference(std::string_view op) {
  return error(Code::kInternal, op, " is a boundary of a group, which runs as a whole");
}

}  // namespace kiln
