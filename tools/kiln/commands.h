/// The commands of `kiln`. The first operand is the command's name. Some failures are thrown: cli::Failure.
#pragma once

#include "base/error.h"
#include "cli/flags.h"

namespace kiln {

Status run_dump(const cli::Arguments& arguments);
Status run_profile(const cli::Arguments& arguments);
Status run_run(const cli::Arguments& arguments);
Status run_why(const cli::Arguments& arguments);

}  // namespace kiln
