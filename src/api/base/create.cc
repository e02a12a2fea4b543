#include "api/base/create.h"

#include <cstdio>

namespace kiln::api {

void tell_without_logger(const char* call) noexcept { std::fprintf(stderr, "%s: the logger is null\n", call); }

nvinfer1::ILogger* accept_program(void* logger, const char* call, int32_t version) noexcept {
  if (!logger) return tell_without_logger(call), nullptr;
  auto& program = *static_cast<nvinfer1::ILogger*>(logger);
  if (version / 10000 == NV_TENSORRT_VERSION / 10000 && version <= NV_TENSORRT_VERSION) {
    remember_logger(program);
    return &program;
  }
  const Reporter reporter(program);
  reporter.report(call, Error{Code::kVersion, str("the program was compiled for version ", version,
                                                  ", this library is version ", NV_TENSORRT_VERSION)});
  return nullptr;
}

}  // namespace kiln::api
