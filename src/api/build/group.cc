#include "api/build/group.h"

#include "api/build/arguments.h"
#include "api/build/network.h"

namespace kiln::api {

bool Group::set_name(const char* name, const char* call) noexcept {
  return guard(network_.reporter(), call, [&]() -> Status {
    name_ = TRY(new_name(name));
    return {};
  });
}

}  // namespace kiln::api
