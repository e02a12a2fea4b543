#include "ir/body_role.h"

#include "ops/if.h"
#include "ops/loop.h"

namespace kiln::ir {

std::string body_role(const Node& node, size_t body) {
  if (node.op.as<ops::If>()) return body == 0 ? "branch of true" : "branch of false";
  if (node.op.as<ops::Loop>()) return body == 0 ? "iteration" : "test of the condition";
  return str("body ", body);
}

}  // namespace kiln::ir
