// Networks in which data decides sizes, as programs build and run them.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/build/testing/workbench.h"

namespace kiln::api {
namespace {

using testing::dims;
using testing::list;
using testing::OutputMemory;
using testing::Running;
using testing::Shared;
using testing::Workbench;
namespace nv = nvinfer1;
using Floats = std::vector<float>;
using Numbers = std::vector<int64_t>;

nv::ITensor* where(Workbench& w, nv::ITensor& x) { return w->addNonZero(x, nv::DataType::kINT64)->getOutput(0); }

TEST(DataSizes, AnAllocatorIsToldTheShapeBeforeEnqueueReturns) {
  Workbench w;
  nv::ITensor* at = where(w, *w.input("x", {2, 3}));
  EXPECT_EQ(list(at->getDimensions()), (Numbers{2, -1}));
  w.mark(at);
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  EXPECT_EQ(list(r.engine->getTensorShape("y")), (Numbers{2, -1}));
  EXPECT_EQ(list(r.context->getTensorShape("y")), (Numbers{2, -1}));
  EXPECT_EQ(r.context->getMaxOutputSize("y"), 2 * 6 * 8);
  Shared<float> x{0, 1, 0, 2, NAN, 0};
  r.feed("x", x);
  OutputMemory y;
  ASSERT_TRUE(r.context->setOutputAllocator("y", &y));
  ASSERT_TRUE(r.context->enqueueV3(nullptr));
  EXPECT_EQ(y.shape, (Numbers{2, 3}));
  EXPECT_EQ(y.elements<int64_t>(), (Numbers{0, 1, 1, 1, 0, 1}));
  x = {0, 0, 0, 0, 0, 0};
  ASSERT_TRUE(r.context->enqueueV3(nullptr));
  EXPECT_EQ(y.shape, (Numbers{2, 0}));
  EXPECT_EQ(list(r.context->getTensorShape("y")), (Numbers{2, -1})) << "what data decides is not the context's to say";
  y.refuses = true;
  EXPECT_FALSE(r.context->enqueueV3(nullptr));
  EXPECT_EQ(r.last_error(), "IExecutionContext::enqueueV3: output 'y': its allocator did not give 0 bytes");
}

// A size is called after its layer, whatever that is called when the network is built.
TEST(DataSizes, MessagesNameTheLayerThatDecides) {
  Workbench w;
  nv::INonZeroLayer* layer = w->addNonZero(*w.input("x", {1, 6}), nv::DataType::kINT64);
  nv::IShuffleLayer* shuffle = w->addShuffle(*layer->getOutput(0));
  shuffle->setReshapeDimensions(dims({4}));
  shuffle->setName("four");
  EXPECT_EQ(list(shuffle->getOutput(0)->getDimensions()), Numbers{4});
  layer->setName("nz");
  w.mark(shuffle->getOutput(0));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> x{0, 1, 0, 2, 3, 0};
  Shared<int64_t> y(4, 0);
  r.feed("x", x), r.feed("y", y);
  EXPECT_FALSE(r.run());
  EXPECT_NE(r.last_error().find("2*\"count of nz\" = 4 (Shuffle 'four': element counts"), std::string::npos)
      << r.last_error();
  x[1] = 0;
  EXPECT_TRUE(r.run()) << r.last_error();
  EXPECT_EQ(y, (Numbers{0, 0, 3, 4}));
}

// A dimension that the program calls as a size is called is another, though nothing stops the two from being equal.
TEST(DataSizes, DimensionsOfTheSameNameAreOthers) {
  for (const bool is_first : {false, true}) {
    Workbench w;
    nv::ITensor* z = nullptr;
    const auto add_dimension = [&] {
      z = w.input("z", {-1});
      z->setDimensionName(0, "count of nz");
      EXPECT_STREQ(z->getDimensionName(0), "count of nz");
    };
    nv::ITensor* x = w.input("x", {4});
    if (is_first) add_dimension();
    nv::INonZeroLayer* layer = w->addNonZero(*x, nv::DataType::kINT64);
    layer->setName("nz");
    EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), (Numbers{1, -1}));  // the size has its name by now
    if (!is_first) add_dimension();
    nv::ITensor* at = w->addCast(*layer->getOutput(0), nv::DataType::kFLOAT)->getOutput(0);
    nv::IShuffleLayer* row = w->addShuffle(*z);
    row->setReshapeDimensions(dims({1, -1}));
    w.mark(w->addElementWise(*at, *row->getOutput(0), nv::ElementWiseOperation::kSUM)->getOutput(0));
    nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
    for (const auto& [which, extent] : {std::pair(nv::OptProfileSelector::kMIN, 2),
                                        {nv::OptProfileSelector::kOPT, 4},
                                        {nv::OptProfileSelector::kMAX, 4}})
      profile->setDimensions("z", which, dims({extent}));
    w.config->addOptimizationProfile(profile);
    Running r(w);
    ASSERT_TRUE(r.context) << r.error;
    Shared<float> values{0, 1, 2, 3}, addends{10, 20, 30}, y(4, -7);
    r.feed("x", values), r.feed("z", addends), r.feed("y", y);
    ASSERT_TRUE(r.context->setInputShape("z", dims({3})));
    ASSERT_TRUE(r.run()) << r.last_error();
    EXPECT_EQ(y, (Floats{11, 22, 33, -7}));
    values[1] = 0;
    EXPECT_FALSE(r.run());
    EXPECT_NE(r.last_error().find(is_first ? "\"count of nz.1\"" : "\"count of nz\""), std::string::npos)
        << r.last_error();
  }
}

TEST(DataSizes, AnAddressHasRoomForTheLargest) {
  Workbench w;
  w.mark(where(w, *w.input("x", {4})));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> x{5, 0, 0, -1};
  r.feed("x", x);
  EXPECT_FALSE(r.context->enqueueV3(nullptr)) << "there is no memory";
  Shared<int64_t> y(static_cast<size_t>(r.context->getMaxOutputSize("y")) / 8, -7);
  r.feed("y", y);
  ASSERT_TRUE(r.context->enqueueV3(nullptr));
  EXPECT_EQ(y, (Numbers{0, 3, -7, -7}));
  void* bindings[] = {x.data(), y.data()};
  x = {0, 0, 0, 9};
  ASSERT_TRUE(r.context->executeV2(bindings));
  EXPECT_EQ(y[0], 3);
}

/// How many elements are not zero, where nobody reads which.
TEST(DataSizes, ACountIsAValueLikeOthers) {
  Workbench w;
  nv::ITensor* count = w->addShape(*where(w, *w.input("x", {2, 3})))->getOutput(0);
  w.mark(w->addCast(*count, nv::DataType::kFLOAT)->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2, 3}, {1, 0, 1, 0, 1, 1}}}}), (Floats{2, 4}));
}

/// The elements of x that are not zero, doubled, and how many of them are above 3: two sizes, one behind the other.
TEST(DataSizes, SizesFollowSizes) {
  Workbench w;
  nv::ITensor* x = w.input("x", {6});
  const auto picked = [&](nv::ITensor& from, nv::ITensor& by) {
    nv::ITensor* at = w->addShuffle(*where(w, by))->getOutput(0);
    static_cast<nv::IShuffleLayer*>(w->getLayer(w->getNbLayers() - 1))->setReshapeDimensions(dims({-1}));
    return w->addGather(from, *at, 0)->getOutput(0);
  };
  nv::ITensor* some = picked(*x, *x);
  nv::ITensor* doubled = w->addElementWise(*some, *some, nv::ElementWiseOperation::kSUM)->getOutput(0);
  const float three = 3;
  nv::ITensor* limit = w->addConstant(dims({1}), {nv::DataType::kFLOAT, &three, 1})->getOutput(0);
  nv::ITensor* above = w->addElementWise(*doubled, *limit, nv::ElementWiseOperation::kGREATER)->getOutput(0);
  w.mark(picked(*doubled, *above), "large");
  w.mark(doubled, "doubled");
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> x_values{0, 1, 2, 0, 5, 0}, large(6), all(6);
  r.feed("x", x_values), r.feed("large", large), r.feed("doubled", all);
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
    EXPECT_EQ((Floats{large[0], large[1]}), (Floats{4, 10}));
    EXPECT_EQ((Floats{all[0], all[1], all[2]}), (Floats{2, 4, 10}));
  }
  x_values = {0, 0, 0, 7, 0, 0};
  ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
  EXPECT_EQ(large[0], 14);
  x_values = {0, 0, 0, 0, 0, 0};
  ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
}

TEST(DataSizes, ThatMustAgreeAreComparedInEachRun) {
  Workbench w;
  nv::ITensor *a = where(w, *w.input("a", {3})), *b = where(w, *w.input("b", {3}));
  w.mark(w->addElementWise(*a, *b, nv::ElementWiseOperation::kSUM)->getOutput(0));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> a_values{1, 0, 1}, b_values{0, 2, 2};
  Shared<int64_t> y(3, -1);
  r.feed("a", a_values), r.feed("b", b_values), r.feed("y", y);
  ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
  EXPECT_EQ(y, (Numbers{1, 4, -1}));
  b_values[0] = 3;
  EXPECT_FALSE(r.context->enqueueV3(nullptr));
  EXPECT_NE(r.last_error().find("the left side is 2, the right side 3"), std::string::npos) << r.last_error();
  a_values[1] = 3;
  ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
  EXPECT_EQ(y, (Numbers{0, 2, 4}));
}

TEST(DataSizes, OfConstantsAreKnownToTheBuilder) {
  Workbench w;
  const Floats values{0, 3, 0, 4};
  nv::ITensor* mask = w->addConstant(dims({4}), testing::weights(values))->getOutput(0);
  auto* row = w->addShuffle(*where(w, *mask));
  row->setReshapeDimensions(dims({-1}));
  w.mark(w->addGather(*w.input("x", {4}), *row->getOutput(0), 0)->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{4}, {10, 11, 12, 13}}}}), (Floats{11, 13}));
}

/// What is left of x behind as many elements as are not zero: fewer of them leave more.
TEST(DataSizes, ABoundHoldsWhereFewerMakeMore) {
  Workbench w;
  nv::ITensor* x = w.input("x", {8});
  nv::ITensor* count = w->addShape(*where(w, *x))->getOutput(0);  // [1, n]
  auto* n = w->addSlice(*count, dims({1}), dims({1}), dims({1}));
  const int64_t eight = 8;
  nv::ITensor* all = w->addConstant(dims({1}), {nv::DataType::kINT64, &eight, 1})->getOutput(0);
  nv::ITensor* rest = w->addElementWise(*all, *n->getOutput(0), nv::ElementWiseOperation::kSUB)->getOutput(0);
  auto* cut = w->addSlice(*x, dims({0}), dims({0}), dims({1}));
  cut->setInput(1, *n->getOutput(0));
  cut->setInput(2, *rest);
  w.mark(cut->getOutput(0));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> values{1, 0, 0, 0, 0, 0, 0, 5};
  r.feed("x", values);
  EXPECT_GE(r.context->getMaxOutputSize("y"), 6 * 4);
  Shared<float> y(static_cast<size_t>(r.context->getMaxOutputSize("y")) / 4, -1);
  r.feed("y", y);
  ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
  EXPECT_EQ((Floats{y[0], y[4], y[5]}), (Floats{0, 0, 5}));
}

/// Nothing but the output reads the size: what is assumed of it is checked all the same.
TEST(DataSizes, AreCheckedBehindTheLastStep) {
  Workbench w;
  auto* square = w->addShuffle(*where(w, *w.input("x", {6})));
  square->setReshapeDimensions(dims({2, 2}));
  w.mark(square->getOutput(0));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> x{1, 0, 1, 1, 0, 1};
  Shared<int64_t> y(4, -7);
  r.feed("x", x);
  r.feed("y", y);
  ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
  EXPECT_EQ(y, (Numbers{0, 2, 3, 5}));
  x[0] = 0;
  EXPECT_FALSE(r.context->enqueueV3(nullptr));
  EXPECT_NE(r.last_error().find("the left side is 3"), std::string::npos) << r.last_error();
}

/// A failure leaves nothing behind that later runs stumble over.
TEST(DataSizes, ARunFollowsOneThatFailed) {
  Workbench w;
  nv::ITensor* at = where(w, *w.input("x", {4}));
  w.mark(at, "at");
  w.mark(w->addElementWise(*at, *at, nv::ElementWiseOperation::kSUM)->getOutput(0), "twice");
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> x{5, 0, 0, -1};
  Shared<int64_t> at_numbers(4, -7);
  r.feed("x", x);
  EXPECT_FALSE(r.context->enqueueV3(nullptr));
  OutputMemory twice;
  r.feed("at", at_numbers);
  ASSERT_TRUE(r.context->setOutputAllocator("twice", &twice));
  ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
  EXPECT_EQ(at_numbers, (Numbers{0, 3, -7, -7}));
  EXPECT_EQ(twice.elements<int64_t>(), (Numbers{0, 6}));
}

/// A constant says how many there are: other numbers are an error of the run, and the build takes it.
TEST(DataSizes, MayBeAskedToBeANumber) {
  Workbench w;
  const std::vector<int64_t> ten{10, 20, 30};
  nv::ITensor* constant = w->addConstant(dims({1, 3}), {nv::DataType::kINT64, ten.data(), 3})->getOutput(0);
  nv::ITensor* at = where(w, *w.input("x", {30}));
  w.mark(w->addElementWise(*at, *constant, nv::ElementWiseOperation::kSUM)->getOutput(0));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> x(30, 0);
  x[1] = x[2] = x[29] = 1;
  Shared<int64_t> y(30, -7);
  r.feed("x", x);
  r.feed("y", y);
  ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
  EXPECT_EQ((Numbers{y[0], y[1], y[2]}), (Numbers{11, 22, 59}));
}

TEST(DataSizes, AreNoOutputsForShapes) {
  Workbench w;
  nv::ITensor* at = where(w, *w.input("x", {8}));
  w.mark(at);
  nv::ITensor* count = w->addShape(*at)->getOutput(0);
  count->setName("n");
  EXPECT_TRUE(w->markOutputForShapes(*count));
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_EQ(plan, nullptr);
  EXPECT_NE(w.take_error().find("which data decides"), std::string::npos);
}

// Programs give executeV2 an address that is too small for what comes: an allocator's memory is the output's.
TEST(DataSizes, ExecuteV2AsksAllocators) {
  Workbench w;
  w.mark(where(w, *w.input("x", {4})));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> x{5, 0, 0, -1};
  Shared<int64_t> y(4, -7);
  OutputMemory allocator;
  ASSERT_TRUE(r.context->setOutputAllocator("y", &allocator));
  void* bindings[] = {x.data(), y.data()};
  ASSERT_TRUE(r.context->executeV2(bindings)) << r.last_error();
  EXPECT_EQ(y, (Numbers{-7, -7, -7, -7}));
  EXPECT_EQ(allocator.shape, (Numbers{1, 2}));
  EXPECT_EQ(allocator.elements<int64_t>(), (Numbers{0, 3}));
  allocator.refuses = true;
  EXPECT_FALSE(r.context->executeV2(bindings));
  EXPECT_EQ(r.last_error(), "IExecutionContext::executeV2: output 'y': its allocator did not give 16 bytes");
  ASSERT_TRUE(r.context->setOutputAllocator("y", nullptr));
  ASSERT_TRUE(r.context->executeV2(bindings)) << r.last_error();
  EXPECT_EQ(y, (Numbers{0, 3, -7, -7}));
}

TEST(DataSizes, BoundsFollowTheShapesThatAreSet) {
  Workbench w;
  w.mark(where(w, *w.input("x", {-1, 2})));
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  profile->setDimensions("x", nv::OptProfileSelector::kMIN, dims({1, 2}));
  profile->setDimensions("x", nv::OptProfileSelector::kOPT, dims({2, 2}));
  profile->setDimensions("x", nv::OptProfileSelector::kMAX, dims({50, 2}));
  w.config->addOptimizationProfile(profile);
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  for (const int64_t n : {3, 50, 1}) {
    ASSERT_TRUE(r.context->setInputShape("x", dims({n, 2})));
    EXPECT_EQ(r.context->getMaxOutputSize("y"), 2 * 2 * n * 8);
    Shared<float> x(static_cast<size_t>(2 * n), 1);
    x[0] = 0;
    OutputMemory y;
    r.feed("x", x);
    ASSERT_TRUE(r.context->setOutputAllocator("y", &y));
    ASSERT_TRUE(r.context->enqueueV3(nullptr)) << r.last_error();
    EXPECT_EQ(y.shape, (Numbers{2, 2 * n - 1}));
  }
}

}  // namespace
}  // namespace kiln::api
