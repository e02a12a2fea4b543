/// The commands of `kiln`.
#pragma once

#include "arguments.h"

namespace kiln {

Status run_dump(const Arguments& arguments);
Status run_profile(const Arguments& arguments);
Status run_run(const Arguments& arguments);
Status run_why(const Arguments& arguments);

}  // namespace kiln
