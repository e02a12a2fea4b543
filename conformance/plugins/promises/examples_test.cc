// Plugins of the kinds that the guides and public samples show, written anew: padding to 32x32, an output whose extents
// come from a shape input, a shape and data, circular padding with tactics, and the places of what is not zero.
#include <algorithm>
#include <numeric>

#include "program.h"

namespace kiln::promises {
namespace {

using Floats = std::vector<float>;
using Operation = nv::DimensionOperation;

const float* input(const Enqueue& e) { return static_cast<const float*>(e.inputs[0]); }
float* output(const Enqueue& e) { return static_cast<float*>(e.outputs[0]); }

/// [b, c, h, w] -> [b, c, 32, 32], zeros behind the image.
Behaviour padding_to_32() {
  Behaviour b;
  b.name = "PadTo32";
  b.shapes = [](const nv::DimsExprs* in, const nv::DimsExprs*, nv::DimsExprs* out, nv::IExprBuilder& e) {
    out[0] = in[0];
    out[0].d[2] = out[0].d[3] = e.constant(32);
  };
  b.run = [](const Enqueue& e) {
    const int64_t h = e.in[0].dims.d[2], w = e.in[0].dims.d[3], planes = e.in[0].dims.d[0] * e.in[0].dims.d[1];
    std::fill_n(output(e), planes * 32 * 32, 0.0f);
    for (int64_t p = 0; p < planes; ++p)
      for (int64_t y = 0; y < h; ++y) std::copy_n(input(e) + (p * h + y) * w, w, output(e) + (p * 32 + y) * 32);
    return 0;
  };
  return b;
}

TEST_F(Promises, PaddingToAFixedSize) {
  Program p(padding_to_32());
  nv::IPluginV3Layer* layer = p.chain({-1, 2, -1, -1});
  ASSERT_TRUE(layer);
  EXPECT_EQ(text(layer->getOutput(0)->getDimensions()), "-1x2x32x32");
  p.profile("x", {1, 2, 1, 1}, {1, 2, 8, 8}, {2, 2, 32, 32});
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  for (const auto& [b, h, w] : {std::array<int64_t, 3>{1, 3, 2}, {2, 32, 32}, {2, 1, 5}}) {
    Floats x(static_cast<size_t>(b * 2 * h * w)), y(static_cast<size_t>(b) * 2 * 32 * 32, -1);
    std::iota(x.begin(), x.end(), 1.0f);
    ASSERT_TRUE(loaded->context->setInputShape("x", dims({b, 2, h, w})));
    loaded->set("x", x), loaded->set("y", y);
    ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
    EXPECT_EQ(y[static_cast<size_t>(w - 1)], static_cast<float>(w));
    EXPECT_EQ(std::accumulate(y.begin(), y.end(), 0.0), std::accumulate(x.begin(), x.end(), 0.0));
  }
}

/// What a run gives an output whose size data decides.
struct Taken final : nv::IOutputAllocator {
  void* reallocateOutputAsync(const char*, void*, uint64_t size, uint64_t, cudaStream_t) override {
    memory.resize(std::max<size_t>(size, 1));
    return memory.data();
  }
  void notifyShape(const char*, const nv::Dims& dims) noexcept override { shape = dims; }
  std::vector<std::byte> memory;
  nv::Dims shape{};
};

/// y[s, 3, extent 0 of x, k]: k is how many elements of a plane of x are above 0.
Behaviour bar(nv::DataType size_type) {
  Behaviour b;
  b.name = "Bar";
  b.num_outputs = 2;
  b.type = [=](int32_t i, const nv::DataType* in) { return i == 0 ? in[0] : size_type; };
  b.takes = [=](int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t) {
    const nv::PluginTensorDesc& desc = tensors[position].desc;
    return desc.format == nv::TensorFormat::kLINEAR && desc.type == (position == 2 ? size_type : nv::DataType::kFLOAT);
  };
  b.shapes = [](const nv::DimsExprs* in, const nv::DimsExprs* shapes, nv::DimsExprs* out, nv::IExprBuilder& e) {
    out[0].nbDims = 4;
    out[0].d[0] = shapes[0].d[0];
    out[0].d[1] = e.constant(3);
    out[0].d[2] = in[0].d[0];
    const auto* most = e.operation(Operation::kPROD, *in[0].d[2], *in[0].d[3]);
    const auto* best = e.operation(Operation::kFLOOR_DIV, *most, *e.constant(2));
    out[1].nbDims = 0;
    out[0].d[3] = e.declareSizeTensor(1, *best, *most);
  };
  b.run = [=](const Enqueue& e) {
    const int64_t plane = e.in[0].dims.d[2] * e.in[0].dims.d[3];
    const int64_t found = std::count_if(input(e), input(e) + plane, [](float v) { return v > 0; });
    const int64_t rows = e.out[0].dims.d[0] * e.out[0].dims.d[1] * e.out[0].dims.d[2];
    if (e.out[0].dims.d[3] != -1) return 1;  // data decides it
    std::fill_n(output(e), rows * found, 6.0f);
    if (size_type == nv::DataType::kINT32) *static_cast<int32_t*>(e.outputs[1]) = static_cast<int32_t>(found);
    if (size_type == nv::DataType::kINT64) *static_cast<int64_t*>(e.outputs[1]) = found;
    return 0;
  };
  return b;
}

struct SizeRow {
  const char* name;
  nv::DataType type;
};
void PrintTo(const SizeRow& row, std::ostream* to) { *to << row.name; }
constexpr SizeRow kSizes[] = {{"Int32", nv::DataType::kINT32}, {"Int64", nv::DataType::kINT64}};
class DecidedSizes : public PromiseTable<SizeRow> {};
TEST_P(DecidedSizes, ComeFromShapeInputsShapesAndData) {
  Program p(bar(GetParam().type));
  nv::ITensor* s = p.input("s", {1}, nv::DataType::kINT64);
  nv::IPluginV3Layer* layer = p.add({p.input("x", {2, 1, 2, 3})}, {s});
  ASSERT_TRUE(layer) << p.logger.take_errors();
  p.mark(layer->getOutput(0));
  nv::IOptimizationProfile* profile = p.builder->createOptimizationProfile();
  const int64_t one = 1, two = 2, four = 4;
  ASSERT_TRUE(profile->setShapeValuesV2("s", nv::OptProfileSelector::kMIN, &one, 1) &&
              profile->setShapeValuesV2("s", nv::OptProfileSelector::kOPT, &two, 1) &&
              profile->setShapeValuesV2("s", nv::OptProfileSelector::kMAX, &four, 1));
  p.config->addOptimizationProfile(profile);
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Taken y;
  std::vector<int64_t> extent{2};
  loaded->set("s", extent);
  ASSERT_TRUE(loaded->context->setOutputAllocator("y", &y));
  for (const Floats& plane : {Floats{1, 0, 2, -1, 0, 0}, Floats{1, 1, 1, 1, 1, 1}, Floats{0, 0, 0, 0, 0, 5}}) {
    Floats x = plane;
    x.resize(12);
    loaded->set("x", x);
    ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
    const auto found = std::count_if(plane.begin(), plane.end(), [](float v) { return v > 0; });
    EXPECT_EQ(text(y.shape), "2x3x2x" + std::to_string(found));
    EXPECT_EQ(reinterpret_cast<const float*>(y.memory.data())[12 * found - 1], 6);
  }
}
TEST_P(DecidedSizes, BelowZeroAreErrors) {
  Program p(bar(GetParam().type));
  p.behaviour.run = [](const Enqueue& e) {
    *static_cast<int32_t*>(e.outputs[1]) = -1;
    if (GetParam().type == nv::DataType::kINT64) *static_cast<int64_t*>(e.outputs[1]) = -1;
    return 0;
  };
  const int64_t two = 2;
  nv::ITensor* s = p.network->addConstant(dims({1}), {nv::DataType::kINT64, &two, 1})->getOutput(0);
  nv::IPluginV3Layer* layer = p.add({p.input("x", {2, 1, 2, 3})}, {s});
  ASSERT_TRUE(layer) << p.logger.take_errors();
  p.mark(layer->getOutput(0));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Taken y;
  Floats x(12);
  loaded->set("x", x);
  ASSERT_TRUE(loaded->context->setOutputAllocator("y", &y));
  EXPECT_FALSE(loaded->run());
  EXPECT_TRUE(has(p.logger.take_errors(), "decided -1 for"));
}
INSTANTIATE_TEST_SUITE_P(Promises, DecidedSizes, ::testing::ValuesIn(kSizes),
                         [](const auto& info) { return row_name(info); });

/// [c, h, w], two tactics that do the same; padded around by 1 with the opposite edge.
Behaviour circular_padding() {
  Behaviour b;
  b.name = "CircularPad";
  b.tactics = {1, 2};
  b.timing_id = "circular pad 1,1,1,1";
  b.fields = {{"pads", nv::PluginFieldType::kINT32, 1, {std::byte{1}, {}, {}, {}}}};
  b.shapes = [](const nv::DimsExprs* in, const nv::DimsExprs*, nv::DimsExprs* out, nv::IExprBuilder& e) {
    out[0] = in[0];
    for (int axis : {1, 2}) out[0].d[axis] = e.operation(Operation::kSUM, *in[0].d[axis], *e.constant(2));
  };
  b.run = [](const Enqueue& e) {
    if (e.tactic != 1 && e.tactic != 2) return 1;
    const int64_t c = e.in[0].dims.d[0], h = e.in[0].dims.d[1], w = e.in[0].dims.d[2];
    for (int64_t i = 0; i < c; ++i)
      for (int64_t y = 0; y < h + 2; ++y)
        for (int64_t x = 0; x < w + 2; ++x)
          output(e)[(i * (h + 2) + y) * (w + 2) + x] = input(e)[(i * h + (y + h - 1) % h) * w + (x + w - 1) % w];
    return 0;
  };
  return b;
}

TEST_F(Promises, CircularPaddingBetweenLayers) {
  Program p(circular_padding());
  nv::ITensor* x = p.network->addUnary(*p.input("x", {1, 2, 2}), nv::UnaryOperation::kNEG)->getOutput(0);
  nv::IPluginV3Layer* layer = p.add({x});
  ASSERT_TRUE(layer);
  p.mark(p.network->addUnary(*layer->getOutput(0), nv::UnaryOperation::kABS)->getOutput(0));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats values{1, 2, 3, 4}, y(16);
  loaded->set("x", values), loaded->set("y", y);
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, (Floats{4, 3, 4, 3, 2, 1, 2, 1, 4, 3, 4, 3, 2, 1, 2, 1}));
  EXPECT_EQ(p.creator.given, p.behaviour.fields);
}

/// x[n] -> places[k, 1] i32, k.
Behaviour non_zero() {
  Behaviour b;
  b.name = "NonZero";
  b.num_outputs = 2;
  b.type = [](int32_t, const nv::DataType*) { return nv::DataType::kINT32; };
  b.takes = [](int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t) {
    const nv::PluginTensorDesc& desc = tensors[position].desc;
    return desc.format == nv::TensorFormat::kLINEAR &&
           desc.type == (position == 0 ? nv::DataType::kFLOAT : nv::DataType::kINT32);
  };
  b.shapes = [](const nv::DimsExprs* in, const nv::DimsExprs*, nv::DimsExprs* out, nv::IExprBuilder& e) {
    out[0].nbDims = 2;
    out[0].d[0] = e.declareSizeTensor(1, *e.operation(Operation::kCEIL_DIV, *in[0].d[0], *e.constant(2)), *in[0].d[0]);
    out[0].d[1] = e.constant(1);
    out[1].nbDims = 0;
  };
  b.run = [](const Enqueue& e) {
    int32_t found = 0;
    for (int32_t i = 0; i < e.in[0].dims.d[0]; ++i)
      if (input(e)[i] != 0) static_cast<int32_t*>(e.outputs[0])[found++] = i;
    *static_cast<int32_t*>(e.outputs[1]) = found;
    return 0;
  };
  return b;
}

TEST_F(Promises, TheOptimumOfASizeIsTunedFor) {
  Program p(non_zero());
  std::vector<std::string> told;
  p.behaviour.configure = [&](const nv::DynamicPluginTensorDesc*, const nv::DynamicPluginTensorDesc* out) {
    told = {text(out[0].min), text(out[0].opt), text(out[0].max)};
  };
  nv::IPluginV3Layer* layer = p.add({p.input("x", {6})});
  ASSERT_TRUE(layer);
  p.mark(layer->getOutput(0)), p.mark(layer->getOutput(1), "count");
  ASSERT_TRUE(p.build()) << p.logger.take_errors();
  EXPECT_EQ(told, (std::vector<std::string>{"0x1", "3x1", "6x1"}));
}

TEST_F(Promises, NonZeroFeedsAGather) {
  Program p(non_zero());
  nv::ITensor* x = p.input("x", {6});
  nv::IPluginV3Layer* layer = p.add({x});
  ASSERT_TRUE(layer);
  EXPECT_EQ(text(layer->getOutput(0)->getDimensions()), "-1x1");
  p.mark(p.network->addGather(*x, *layer->getOutput(0), 0)->getOutput(0));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Taken y;
  ASSERT_TRUE(loaded->context->setOutputAllocator("y", &y));
  for (const Floats& given : {Floats{0, 3, 0, 4, 5, 0}, Floats{0, 0, 0, 0, 0, 9}, Floats{1, 2, 3, 4, 5, 6}}) {
    Floats values = given, expected;
    std::ranges::copy_if(given, std::back_inserter(expected), [](float v) { return v != 0; });
    loaded->set("x", values);
    ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
    const auto* first = reinterpret_cast<const float*>(y.memory.data());
    EXPECT_EQ(Floats(first, first + volume(y.shape)), expected);
  }
}

TEST_F(Promises, NonZeroOfNothingIsEmpty) {
  Program p(non_zero());
  nv::IPluginV3Layer* layer = p.chain({3});
  ASSERT_TRUE(layer);
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Taken y;
  ASSERT_TRUE(loaded->context->setOutputAllocator("y", &y));
  Floats values(3);
  loaded->set("x", values);
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(text(y.shape), "0x1");
}

}  // namespace
}  // namespace kiln::promises
