#include "plugin/v2_batch.h"

#include <gtest/gtest.h>

namespace kiln::plugin {
namespace {

PluginTensor tensor(Extents extents) { return {.dtype = DType::kF32, .format = Format::linear(), .extents = extents}; }

TEST(V2Batch, IsTheFirstExtentOfAllTensors) {
  const std::vector<PluginTensor> inputs{tensor({2, 3}), tensor({2})}, outputs{tensor({2, 5, 1})};
  const auto batch = batch_of(inputs, outputs);
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ(*batch, 2);
}

/// enqueue is told one batch, so that it would read behind the end of a tensor that has a smaller one.
TEST(V2Batch, OfOneTensorIsNotAnother) {
  const auto error_of = [](std::vector<PluginTensor> inputs, std::vector<PluginTensor> outputs) {
    const auto batch = batch_of(inputs, outputs);
    return batch ? "" : batch.error().message;
  };
  const std::string rule = "; all tensors of an IPluginV2, IPluginV2Ext or IPluginV2IOExt have the same";
  EXPECT_EQ(error_of({tensor({2, 3}), tensor({1, 3})}, {}), "input 1 has a batch of 1 and input 0 of 2" + rule);
  EXPECT_EQ(error_of({tensor({1, 3}), tensor({2, 3})}, {}), "input 1 has a batch of 2 and input 0 of 1" + rule);
  EXPECT_EQ(error_of({tensor({2, 3})}, {tensor({1, 3})}), "output 0 has a batch of 1 and input 0 of 2" + rule);
  EXPECT_EQ(error_of({}, {tensor({1, 3})}), "");
  EXPECT_EQ(error_of({}, {tensor({2, 3})}), "output 0 has a batch of 2 and a plugin without inputs of 1" + rule);
  EXPECT_EQ(error_of({tensor({})}, {}),
            "the first input tells no batch for an IPluginV2, IPluginV2Ext or IPluginV2IOExt");
}

}  // namespace
}  // namespace kiln::plugin
