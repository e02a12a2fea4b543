/// Options of a build, from the command line.
#pragma once

#include "options.h"

namespace kiln::cli::trtexec {

/// All but shapes. Fails with the flag's name and what is wrong with it; adds what does nothing to `warnings`.
BuildOptions read_build(const Arguments& arguments, std::vector<std::string>& warnings);

}  // namespace kiln::cli::trtexec
