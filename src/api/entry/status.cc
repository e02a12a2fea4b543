#include "api/entry/status.h"

namespace kiln::api {
namespace {

thread_local std::string last_text;

KilnStatus status_of(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kNotFound: return kKilnBadValue;
    case Code::kUnsupported: return kKilnUnsupported;
    case Code::kState: return kKilnNotPermitted;
    case Code::kOutOfMemory: return kKilnNoMemory;
    default: return kKilnInternal;
  }
}

}  // namespace

const char* last_error_text() { return last_text.c_str(); }

KilnStatus failed(KilnStatus status, std::string_view message) noexcept {
  try {
    last_text = message;
  } catch (...) {  // no memory for the words; the number says enough
    last_text.clear();
  }
  return status;
}

KilnStatus failed(const Error& error) noexcept { return failed(status_of(error.code), error.message); }

}  // namespace kiln::api
