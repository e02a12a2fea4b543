// Where plugins stand in networks: in loops and branches, behind constants, between layers, with several inputs and
// outputs, and of other types than FP32.
#include <algorithm>
#include <numeric>

#include "program.h"

namespace kiln::promises {
namespace {

using Floats = std::vector<float>;

/// Adds the number of runs of this copy before to each element.
int32_t count_runs(const Enqueue& e) {
  for (int64_t i = 0; i < volume(e.in[0].dims); ++i)
    static_cast<float*>(e.outputs[0])[i] =
        static_cast<const float*>(e.inputs[0])[i] + static_cast<float>(e.runs_before);
  return 0;
}

TEST_F(Promises, InALoopItRunsInEachIteration) {
  Program p;
  p.behaviour.run = count_runs;
  nv::ITensor* x = p.input("x", {2});
  nv::ILoop* loop = p.network->addLoop();
  const int32_t three = 3;
  nv::Dims scalar{0, {}};
  nv::ITensor* trips = p.network->addConstant(scalar, {nv::DataType::kINT32, &three, 1})->getOutput(0);
  loop->addTripLimit(*trips, nv::TripLimit::kCOUNT);
  nv::IRecurrenceLayer* value = loop->addRecurrence(*x);
  nv::IPluginV3Layer* layer = p.add({value->getOutput(0)});
  ASSERT_TRUE(layer) << p.logger.take_errors();
  value->setInput(1, *layer->getOutput(0));
  p.mark(loop->addLoopOutput(*value->getOutput(0), nv::LoopOutput::kLAST_VALUE)->getOutput(0));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats values{1, 2}, y(2);
  loaded->set("x", values), loaded->set("y", y);
  p.journal.clear();
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(p.journal.count("enqueue"), 3);
  EXPECT_EQ(y, (Floats{4, 5})) << "0 + 1 + 2 was added";
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, (Floats{13, 14})) << "the context's copy goes on: 3 + 4 + 5";
}

TEST_F(Promises, InABranchItRunsWhereThatIsTaken) {
  Program p;
  p.behaviour.run = count_runs;
  nv::ITensor* x = p.input("x", {2});
  nv::ITensor* chosen = p.network->addInput("chosen", nv::DataType::kBOOL, nv::Dims{0, {}});
  nv::IIfConditional* branch = p.network->addIfConditional();
  branch->setCondition(*chosen);
  nv::ITensor* inside = branch->addInput(*x)->getOutput(0);
  nv::IPluginV3Layer* layer = p.add({inside});
  ASSERT_TRUE(layer) << p.logger.take_errors();
  nv::ITensor* other = p.network->addUnary(*inside, nv::UnaryOperation::kNEG)->getOutput(0);
  p.mark(branch->addOutput(*layer->getOutput(0), *other)->getOutput(0));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats values{1, 2}, y(2);
  auto condition = std::make_unique<bool>(true);
  loaded->set("x", values), loaded->set("y", y);
  ASSERT_TRUE(loaded->context->setTensorAddress("chosen", condition.get()));
  p.journal.clear();
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, (Floats{1, 2}));
  EXPECT_EQ(p.journal.count("enqueue"), 1);
  *condition = false;
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, (Floats{-1, -2}));
  EXPECT_EQ(p.journal.count("enqueue"), 1);
}

/// A branch's plugin is attached when its shapes are bound, and again where that failed, in each run that takes it.
TEST_F(Promises, InABranchItIsAttachedAgainWhereThatFailed) {
  Program p;
  nv::ITensor* x = p.input("x", {2});
  nv::ITensor* chosen = p.network->addInput("chosen", nv::DataType::kBOOL, nv::Dims{0, {}});
  nv::IIfConditional* branch = p.network->addIfConditional();
  branch->setCondition(*chosen);
  nv::ITensor* inside = branch->addInput(*x)->getOutput(0);
  nv::IPluginV3Layer* layer = p.add({inside});
  ASSERT_TRUE(layer) << p.logger.take_errors();
  nv::ITensor* other = p.network->addUnary(*inside, nv::UnaryOperation::kNEG)->getOutput(0);
  p.mark(branch->addOutput(*layer->getOutput(0), *other)->getOutput(0));
  for (const bool taken_at_once : {true, false}) {
    p.behaviour.fails_in.clear();
    const auto loaded = p.load();
    ASSERT_TRUE(loaded);
    Floats values{1, 2}, y(2);
    auto condition = std::make_unique<bool>(taken_at_once);
    loaded->set("x", values), loaded->set("y", y);
    ASSERT_TRUE(loaded->context->setTensorAddress("chosen", condition.get()));
    p.behaviour.fails_in = "attachToContext";
    if (!taken_at_once) {
      ASSERT_TRUE(loaded->run()) << "the other branch: " << p.logger.take_errors();
      EXPECT_EQ(y, (Floats{-1, -2}));
      *condition = true;
    }
    for (int run = 0; run < 2; ++run) {
      p.journal.clear();
      EXPECT_FALSE(loaded->run());
      EXPECT_NE(p.logger.take_errors().find("attachToContext returned null"), std::string::npos);
      EXPECT_EQ(p.journal.count("attachToContext"), 1) << "run " << run;
    }
    p.behaviour.fails_in.clear();
    EXPECT_TRUE(loaded->run()) << p.logger.take_errors();
    EXPECT_EQ(y, values);
    p.journal.clear();
    EXPECT_TRUE(loaded->run());
    EXPECT_EQ(p.journal.count("attachToContext"), 0);
  }
}

TEST_F(Promises, ConstantsAreInputsLikeOthers) {
  Program p;
  p.behaviour.run = [](const Enqueue& e) {
    for (int i = 0; i < 2; ++i)
      static_cast<float*>(e.outputs[0])[i] =
          static_cast<const float*>(e.inputs[0])[i] * static_cast<const float*>(e.inputs[1])[i];
    return 0;
  };
  const Floats factors{10, 100};
  nv::ITensor* constant = p.network->addConstant(dims({2}), {nv::DataType::kFLOAT, factors.data(), 2})->getOutput(0);
  nv::IPluginV3Layer* layer = p.add({p.input("x", {2}), constant});
  ASSERT_TRUE(layer) << p.logger.take_errors();
  p.mark(layer->getOutput(0));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats values{1, 2}, y(2);
  loaded->set("x", values), loaded->set("y", y);
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, (Floats{10, 200}));
}

TEST_F(Promises, OfConstantsAloneItIsNotFolded) {
  Program p;
  p.behaviour.run = count_runs;
  const Floats ones{1, 1};
  nv::ITensor* constant = p.network->addConstant(dims({2}), {nv::DataType::kFLOAT, ones.data(), 2})->getOutput(0);
  nv::IPluginV3Layer* layer = p.add({constant});
  ASSERT_TRUE(layer) << p.logger.take_errors();
  p.mark(layer->getOutput(0));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats y(2);
  loaded->set("y", y);
  ASSERT_TRUE(loaded->run() && loaded->run());
  EXPECT_EQ(y, (Floats{2, 2})) << "its second run";
}

TEST_F(Promises, EqualPluginsAreNotMerged) {
  Program p;
  nv::ITensor* x = p.input("x", {2});
  nv::IPluginV3Layer *first = p.add({x}), *second = p.add({x});
  p.mark(first->getOutput(0), "y"), p.mark(second->getOutput(0), "z");
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats values{1, 2}, y(2), z(2);
  loaded->set("x", values), loaded->set("y", y), loaded->set("z", z);
  p.journal.clear();
  ASSERT_TRUE(loaded->run());
  EXPECT_EQ(p.journal.count("enqueue"), 2);
  EXPECT_EQ(z, values);
}

TEST_F(Promises, OutputsThatNobodyReadsHaveMemory) {
  Program p({.num_outputs = 3});
  p.behaviour.run = [](const Enqueue& e) {
    for (int i = 0; i < 3; ++i) {
      if (!e.outputs[i]) return 1;
      std::fill_n(static_cast<float*>(e.outputs[i]), 2, static_cast<float>(i));
    }
    return 0;
  };
  nv::IPluginV3Layer* layer = p.add({p.input("x", {2})});
  ASSERT_TRUE(layer);
  p.mark(layer->getOutput(1));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats values{1, 2}, y(2);
  loaded->set("x", values), loaded->set("y", y);
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, (Floats{1, 1}));
}

TEST_F(Promises, WithoutInputsItMakesItsOutput) {
  Program p;
  p.behaviour.type = [](int32_t, const nv::DataType*) { return nv::DataType::kFLOAT; };
  p.behaviour.shapes = [](const nv::DimsExprs*, const nv::DimsExprs*, nv::DimsExprs* out, nv::IExprBuilder& e) {
    out[0].nbDims = 1, out[0].d[0] = e.constant(3);
  };
  p.behaviour.run = [](const Enqueue& e) {
    std::iota(static_cast<float*>(e.outputs[0]), static_cast<float*>(e.outputs[0]) + 3, 7.0f);
    return 0;
  };
  nv::IPluginV3Layer* layer = p.add({});
  ASSERT_TRUE(layer) << p.logger.take_errors();
  p.mark(layer->getOutput(0));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats y(3);
  loaded->set("y", y);
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, (Floats{7, 8, 9}));
}

// Types: a plugin gets its network's.
struct TypeRow {
  const char* name;
  nv::DataType type;
  int64_t bytes;  ///< of an element
};
void PrintTo(const TypeRow& row, std::ostream* to) { *to << row.name; }
constexpr TypeRow kTypes[] = {{"Float", nv::DataType::kFLOAT, 4}, {"Half", nv::DataType::kHALF, 2},
                              {"BF16", nv::DataType::kBF16, 2},   {"Int32", nv::DataType::kINT32, 4},
                              {"Int64", nv::DataType::kINT64, 8}, {"Bool", nv::DataType::kBOOL, 1},
                              {"UInt8", nv::DataType::kUINT8, 1}};
class Types : public PromiseTable<TypeRow> {};
TEST_P(Types, PassThrough) {
  const TypeRow& row = GetParam();
  Program p;
  p.behaviour.takes = [&](int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t) {
    const nv::PluginTensorDesc& desc = tensors[position].desc;
    return desc.type == row.type && desc.format == nv::TensorFormat::kLINEAR;
  };
  p.behaviour.run = [&](const Enqueue& e) {
    if (e.in[0].type != row.type || e.out[0].type != row.type) return 1;
    std::copy_n(static_cast<const char*>(e.inputs[0]), volume(e.in[0].dims) * row.bytes,
                static_cast<char*>(e.outputs[0]));
    return 0;
  };
  ASSERT_TRUE(p.chain({3, 5}, row.type)) << p.logger.take_errors();
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  std::vector<char> x(static_cast<size_t>(15 * row.bytes), 1), y(x.size());
  loaded->set("x", x), loaded->set("y", y);
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, x);
}
INSTANTIATE_TEST_SUITE_P(Promises, Types, ::testing::ValuesIn(kTypes), [](const auto& info) { return row_name(info); });

// A plugin that knows one type of floats has casts around it where a network has another.
class OtherFloats : public PromiseTable<TypeRow> {
 protected:
  void SetUp() override {
    PromiseTable::SetUp();
    p.behaviour.takes = [](int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t) {
      const nv::PluginTensorDesc& desc = tensors[position].desc;
      return desc.type == GetParam().type && desc.format == nv::TensorFormat::kLINEAR;
    };
    p.behaviour.run = [](const Enqueue& e) {
      if (e.in[0].type != GetParam().type || e.out[0].type != GetParam().type) return 1;
      std::copy_n(static_cast<const char*>(e.inputs[0]), volume(e.in[0].dims) * GetParam().bytes,
                  static_cast<char*>(e.outputs[0]));
      return 0;
    };
  }
  void expect_copy() {
    const auto loaded = p.load();
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->engine->getTensorDataType("y"), nv::DataType::kFLOAT);
    Floats x{1, -2.5, 0.125}, y(3);  // as all types have them
    loaded->set("x", x), loaded->set("y", y);
    ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
    EXPECT_EQ(y, x);
    EXPECT_TRUE(p.logger.says("does not take the network's types; casts to"));
  }
  Program p;
};
TEST_P(OtherFloats, AreCast) {
  ASSERT_TRUE(p.chain({3})) << p.logger.take_errors();
  expect_copy();
}
TEST_P(OtherFloats, AreCastWhateverThePluginSaysOfItsOutputs) {
  p.behaviour.type = [](int32_t, const nv::DataType*) { return nv::DataType::kFLOAT; };
  ASSERT_TRUE(p.chain({3})) << p.logger.take_errors();
  expect_copy();
}
TEST_P(OtherFloats, AreRefusedWhereTypesAreTheNetworks) {
  p.network.reset(
      p.builder->createNetworkV2(1U << static_cast<int>(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED)));
  ASSERT_TRUE(p.chain({3})) << p.logger.take_errors();
  EXPECT_EQ(p.build(), nullptr);
  EXPECT_TRUE(has(p.logger.take_errors(), "supports no combination of formats for its types (f32 -> f32)"));
}
INSTANTIATE_TEST_SUITE_P(Promises, OtherFloats, ::testing::Values(kTypes[1], kTypes[2]),
                         [](const auto& info) { return row_name(info); });

// Extents of all ranks.
class Ranks : public PromiseTable<int> {};
TEST_P(Ranks, ArePassedOn) {
  Program p;
  nv::Dims extents{GetParam(), {}};
  for (int i = 0; i < extents.nbDims; ++i) extents.d[i] = 1 + i % 3;
  nv::IPluginV3Layer* layer = p.add({p.network->addInput("x", nv::DataType::kFLOAT, extents)});
  ASSERT_TRUE(layer) << p.logger.take_errors();
  p.mark(layer->getOutput(0));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(text(loaded->context->getTensorShape("y")), text(extents));
  Floats x(static_cast<size_t>(volume(extents)), 3), y(x.size());
  loaded->set("x", x), loaded->set("y", y);
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, x);
}
INSTANTIATE_TEST_SUITE_P(Promises, Ranks, ::testing::Range(0, 9),
                         [](const auto& info) { return "Rank" + std::to_string(info.param); });

}  // namespace
}  // namespace kiln::promises
