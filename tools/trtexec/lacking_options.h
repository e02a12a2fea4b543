/// Flags whose values are checked though Kiln lacks what they ask for.
#pragma once

#include "cli/flags.h"

namespace kiln::cli::trtexec {

/// Fails at a flag whose value is wrong or that needs another one which is not given, then at a flag that Kiln has not.
void refuse_lacking_flags(const Arguments& arguments);

}  // namespace kiln::cli::trtexec
