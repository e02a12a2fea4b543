#include "backend/cpu/tactics/registry.h"

#include <gtest/gtest.h>

namespace kiln::cpu {
namespace {

TEST(CpuTactics, EveryTacticHasAName) {
  for (const OpInfo* op : all_ops())
    for (const Tactic* tactic : tactics_for(*op)) EXPECT_FALSE(tactic->name().empty()) << op->name;
}

}  // namespace
}  // namespace kiln::cpu
