#include "library/guard.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace kiln::plugins {
namespace {

struct Listener final : nv::ILogger {
  void log(Severity severity, const char* text) noexcept override {
    if (severity == Severity::kERROR) said = text;
  }
  std::string said;
};

/// What a call of Clip_TRT's tells that ends by `body`.
template <class F>
std::string told_of(F body) {
  Listener listener;
  set_logger(&listener);
  const Definition definition{.name = "Clip_TRT", .version = "1"};
  EXPECT_EQ(guarded(definition, "enqueue", 7, body), 7);
  set_logger(nullptr);
  return listener.said;
}

TEST(Guarded, FailuresAndExceptionsNameThePluginAndTheCall) {
  EXPECT_EQ(told_of([]() -> Result<int> { return error(Code::kDevice, "no device"); }),
            "Clip_TRT version 1: enqueue: no device");
  EXPECT_EQ(told_of([]() -> Result<int> { throw std::runtime_error("no luck"); }),
            "Clip_TRT version 1: enqueue: no luck");
  EXPECT_EQ(told_of([]() -> Result<int> { throw 5; }),
            "Clip_TRT version 1: enqueue: an exception that is no std::exception was thrown");
}

}  // namespace
}  // namespace kiln::plugins
