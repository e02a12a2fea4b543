/// The commands of `kiln`. The first operand is the command's name. Some failures are thrown: cli::Failure.
#pragma once

#include <span>

#include "base/error.h"
#include "cli/flags.h"

namespace kiln {

/// Thrown by a command whose answer is the exit status of the program: it has printed what there is to say.
struct Exit {
  int status;
};

/// Exits with 2 where the two differ by more than the tolerance, with 3 where they do not as far as they could be
/// compared, but tensors were left out for want of memory or of finite numbers.
Status run_diff(const cli::Arguments& arguments);
Status run_dump(const cli::Arguments& arguments);
Status run_profile(const cli::Arguments& arguments);
Status run_run(const cli::Arguments& arguments);
Status run_show(const cli::Arguments& arguments);
Status run_why(const cli::Arguments& arguments);

/// Runs the server with its own flags. Does not return where that succeeds: the server takes the process's place.
Status run_serve(std::span<const char* const> words);

}  // namespace kiln
