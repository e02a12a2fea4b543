#include "base/error.h"

namespace kiln {

std::string_view name_of(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return "invalid argument";
    case Code::kUnsupported: return "unsupported";
    case Code::kCorrupt: return "corrupt";
    case Code::kVersion: return "version";
    case Code::kNotFound: return "not found";
    case Code::kState: return "state";
    case Code::kOutOfMemory: return "out of memory";
    case Code::kIo: return "input/output";
    case Code::kDevice: return "device";
    case Code::kInternal: return "internal";
  }
  return "unknown";
}

void check_failed(const char* condition, const char* file, int line) {
  throw CheckFailed{str("internal error: ", condition, " does not hold at ", file, ":", line)};
}

}  // namespace kiln
