#include <gtest/gtest.h>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using nv::BuilderFlag;

struct OneLayer : Workbench {
  OneLayer() : layer((*this)->addIdentity(*input("x", {2}))) { mark(layer->getOutput(0)); }
  bool builds() {
    return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config)) != nullptr;
  }
  std::string error_of_build() {
    EXPECT_FALSE(builds());
    return take_error();
  }
  std::vector<std::string> warnings_of_build() {
    logger.warnings.clear();
    EXPECT_TRUE(builds());
    return logger.warnings;
  }
  nv::ILayer* const layer;
};
using Texts = std::vector<std::string>;

TEST(MissingChoices, WhatChangesThePlanIsAnError) {
  OneLayer w;
  w.config->setFlag(BuilderFlag::kVERSION_COMPATIBLE);
  EXPECT_EQ(w.error_of_build(),
            "IBuilder::buildSerializedNetwork: BuilderFlag::kVERSION_COMPATIBLE is not in Kiln yet");
}

TEST(MissingChoices, WhatWasAllowedOrPreferredIsAWarning) {
  OneLayer w;
  EXPECT_EQ(w.warnings_of_build(), Texts());
  for (const BuilderFlag flag : {BuilderFlag::kINT8, BuilderFlag::kFP8, BuilderFlag::kSTRICT_NANS})
    w.config->setFlag(flag);
  w.config->setMaxNbTactics(3);
  EXPECT_EQ(w.warnings_of_build(),
            (Texts{"BuilderFlag::kINT8 is not in Kiln yet: layers compute in wider types",
                   "BuilderFlag::kFP8 is not in Kiln yet: layers compute in wider types",
                   "BuilderFlag::kSTRICT_NANS is not in Kiln yet: infinities and not-a-number may spread further than "
                   "IEEE has it",
                   "setMaxNbTactics is not in Kiln yet; setBuilderOptimizationLevel says how much is tried"}));
}

TEST(MissingChoices, PreferredPrecisionsAreAWarning) {
  OneLayer w;
  w.config->setFlag(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
  EXPECT_EQ(w.warnings_of_build(), Texts());
  w.layer->setName("first");
  w.layer->setPrecision(nv::DataType::kHALF);
  EXPECT_EQ(
      w.warnings_of_build(),
      (Texts{"setPrecision (of layer 'first', for example) is ignored: Kiln chooses the types of layers itself"}));
}

}  // namespace
}  // namespace kiln::api::testing
