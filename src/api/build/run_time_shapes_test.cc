// Shapes that a run decides: shape inputs, dimensions of one name, assertions, and what a context says of them.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include "api/build/testing/workbench.h"

namespace kiln::api {
namespace {

using testing::dims;
using testing::list;
using testing::Running;
using testing::Shared;
using testing::Workbench;
namespace nv = nvinfer1;
using nv::DataType;
using nv::OptProfileSelector;
using Numbers = std::vector<int64_t>;
using Floats = std::vector<float>;

/// Minimum, optimum and maximum of inputs' extents and values.
class Profile {
 public:
  explicit Profile(Workbench& w) : w_(w), profile_(*w.builder->createOptimizationProfile()) {}
  ~Profile() { w_.config->addOptimizationProfile(&profile_); }
  void extents(const char* input, std::initializer_list<int64_t> min, std::initializer_list<int64_t> max) {
    EXPECT_TRUE(profile_.setDimensions(input, OptProfileSelector::kMIN, dims(min)));
    EXPECT_TRUE(profile_.setDimensions(input, OptProfileSelector::kOPT, dims(max)));
    EXPECT_TRUE(profile_.setDimensions(input, OptProfileSelector::kMAX, dims(max)));
  }
  void values(const char* input, const Numbers& min, const Numbers& max) {
    const auto count = static_cast<int32_t>(min.size());
    EXPECT_TRUE(profile_.setShapeValuesV2(input, OptProfileSelector::kMIN, min.data(), count));
    EXPECT_TRUE(profile_.setShapeValuesV2(input, OptProfileSelector::kOPT, max.data(), count));
    EXPECT_TRUE(profile_.setShapeValuesV2(input, OptProfileSelector::kMAX, max.data(), count));
  }

 private:
  Workbench& w_;
  nv::IOptimizationProfile& profile_;
};

/// y = x [-1, 4], reshaped to the values of `shape`, i64[3].
struct ReshapeNet {
  ReshapeNet() {
    nv::IShuffleLayer* shuffle = w->addShuffle(*w.input("x", {-1, 4}));
    shuffle->setInput(1, *w.input("shape", {3}, DataType::kINT64));
    y = shuffle->getOutput(0);
    w.mark(y);
  }
  Workbench w;
  nv::ITensor* y;
};

struct Reshaped {
  Numbers shape, y;
};

TEST(RunTimeShapes, AReshapeReadsMinusOneAndZero) {
  ReshapeNet net;
  {
    Profile profile(net.w);
    profile.extents("x", {1, 4}, {6, 4});
    profile.values("shape", {-1, -1, -1}, {24, 24, 24});
  }
  Running r(net.w);
  ASSERT_TRUE(r.context) << r.error;
  EXPECT_EQ(r.engine->getTensorLocation("shape"), nv::TensorLocation::kHOST);
  EXPECT_TRUE(r.engine->isShapeInferenceIO("shape"));
  EXPECT_EQ(list(r.engine->getTensorShape("y")), (Numbers{-1, -1, -1}));
  ASSERT_TRUE(r.context->setInputShape("x", dims({6, 4})));
  Shared<float> x(24), y(24);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  Numbers shape(3);
  r.feed("x", x), r.feed("y", y), r.feed("shape", shape);
  for (const auto& [given, expected] : {Reshaped{{2, 3, 4}, {2, 3, 4}},
                                        {{-1, 4, 3}, {2, 4, 3}},
                                        {{0, -1, 2}, {6, 2, 2}},
                                        {{0, 0, 1}, {6, 4, 1}},
                                        {{3, 0, -1}, {3, 4, 2}},
                                        {{1, 24, -1}, {1, 24, 1}}}) {
    shape = given;
    EXPECT_EQ(list(r.context->getTensorShape("y")), expected);
    y.assign(24, -1);
    ASSERT_TRUE(r.run()) << r.last_error();
    EXPECT_EQ(y, x);
  }
  const auto error_of = [&](const Numbers& given) {
    std::ranges::copy(given, shape.begin());
    EXPECT_EQ(r.context->getTensorShape("y").nbDims, -1);
    return r.last_error();
  };
  EXPECT_NE(error_of({-1, -1, 4}).find("has one -1 at most"), std::string::npos) << r.last_error();
  EXPECT_NE(error_of({-1, 5, 1}).find("the left side is 24, the right side 20"), std::string::npos) << r.last_error();
  EXPECT_NE(error_of({2, 3, 5}).find("the left side is 24, the right side 30"), std::string::npos) << r.last_error();
  EXPECT_NE(error_of({-2, 3, 5}).find("shape input 'shape': element 0 is -2; profile 0 allows [-1, 24]"),
            std::string::npos)
      << r.last_error();
}

TEST(RunTimeShapes, AProfileWithoutValuesIsTold) {
  ReshapeNet net;
  {
    Profile profile(net.w);
    profile.extents("x", {1, 4}, {6, 4});
  }
  EXPECT_TRUE(Running(net.w).context) << "y is as large as x, whatever its extents";
  net.w.mark(net.w->addReduce(*net.y, nv::ReduceOperation::kSUM, 1, false)->getOutput(0), "columns");
  Running r(net.w);
  EXPECT_FALSE(r.context);
  EXPECT_NE(r.error.find("optimization profile 0: tensor 'columns': it is f32["), std::string::npos) << r.error;
  EXPECT_NE(r.error.find("its size overflows"), std::string::npos) << r.error;
  const std::string hint =
      "; that the profile has no values of the shape input 'shape' (IOptimizationProfile::setShapeValuesV2) may be the "
      "reason";
  EXPECT_NE(r.error.find(hint), std::string::npos) << r.error;
}

/// Values that may be placeholders where the profile's range has some, and where it has none.
TEST(RunTimeShapes, TwoProfilesReadAReshapesDimensionsAlike) {
  ReshapeNet net;
  for (const int64_t least : {-1, 1}) {
    Profile profile(net.w);
    profile.extents("x", {1, 4}, {6, 4});
    profile.values("shape", {least, least, least}, {24, 24, 24});
  }
  Running r(net.w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> x(12, 1), y(12);
  Numbers shape{2, 2, 3};
  for (int profile = 0; profile < 2; ++profile) {
    ASSERT_TRUE(r.context->setOptimizationProfileAsync(profile, nullptr));
    ASSERT_TRUE(r.context->setInputShape("x", dims({3, 4})));
    r.feed("x", x), r.feed("y", y), r.feed("shape", shape);
    shape[0] = 2;
    EXPECT_EQ(list(r.context->getTensorShape("y")), (Numbers{2, 2, 3})) << r.last_error();
    ASSERT_TRUE(r.run()) << r.last_error();
    shape[0] = -1;
    EXPECT_EQ(r.context->getTensorShape("y").nbDims, profile == 0 ? 3 : -1);
  }
  EXPECT_NE(r.last_error().find("shape input 'shape': element 0 is -1; profile 1 allows [1, 24]"), std::string::npos)
      << r.last_error();
}

TEST(RunTimeShapes, InferShapesNamesWhatIsMissing) {
  ReshapeNet net;
  {
    Profile profile(net.w);
    profile.extents("x", {1, 4}, {6, 4});
    profile.values("shape", {1, 1, 1}, {24, 24, 24});
  }
  Running r(net.w);
  ASSERT_TRUE(r.context) << r.error;
  const char* names[2] = {};
  EXPECT_EQ(r.context->inferShapes(1, names), 2) << "all are counted, and as many are named as there is room";
  EXPECT_STREQ(names[0], "x");
  EXPECT_EQ(names[1], nullptr);
  ASSERT_TRUE(r.context->setInputShape("x", dims({2, 4})));
  EXPECT_TRUE(r.context->allInputDimensionsSpecified());
  EXPECT_FALSE(r.context->allInputShapesSpecified());
  EXPECT_EQ(r.context->inferShapes(2, names), 1);
  EXPECT_STREQ(names[0], "shape");
  Numbers shape{2, 2, 2};
  ASSERT_TRUE(r.context->setInputTensorAddress("shape", shape.data()));
  EXPECT_EQ(r.context->inferShapes(2, names), 0);
  shape[2] = 3;
  EXPECT_EQ(r.context->inferShapes(2, names), -1);
  EXPECT_NE(r.last_error().find("the left side is 8, the right side 12"), std::string::npos) << r.last_error();
}

/// An index that a shape input holds: data that is a shape's only because a fill needs it.
TEST(RunTimeShapes, AnIndexMustLieInside) {
  Workbench w;
  const Numbers table{3, 1, 2};
  nv::ITensor* of = w->addConstant(dims({3}), {DataType::kINT64, table.data(), 3})->getOutput(0);
  nv::IFillLayer* fill = w->addFill(dims({1}), nv::FillOperation::kLINSPACE, DataType::kFLOAT);
  fill->setInput(0, *w->addGather(*of, *w.input("index", {1}, DataType::kINT64), 0)->getOutput(0));
  w.mark(fill->getOutput(0));
  {
    Profile profile(w);
    profile.values("index", {-3}, {2});
  }
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Numbers index{-3};
  Shared<float> y(3);
  r.feed("index", index), r.feed("y", y);
  for (; index[0] < 3; ++index[0])
    EXPECT_EQ(list(r.context->getTensorShape("y")), Numbers{table[static_cast<size_t>((index[0] + 3) % 3)]});
  EXPECT_EQ(r.context->getTensorShape("y").nbDims, -1);
  EXPECT_NE(r.last_error().find("shape input 'index': element 0 is 3; profile 0 allows [-3, 2]"), std::string::npos)
      << r.last_error();
}
/// The same without a profile's values.
TEST(RunTimeShapes, AnIndexOutsideIsAnError) {
  Workbench w;
  const Numbers table{3, 1, 2};
  nv::ITensor* of = w->addConstant(dims({3}), {DataType::kINT64, table.data(), 3})->getOutput(0);
  nv::IFillLayer* fill = w->addFill(dims({1}), nv::FillOperation::kLINSPACE, DataType::kFLOAT);
  fill->setInput(0, *w->addGather(*of, *w.input("index", {1}, DataType::kINT64), 0)->getOutput(0));
  w.mark(fill->getOutput(0));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Numbers index{1};
  Shared<float> y(3);
  r.feed("index", index), r.feed("y", y);
  EXPECT_EQ(list(r.context->getTensorShape("y")), Numbers{1});
  index[0] = 3;
  EXPECT_FALSE(r.run());
  EXPECT_NE(r.last_error().find("index 3 is outside [0, 3)"), std::string::npos) << r.last_error();
}

/// Values beyond 32 bits: a start that is clamped.
TEST(RunTimeShapes, ShapeValuesHave64Bits) {
  Workbench w;
  const int64_t far = int64_t{1} << 40;
  nv::ITensor* big = w.input("big", {1}, DataType::kINT64);
  nv::ITensor* unit = w->addConstant(dims({1}), {DataType::kINT64, &far, 1})->getOutput(0);
  nv::IFillLayer* fill = w->addFill(dims({1}), nv::FillOperation::kLINSPACE, DataType::kFLOAT);
  fill->setInput(0, *w->addElementWise(*big, *unit, nv::ElementWiseOperation::kFLOOR_DIV)->getOutput(0));
  w.mark(fill->getOutput(0));
  {
    Profile profile(w);
    profile.values("big", {far}, {5 * far});
  }
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  EXPECT_EQ(r.engine->getProfileTensorValuesV2("big", 0, OptProfileSelector::kMAX)[0], 5 * far);
  Numbers values{3 * far + 7};
  Shared<float> y(5);
  r.feed("big", values), r.feed("y", y);
  EXPECT_EQ(list(r.context->getTensorShape("y")), Numbers{3}) << r.last_error();
  ASSERT_TRUE(r.run()) << r.last_error();
}

struct NamedNet {
  explicit NamedNet(int64_t b_extent = -1) {
    nv::ITensor *a = w.input("a", {-1}), *b = w.input("b", {2, b_extent});
    a->setDimensionName(0, "n");
    b->setDimensionName(1, "n");
    w.mark(w->addIdentity(*a)->getOutput(0), "y");
    w.mark(w->addIdentity(*b)->getOutput(0), "z");
    Profile profile(w);
    profile.extents("a", {1}, {9});
    if (b_extent < 0) profile.extents("b", {2, 1}, {2, 9});
  }
  Workbench w;
};

TEST(RunTimeShapes, DimensionsOfOneNameAgree) {
  NamedNet net;
  Running r(net.w);
  ASSERT_TRUE(r.context) << r.error;
  ASSERT_TRUE(r.context->setInputShape("a", dims({3})));
  ASSERT_TRUE(r.context->setInputShape("b", dims({2, 4}))) << "a profile allows each by itself";
  const std::string wrong =
      "input 'b': extent 4 of axis 1 must be 3, as axis 0 of input 'a' is: both are dimension 'n'";
  EXPECT_EQ(r.context->inferShapes(0, nullptr), -1);
  EXPECT_EQ(r.last_error(), "IExecutionContext::inferShapes: " + wrong);
  EXPECT_EQ(r.context->getTensorShape("y").nbDims, -1);
  EXPECT_EQ(r.last_error(), "IExecutionContext::getTensorShape: " + wrong);
  EXPECT_FALSE(r.context->enqueueV3(nullptr));
  EXPECT_EQ(r.last_error(), "IExecutionContext::enqueueV3: " + wrong);
  ASSERT_TRUE(r.context->setInputShape("b", dims({2, 3})));
  EXPECT_EQ(r.context->inferShapes(0, nullptr), 0) << r.last_error();
}
TEST(RunTimeShapes, ADimensionMayHaveTheNameOfAConstant) {
  NamedNet net(5);
  Running r(net.w);
  ASSERT_TRUE(r.context) << r.error;
  ASSERT_TRUE(r.context->setInputShape("a", dims({5})));
  EXPECT_EQ(r.context->inferShapes(0, nullptr), 0) << r.last_error();
  ASSERT_TRUE(r.context->setInputShape("a", dims({4})));
  EXPECT_EQ(r.context->inferShapes(0, nullptr), -1);
  EXPECT_EQ(r.last_error(),
            "IExecutionContext::inferShapes: n = 5 (dimension 'n' is axis 0 of input 'a' and axis 1 of input 'b') does "
            "not hold: the left side is 4, the right side 5");
}
TEST(RunTimeShapes, ConstantsOfOneNameAreCompared) {
  Workbench w;
  nv::ITensor *a = w.input("a", {3}), *b = w.input("b", {2, 4});
  a->setDimensionName(0, "n"), b->setDimensionName(1, "n");
  w.mark(w->addIdentity(*a)->getOutput(0), "y");
  w.mark(w->addIdentity(*b)->getOutput(0), "z");
  Running r(w);
  EXPECT_FALSE(r.context);
  EXPECT_NE(r.error.find("dimension 'n' is axis 0 of input 'a' and axis 1 of input 'b', which are 3 and 4"),
            std::string::npos)
      << r.error;
}

nv::ITensor* first_extent(Workbench& w, nv::ITensor& x) {
  return w->addSlice(*w->addShape(x)->getOutput(0), dims({0}), dims({1}), dims({1}))->getOutput(0);
}

/// A network that asserts that its input a is shorter than b, with a profile of these least and largest extents.
void make_shorter(Workbench& w, std::pair<int64_t, int64_t> of_a, std::pair<int64_t, int64_t> of_b) {
  nv::ITensor *a = w.input("a", {-1}), *b = w.input("b", {-1});
  nv::ITensor* less =
      w->addElementWise(*first_extent(w, *a), *first_extent(w, *b), nv::ElementWiseOperation::kLESS)->getOutput(0);
  ASSERT_TRUE(w->addAssertion(*less, "a is shorter than b"));
  w.mark(w->addIdentity(*a)->getOutput(0));
  Profile profile(w);
  profile.extents("a", {of_a.first}, {of_a.second}), profile.extents("b", {of_b.first}, {of_b.second});
}

TEST(Assertions, OfShapesSayBothSides) {
  Workbench w;
  make_shorter(w, {1, 8}, {1, 9});
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  ASSERT_TRUE(r.context->setInputShape("a", dims({4})) && r.context->setInputShape("b", dims({5})));
  EXPECT_EQ(r.context->inferShapes(0, nullptr), 0) << r.last_error();
  ASSERT_TRUE(r.context->setInputShape("b", dims({4})));
  EXPECT_EQ(r.context->inferShapes(0, nullptr), -1);
  EXPECT_NE(r.last_error().find("assertion 'a is shorter than b') does not hold: the left side is 5, the right side 4"),
            std::string::npos)
      << r.last_error();
}
TEST(Assertions, ThatNoShapeOfAProfileFulfilsFailTheBuild) {
  Workbench w;
  make_shorter(w, {5, 8}, {1, 5});
  Running r(w);
  EXPECT_FALSE(r.context);
  EXPECT_NE(r.error.find("the assertion 'a is shorter than b' does not hold"), std::string::npos) << r.error;
}
/// All of x are positive: only a run knows.
TEST(Assertions, OfDataFailARunWithTheirMessage) {
  Workbench w;
  nv::ITensor* x = w.input("x", {3});
  const Floats zero{0};
  nv::ITensor* none = w->addConstant(dims({1}), testing::weights(zero))->getOutput(0);
  nv::ITensor* positive = w->addElementWise(*x, *none, nv::ElementWiseOperation::kGREATER)->getOutput(0);
  nv::IAssertionLayer* layer = w->addAssertion(*positive, "x is positive");
  ASSERT_TRUE(layer) << w.take_error();
  EXPECT_EQ(layer->getNbOutputs(), 0);
  w.mark(w->addIdentity(*x)->getOutput(0));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  testing::Recorder recorder;
  r.context->setErrorRecorder(&recorder);
  Shared<float> values{1, 2, 3}, y(3);
  r.feed("x", values), r.feed("y", y);
  ASSERT_TRUE(r.run()) << r.last_error();
  EXPECT_EQ(y, values);
  values[1] = -2;
  EXPECT_FALSE(r.run());
  ASSERT_FALSE(recorder.texts.empty());
  EXPECT_NE(recorder.texts.back().find("the assertion 'x is positive' does not hold: element 1 of 3 is false"),
            std::string::npos)
      << recorder.texts.back();
  values[1] = 2;
  EXPECT_TRUE(r.run()) << "a run that failed does not spoil the next";
  r.context->setErrorRecorder(nullptr);
}

}  // namespace
}  // namespace kiln::api
