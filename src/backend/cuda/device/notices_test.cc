#include "backend/cuda/device/notices.h"

#include <gtest/gtest.h>

namespace kiln::cuda {
namespace {

/// A program's logger, which is told of something while it is told of something, and asks what else there is.
class Talkative final : public Log {
 public:
  explicit Talkative(Notices& notices) : notices_(notices) {}
  void write(Severity, std::string_view text) override {
    lines.emplace_back(text);
    if (lines.size() > 1) return;
    notices_.add(Severity::kInfo, "third");
    notices_.say(*this);
  }
  std::vector<std::string> lines;

 private:
  Notices& notices_;
};

TEST(Notices, AreSaidOnceWithNothingLocked) {
  Notices notices;
  notices.add(Severity::kWarning, "first");
  notices.add(Severity::kInfo, "second");
  notices.add(Severity::kWarning, "first");
  Talkative log(notices);
  notices.say(log);
  EXPECT_EQ(log.lines, std::vector<std::string>({"first", "third", "second"}));
  notices.say(log);
  EXPECT_EQ(log.lines.size(), 3u);
}

}  // namespace
}  // namespace kiln::cuda
