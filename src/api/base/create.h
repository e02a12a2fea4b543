/// Checks that begin every exported create function: is there a logger, and do the program's headers fit this library?
#pragma once

#include "api/base/report.h"

namespace kiln::api {

/// Tells on stderr that `call` got no logger.
void tell_without_logger(const char* call) noexcept;

/// The program's logger, remembered as the process's if it is the first; null, after a message, if there is
/// none or if headers of `version` (10.16.0 is 101600) are not for this library: another major version, or newer.
nvinfer1::ILogger* accept_program(void* logger, const char* call, int32_t version) noexcept;

}  // namespace kiln::api
