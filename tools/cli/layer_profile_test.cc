#include "layer_profile.h"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

TEST(LayerProfile, CountsQueriesByTheirFirstLayer) {
  LayerProfile profile;
  for (float ms : {1.0f, 3.0f}) {
    profile.reportLayerTime("conv", ms);
    profile.reportLayerTime("\"relu\"", 2 * ms);
  }
  EXPECT_EQ(profile.num_queries(), 2);
  ASSERT_EQ(profile.layers().size(), 2u);
  EXPECT_EQ(profile.layers()[0].total_ms(), 4);
  EXPECT_EQ(profile.json(),
            "[\n  { \"count\" : 2 }\n"
            ", { \"name\" : \"conv\", \"timeMs\" : 4, \"averageMs\" : 2, \"medianMs\" : 2, \"percentage\" : "
            "33.333333333333336 }\n"
            ", { \"name\" : \"\\\"relu\\\"\", \"timeMs\" : 8, \"averageMs\" : 4, \"medianMs\" : 4, \"percentage\" : "
            "66.66666666666667 }\n]\n");
}

TEST(LayerProfile, LayersThatOnlySomeQueriesRun) {
  LayerProfile profile;
  for (const char* name : {"a", "b", "a", "c", "b"}) profile.reportLayerTime(name, 1);
  ASSERT_EQ(profile.layers().size(), 3u);
  EXPECT_EQ(profile.num_queries(), 2);
  EXPECT_EQ(profile.layers()[1].times_ms.size(), 2u);  // b
  EXPECT_EQ(profile.layers()[2].times_ms.size(), 1u);  // c
}

}  // namespace
}  // namespace kiln::cli
