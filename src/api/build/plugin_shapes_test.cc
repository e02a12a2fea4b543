// Each operation of IExprBuilder on extents that are known when the network is written.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/build/testing/workbench.h"
#include "api/run/testing/logged_plugins.h"

namespace kiln::api {
namespace {

using testing::list;
using testing::PluginLog;
using testing::Workbench;
namespace nv = nvinfer1;
using Operation = nv::DimensionOperation;

/// Of x[a, b]: y[a op b] of ones.
class OperationPlugin final : public testing::LoggedPlugin {
 public:
  OperationPlugin(PluginLog& log, Operation operation) : LoggedPlugin(log, "TestOperation"), operation_(operation) {}
  nv::IPluginV3* clone() noexcept override { return new OperationPlugin(*this); }
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t, const nv::DataType* in, int32_t) const noexcept override {
    out[0] = in[0];
    return 0;
  }
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs*, int32_t, nv::DimsExprs* out, int32_t,
                          nv::IExprBuilder& builder) noexcept override {
    out[0].nbDims = 1;
    out[0].d[0] = builder.operation(operation_, *in[0].d[0], *in[0].d[1]);
    return 0;
  }
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t,
                                 int32_t) noexcept override {
    return tensors[position].desc.format == nv::TensorFormat::kLINEAR;
  }
  int32_t enqueue(const nv::PluginTensorDesc*, const nv::PluginTensorDesc* out_desc, const void* const*,
                  void* const* out, void*, cudaStream_t) noexcept override {
    std::fill_n(static_cast<float*>(out[0]), out_desc[0].dims.d[0], 1.0f);
    return 0;
  }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return nullptr; }

 private:
  const Operation operation_;
};

struct OperationCase {
  Operation operation;
  int64_t of_7_and_2, of_2_and_2;
};
constexpr OperationCase kCases[] = {
    {Operation::kSUM, 9, 4},  {Operation::kPROD, 14, 4},     {Operation::kMAX, 7, 2},
    {Operation::kMIN, 2, 2},  {Operation::kSUB, 5, 0},       {Operation::kEQUAL, 0, 1},
    {Operation::kLESS, 0, 0}, {Operation::kFLOOR_DIV, 3, 1}, {Operation::kCEIL_DIV, 4, 1}};

TEST(PluginShapes, OperationsOfKnownExtents) {
  PluginLog log;
  for (const OperationCase& c : kCases)
    for (const bool is_first : {true, false}) {
      Workbench w;
      nv::ITensor* x = w.input("x", {is_first ? 7 : 2, 2});
      OperationPlugin plugin(log, c.operation);
      nv::IPluginV3Layer* layer = w->addPluginV3(&x, 1, nullptr, 0, plugin);
      ASSERT_TRUE(layer) << w.take_error();
      EXPECT_EQ(list(layer->getOutput(0)->getDimensions()),
                std::vector<int64_t>{is_first ? c.of_7_and_2 : c.of_2_and_2})
          << static_cast<int>(c.operation);
    }
}

TEST(PluginShapes, LessIsOneWhereItHolds) {
  PluginLog log;
  Workbench w;
  nv::ITensor* x = w.input("x", {2, 7});
  OperationPlugin plugin(log, Operation::kLESS);
  nv::IPluginV3Layer* layer = w->addPluginV3(&x, 1, nullptr, 0, plugin);
  ASSERT_TRUE(layer) << w.take_error();
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), std::vector<int64_t>{1});
}

}  // namespace
}  // namespace kiln::api
