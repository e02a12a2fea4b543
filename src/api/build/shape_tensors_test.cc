// Shape tensors through every layer that TensorRT allows on them: made of extents or of shape inputs, read as
// dimensions of other tensors, and given out by the host.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "api/build/testing/workbench.h"

namespace kiln::api {
namespace {

using testing::dims;
using testing::list;
using testing::Running;
using testing::Workbench;
namespace nv = nvinfer1;
using Numbers = std::vector<int64_t>;
using nv::DataType;
using Element = nv::ElementWiseOperation;
using Unary = nv::UnaryOperation;

/// A network in small words; constants stay alive with it.
class Network {
 public:
  explicit Network(Workbench& w) : w_(w) {}
  nv::INetworkDefinition* operator->() { return w_.network.get(); }

  nv::ITensor* ints(Numbers values) { return constant(DataType::kINT64, ints_, std::move(values)); }
  nv::ITensor* floats(std::vector<float> values) { return constant(DataType::kFLOAT, floats_, std::move(values)); }
  nv::ITensor* one(int64_t value) { return scalar(*ints({value})); }
  nv::ITensor* as(nv::ITensor* x, DataType type) { return w_->addCast(*x, type)->getOutput(0); }
  nv::ITensor* floats_of(nv::ITensor* x) { return as(x, DataType::kFLOAT); }
  nv::ITensor* ints_of(nv::ITensor* x) { return as(x, DataType::kINT64); }
  nv::ITensor* binary(Element op, nv::ITensor* a, nv::ITensor* b) {
    return w_->addElementWise(*a, *b, op)->getOutput(0);
  }
  nv::ITensor* unary(Unary op, nv::ITensor* x) { return w_->addUnary(*x, op)->getOutput(0); }
  nv::ITensor* gather(nv::ITensor* x, nv::ITensor* indices, int axis = 0) {
    return w_->addGather(*x, *indices, axis)->getOutput(0);
  }
  nv::ITensor* element(nv::ITensor* x, int64_t index) { return gather(x, ints({index})); }
  nv::ITensor* select(nv::ITensor* condition, nv::ITensor* then, nv::ITensor* otherwise) {
    return w_->addSelect(*condition, *then, *otherwise)->getOutput(0);
  }
  nv::ITensor* reduce(nv::ReduceOperation op, nv::ITensor* x) { return w_->addReduce(*x, op, 1, true)->getOutput(0); }
  nv::ITensor* scalar(nv::ITensor& x) {
    nv::IShuffleLayer* layer = w_->addShuffle(x);
    layer->setReshapeDimensions(dims({}));
    return layer->getOutput(0);
  }
  nv::ITensor* concat(std::vector<nv::ITensor*> parts) {
    return w_->addConcatenation(parts.data(), static_cast<int32_t>(parts.size()))->getOutput(0);
  }

 private:
  template <class T>
  nv::ITensor* constant(DataType type, std::vector<std::unique_ptr<std::vector<T>>>& kept, std::vector<T> values) {
    kept.push_back(std::make_unique<std::vector<T>>(std::move(values)));
    const std::vector<T>& all = *kept.back();
    return w_->addConstant(dims({std::ssize(all)}), {type, all.data(), std::ssize(all)})->getOutput(0);
  }

  Workbench& w_;
  std::vector<std::unique_ptr<Numbers>> ints_;
  std::vector<std::unique_ptr<std::vector<float>>> floats_;
};

void add_profile(Workbench& w, const char* input, std::initializer_list<int64_t> min,
                 std::initializer_list<int64_t> max) {
  nv::IOptimizationProfile* profile =
      w.config->getNbOptimizationProfiles() ? nullptr : w.builder->createOptimizationProfile();
  ASSERT_NE(profile, nullptr);
  profile->setDimensions(input, nv::OptProfileSelector::kMIN, dims(min));
  profile->setDimensions(input, nv::OptProfileSelector::kOPT, dims(max));
  profile->setDimensions(input, nv::OptProfileSelector::kMAX, dims(max));
  w.config->addOptimizationProfile(profile);
}

struct Arithmetic {
  const char* name;
  std::function<nv::ITensor*(Network&, nv::ITensor*)> build;  ///< of the extents [n, m], i64
  std::function<Numbers(int64_t n, int64_t m)> expected;      ///< all at least 0 and small
};
void PrintTo(const Arithmetic& a, std::ostream* out) { *out << a.name; }

int64_t at_most(int64_t x, int64_t most) { return std::min(x, most); }

const Arithmetic kArithmetic[] = {
    {"identity", [](Network& w, nv::ITensor* s) { return w->addIdentity(*s)->getOutput(0); },
     [](int64_t n, int64_t m) {
       return Numbers{n, m};
     }},
    {"cast to int32 and back", [](Network& w, nv::ITensor* s) { return w.ints_of(w.as(s, DataType::kINT32)); },
     [](int64_t n, int64_t m) {
       return Numbers{n, m};
     }},
    {"a shape's shape", [](Network& w, nv::ITensor* s) { return w->addShape(*s)->getOutput(0); },
     [](int64_t, int64_t) { return Numbers{2}; }},
    {"sum, difference, product",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor *n = w.element(s, 0), *m = w.element(s, 1);
       return w.concat({w.binary(Element::kSUM, n, m), w.binary(Element::kSUB, w.binary(Element::kPROD, n, m), n)});
     },
     [](int64_t n, int64_t m) {
       return Numbers{n + m, n * m - n};
     }},
    {"quotients of integers",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor* less = w.binary(Element::kSUB, w.element(s, 0), w.element(s, 1));
       nv::ITensor* square = w.binary(Element::kDIV, less, w.ints({2}));
       return w.concat(
           {w.binary(Element::kPROD, square, square), w.binary(Element::kFLOOR_DIV, w.element(s, 0), w.element(s, 1))});
     },
     [](int64_t n, int64_t m) {
       return Numbers{((n - m) / 2) * ((n - m) / 2), n / m};
     }},
    {"larger and smaller",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor *n = w.element(s, 0), *m = w.element(s, 1);
       return w.concat({w.binary(Element::kMAX, n, m), w.binary(Element::kMIN, n, m)});
     },
     [](int64_t n, int64_t m) {
       return Numbers{std::max(n, m), std::min(n, m)};
     }},
    {"powers", [](Network& w, nv::ITensor* s) { return w.binary(Element::kPOW, s, w.ints({2})); },
     [](int64_t n, int64_t m) {
       return Numbers{n * n, m * m};
     }},
    {"comparisons and logic",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor *n = w.element(s, 0), *m = w.element(s, 1);
       nv::ITensor *less = w.binary(Element::kLESS, n, m), *equal = w.binary(Element::kEQUAL, n, m);
       nv::ITensor *greater = w.binary(Element::kGREATER, n, m), *either = w.binary(Element::kOR, less, equal);
       return w.concat({w.ints_of(less), w.ints_of(equal), w.ints_of(greater), w.ints_of(either),
                        w.ints_of(w.binary(Element::kAND, either, equal)),
                        w.ints_of(w.binary(Element::kXOR, either, less)), w.ints_of(w.unary(Unary::kNOT, less))});
     },
     [](int64_t n, int64_t m) {
       return Numbers{n<m, n == m, n> m, n <= m, n == m, n == m, n >= m};
     }},
    {"select",
     [](Network& w, nv::ITensor* s) { return w.select(w.binary(Element::kLESS, s, w.ints({4})), w.ints({7}), s); },
     [](int64_t n, int64_t m) {
       return Numbers{n < 4 ? 7 : n, m < 4 ? 7 : m};
     }},
    {"integer functions",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor* less = w.binary(Element::kSUB, w.element(s, 0), w.element(s, 1));
       nv::ITensor* sign = w.unary(Unary::kSIGN, less);
       return w.concat({w.unary(Unary::kABS, w.unary(Unary::kNEG, less)), w.binary(Element::kPROD, sign, sign)});
     },
     [](int64_t n, int64_t m) {
       return Numbers{std::abs(n - m), n != m};
     }},
    {"relu of integers",
     [](Network& w, nv::ITensor* s) {
       return w->addActivation(*w.binary(Element::kSUB, s, w.ints({3})), nv::ActivationType::kRELU)->getOutput(0);
     },
     [](int64_t n, int64_t m) {
       return Numbers{std::max<int64_t>(n - 3, 0), std::max<int64_t>(m - 3, 0)};
     }},
    {"half, rounded down",
     [](Network& w, nv::ITensor* s) {
       return w.ints_of(w.unary(Unary::kFLOOR, w.binary(Element::kPROD, w.floats_of(s), w.floats({0.5F}))));
     },
     [](int64_t n, int64_t m) {
       return Numbers{n / 2, m / 2};
     }},
    {"a scale that is no fraction",
     [](Network& w, nv::ITensor* s) {
       return w.ints_of(w.unary(Unary::kFLOOR, w.binary(Element::kPROD, w.floats_of(s), w.floats({0.7F}))));
     },
     [](int64_t n, int64_t m) {
       const auto scaled = [](int64_t x) { return static_cast<int64_t>(std::floor(static_cast<float>(x) * 0.7F)); };
       return Numbers{scaled(n), scaled(m)};
     }},
    {"quotients of floats, rounded up",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor* x = w.floats_of(s);
       return w.ints_of(w.unary(Unary::kCEIL, w.binary(Element::kDIV, w.element(x, 0), w.element(x, 1))));
     },
     [](int64_t n, int64_t m) { return Numbers{(n + m - 1) / m}; }},
    {"functions of floats",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor* x = w.floats_of(s);
       nv::ITensor* root = w.unary(Unary::kSQRT, x);
       nv::ITensor* log = w.unary(Unary::kLOG, w.unary(Unary::kEXP, x));
       nv::ITensor* round = w.unary(Unary::kROUND, w.binary(Element::kPROD, x, w.floats({0.5F})));
       nv::ITensor* half = w.unary(Unary::kRECIP, w.floats({2}));
       nv::ITensor* both = w.binary(Element::kMAX, w.unary(Unary::kABS, w.unary(Unary::kNEG, root)), half);
       return w.concat({w.ints_of(both), w.ints_of(w.unary(Unary::kROUND, log)), w.ints_of(round)});
     },
     [](int64_t n, int64_t m) {
       const auto root = [](int64_t x) { return static_cast<int64_t>(std::sqrt(static_cast<float>(x))); };
       const auto round = [](int64_t x) { return static_cast<int64_t>(std::nearbyint(static_cast<double>(x) / 2)); };
       return Numbers{root(n), root(m), n, m, round(n), round(m)};
     }},
    {"comparisons of floats",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor *x = w.floats_of(s), *limit = w.floats({2.5F});
       nv::ITensor* is_large = w.binary(Element::kGREATER, x, limit);
       nv::ITensor* chosen = w.select(is_large, w.binary(Element::kSUB, x, limit), w.floats({0.25F}));
       return w.concat({w.ints_of(is_large), w.ints_of(w.binary(Element::kPROD, chosen, w.floats({4})))});
     },
     [](int64_t n, int64_t m) {
       const auto chosen = [](int64_t x) { return x > 2 ? 4 * x - 10 : 1; };
       return Numbers{n > 2, m > 2, chosen(n), chosen(m)};
     }},
    {"activations of floats",
     [](Network& w, nv::ITensor* s) {
       nv::IActivationLayer* clip = w->addActivation(*w.floats_of(s), nv::ActivationType::kCLIP);
       clip->setAlpha(2), clip->setBeta(4.5F);
       nv::ITensor* less = w.binary(Element::kSUB, w.floats_of(s), w.floats({3}));
       return w.concat({w.ints_of(clip->getOutput(0)),
                        w.ints_of(w->addActivation(*less, nv::ActivationType::kRELU)->getOutput(0))});
     },
     [](int64_t n, int64_t m) {
       const auto clip = [](int64_t x) { return std::clamp<int64_t>(x, 2, 4); };
       return Numbers{clip(n), clip(m), std::max<int64_t>(n - 3, 0), std::max<int64_t>(m - 3, 0)};
     }},
    {"FP16 rounds",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor* large = w.binary(Element::kSUM, s, w.ints({2048}));
       return w.binary(Element::kSUB, w.ints_of(w.as(large, DataType::kHALF)), w.ints({2048}));
     },
     [](int64_t n, int64_t m) {
       const auto half = [](int64_t x) {
         return x % 4 == 3 ? x + 1 : x % 4 == 1 ? x - 1 : x;
       };  // steps of 2, ties even
       return Numbers{half(n), half(m)};
     }},
    {"sums and products of all",
     [](Network& w, nv::ITensor* s) {
       return w.concat({w.reduce(nv::ReduceOperation::kSUM, s), w.reduce(nv::ReduceOperation::kPROD, s),
                        w.reduce(nv::ReduceOperation::kMAX, s), w.reduce(nv::ReduceOperation::kMIN, s),
                        w.reduce(nv::ReduceOperation::kAVG, s)});
     },
     [](int64_t n, int64_t m) {
       return Numbers{n + m, n * m, std::max(n, m), std::min(n, m), (n + m) / 2};
     }},
    {"averages of floats",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor* mean = w.reduce(nv::ReduceOperation::kAVG, w.floats_of(s));
       return w.ints_of(w.binary(Element::kPROD, mean, w.floats({2})));
     },
     [](int64_t n, int64_t m) { return Numbers{n + m}; }},
    {"gather at a constant",
     [](Network& w, nv::ITensor* s) {
       return w.gather(s, w.ints({1, 0, -1}));
     },
     [](int64_t n, int64_t m) {
       return Numbers{m, n, m};
     }},
    {"gather at a shape",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor* index = w.binary(Element::kMIN, s, w.ints({3}));
       return w.gather(w.ints({9, 8, 7, 6}), index);
     },
     [](int64_t n, int64_t m) {
       return Numbers{9 - at_most(n, 3), 9 - at_most(m, 3)};
     }},
    {"gather floats at a shape",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor* back = w.unary(Unary::kNEG, w.binary(Element::kMIN, s, w.ints({3})));
       return w.ints_of(w.binary(Element::kPROD, w.gather(w.floats({0.5F, 1.5F, 2.5F}), back), w.floats({2})));
     },
     [](int64_t n, int64_t m) {
       return Numbers{7 - 2 * at_most(n, 3), 7 - 2 * at_most(m, 3)};
     }},
    {"slice",
     [](Network& w, nv::ITensor* s) {
       return w->addSlice(*w.concat({s, w.ints({5, 6})}), dims({3}), dims({3}), dims({-1}))->getOutput(0);
     },
     [](int64_t, int64_t m) {
       return Numbers{6, 5, m};
     }},
    {"slice from a shape on",
     [](Network& w, nv::ITensor* s) {
       nv::ISliceLayer* slice = w->addSlice(*w.ints({9, 8, 7, 6, 5}), dims({0}), dims({2}), dims({1}));
       slice->setInput(1, *w.binary(Element::kMIN, w.element(s, 0), w.ints({3})));
       return w.binary(Element::kSUM, slice->getOutput(0), w.element(s, 1));
     },
     [](int64_t n, int64_t m) {
       return Numbers{9 - at_most(n, 3) + m, 8 - at_most(n, 3) + m};
     }},
    {"slice a shape from a shape on",
     [](Network& w, nv::ITensor* s) {
       nv::ISliceLayer* slice = w->addSlice(*w.concat({s, s}), dims({0}), dims({2}), dims({1}));
       slice->setInput(1, *w.binary(Element::kMIN, w.binary(Element::kSUB, w.element(s, 0), w.ints({1})), w.ints({1})));
       return slice->getOutput(0);
     },
     [](int64_t n, int64_t m) {
       return n > 1 ? Numbers{m, n} : Numbers{n, m};
     }},
    {"shuffle",
     [](Network& w, nv::ITensor* s) {
       nv::IShuffleLayer* square = w->addShuffle(*w.concat({s, w.ints({5, 6})}));
       square->setReshapeDimensions(dims({2, 2}));
       square->setSecondTranspose({1, 0});
       nv::IShuffleLayer* flat = w->addShuffle(*square->getOutput(0));
       flat->setReshapeDimensions(dims({-1}));
       return flat->getOutput(0);
     },
     [](int64_t n, int64_t m) {
       return Numbers{n, 5, m, 6};
     }},
    {"squeeze and unsqueeze",
     [](Network& w, nv::ITensor* s) {
       nv::ITensor* row = w->addUnsqueeze(*s, *w.ints({0}))->getOutput(0);
       return w->addSqueeze(*row, *w.ints({0}))->getOutput(0);
     },
     [](int64_t n, int64_t m) {
       return Numbers{n, m};
     }},
    {"the extents in order",
     [](Network& w, nv::ITensor* s) {
       nv::ITopKLayer* top = w->addTopK(*w.concat({s, w.ints({3, 3})}), nv::TopKOperation::kMAX, 4, 1);
       top->setIndicesType(DataType::kINT64);
       return w.concat({top->getOutput(0), top->getOutput(1)});
     },
     [](int64_t n, int64_t m) {
       const int64_t all[] = {n, m, 3, 3};
       Numbers order{0, 1, 2, 3}, result;
       std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return all[a] > all[b]; });
       for (const int64_t i : order) result.push_back(all[i]);
       result.insert(result.end(), order.begin(), order.end());
       return result;
     }},
    {"the least of floats",
     [](Network& w, nv::ITensor* s) {
       nv::ITopKLayer* top = w->addTopK(*w.floats_of(s), nv::TopKOperation::kMIN, 1, 1);
       return w.concat({w.ints_of(top->getOutput(0)), w.ints_of(top->getOutput(1))});
     },
     [](int64_t n, int64_t m) {
       return Numbers{std::min(n, m), m < n};
     }},
    {"scatter",
     [](Network& w, nv::ITensor* s) {
       return w->addScatter(*w.ints({1, 2, 3}), *w.ints({2, 0}), *s, nv::ScatterMode::kELEMENT)->getOutput(0);
     },
     [](int64_t n, int64_t m) {
       return Numbers{m, 2, n};
     }},
    {"linspace of shapes",
     [](Network& w, nv::ITensor* s) {
       nv::IFillLayer* fill = w->addFill(dims({3}), nv::FillOperation::kLINSPACE, DataType::kINT64);
       fill->setInput(1, *w.scalar(*w.element(s, 0)));
       fill->setInput(2, *w.element(s, 1));
       return fill->getOutput(0);
     },
     [](int64_t n, int64_t m) {
       return Numbers{n, n + m, n + 2 * m};
     }},
};

class ShapeArithmetic : public ::testing::TestWithParam<Arithmetic> {};

/// The result is an output for shapes, which the host writes, and the dimensions of a fill, which the network runs.
TEST_P(ShapeArithmetic, IsComputedOnTheHost) {
  Workbench w;
  Network net(w);
  nv::ITensor* x = w.input("x", {-1, -1});
  nv::ITensor* s = GetParam().build(net, w->addShape(*x)->getOutput(0));
  ASSERT_NE(s, nullptr) << w.take_error();
  ASSERT_TRUE(s->isShapeTensor()) << w.take_error();
  nv::IFillLayer* fill = w->addFill(dims({1}), nv::FillOperation::kLINSPACE, DataType::kFLOAT);
  nv::IShuffleLayer* flat = w->addShuffle(*s);
  flat->setReshapeDimensions(dims({-1}));
  nv::ITensor* product = net.reduce(nv::ReduceOperation::kSUM, flat->getOutput(0));
  fill->setInput(0, *product);
  fill->setAlpha(1), fill->setBeta(0);
  w.mark(fill->getOutput(0), "y");
  nv::ITensor* copy = w->addIdentity(*s)->getOutput(0);
  copy->setName("s");
  ASSERT_TRUE(w->markOutputForShapes(*copy)) << w.take_error();
  add_profile(w, "x", {1, 1}, {12, 12});
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  for (const auto& [n, m] : {std::pair<int64_t, int64_t>{1, 1}, {2, 3}, {3, 2}, {5, 5}, {7, 4}, {10, 11}, {12, 12}}) {
    const Numbers expected = GetParam().expected(n, m);
    Numbers got(expected.size(), -7);
    testing::Shared<float> data(static_cast<size_t>(n * m)), y(2000, -1);
    ASSERT_TRUE(r.context->setInputShape("x", dims({n, m})));
    r.feed("x", data), r.feed("s", got), r.feed("y", y);
    EXPECT_EQ(r.context->inferShapes(0, nullptr), 0) << r.last_error();
    EXPECT_EQ(got, expected) << "n = " << n << ", m = " << m;
    int64_t count = 0;
    for (const int64_t value : expected) count += value;
    EXPECT_EQ(list(r.context->getTensorShape("y")), Numbers{count});
    ASSERT_TRUE(r.run()) << r.last_error();
    EXPECT_EQ(std::ranges::count(y, 1), count);
  }
}
INSTANTIATE_TEST_SUITE_P(OfEveryLayer, ShapeArithmetic, ::testing::ValuesIn(kArithmetic), [](const auto& info) {
  std::string name = info.param.name;
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
  return name;
});

}  // namespace
}  // namespace kiln::api
