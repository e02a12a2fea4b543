/// The files that a run is about to write, checked before it takes any time.
#pragma once

#include "options.h"

namespace kiln::cli::trtexec {

/// Fails if two flags name the same file, if a file's folder is missing or may not be written, or if an export would
/// replace a file that is no earlier export of its kind. The plan of --saveEngine may replace any file.
void check_output_files(const Options& options);

}  // namespace kiln::cli::trtexec
