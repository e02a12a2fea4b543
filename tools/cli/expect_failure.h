/// For tests: the message with which something fails.
#pragma once

#include <string>

#include "text.h"

namespace kiln::cli {

template <class F>
std::string failure_of(F run) {
  try {
    run();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "it did not fail";
}

}  // namespace kiln::cli
