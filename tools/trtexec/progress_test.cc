#include "progress.h"

#include <gtest/gtest.h>

namespace kiln::cli::trtexec {
namespace {

TEST(Progress, InnerPhasesCountWithinAStep) {
  Progress progress;
  progress.start("build", 4);
  progress.complete("build", 1);
  EXPECT_DOUBLE_EQ(progress.share(), 0.25);
  progress.start("tactics", 10);
  progress.complete("tactics", 5);
  EXPECT_DOUBLE_EQ(progress.share(), 0.375);
  EXPECT_EQ(progress.name(), "tactics");
  progress.finish("tactics");
  progress.complete("build", 4);
  EXPECT_DOUBLE_EQ(progress.share(), 1);
  progress.finish("build");
  EXPECT_TRUE(progress.empty());
}

TEST(Progress, PhasesWithoutStepsAndStrayReports) {
  Progress progress;
  progress.finish("never begun");
  progress.start("build", 0);
  progress.complete("other", 3);
  EXPECT_EQ(progress.share(), 0);
}

TEST(Progress, LineSaysHowMuchIsLeft) {
  EXPECT_EQ(progress_line(0.5, 60, "tactics"), "[===============>              ]  50 %  1:00 left  tactics");
  EXPECT_EQ(progress_line(0.9, 90, "x"), "[===========================>  ]  90 %  0:10 left  x");
  EXPECT_EQ(progress_line(0.01, 5, "x"), "[>                             ]   1 %  x");  // too early to tell
  EXPECT_EQ(progress_line(1, 5, "x"), "[==============================] 100 %  0:00 left  x");
}

}  // namespace
}  // namespace kiln::cli::trtexec
