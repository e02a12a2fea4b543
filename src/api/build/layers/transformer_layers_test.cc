#include <gtest/gtest.h>

#include <cmath>

#include "api/build/testing/loop_bench.h"

namespace kiln::api::testing {
namespace {

using Values = std::vector<float>;

TEST(RotaryEmbeddingLayer, KeepsItsFieldsAndRuns) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {1, 1, 1, 4});
  nv::ITensor *cos = w.constant({1, 1, 2}, {0, 1}), *sin = w.constant({1, 1, 2}, {1, 0});
  nv::IRotaryEmbeddingLayer* layer = w->addRotaryEmbedding(*x, *cos, *sin, true, 4);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getType(), nv::LayerType::kROTARY_EMBEDDING);
  EXPECT_TRUE(layer->getInterleaved());
  EXPECT_EQ(layer->getRotaryEmbeddingDim(), 4);
  layer->setInterleaved(false);
  EXPECT_FALSE(layer->getInterleaved());
  EXPECT_TRUE(layer->setRotaryEmbeddingDim(0));
  EXPECT_EQ(layer->getRotaryEmbeddingDim(), 0);
  EXPECT_FALSE(layer->setRotaryEmbeddingDim(3));
  EXPECT_EQ(w.take_error(),
            "IRotaryEmbeddingLayer::setRotaryEmbeddingDim: rotaryEmbeddingDim is 3; an even number is needed, or 0 for "
            "all of a head");
  EXPECT_EQ(w->addRotaryEmbedding(*x, *cos, *sin, false, -2), nullptr);
  EXPECT_NE(w.take_error().find("INetworkDefinition::addRotaryEmbedding: rotaryEmbeddingDim is -2"), std::string::npos);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 1, 1, 4}, {1, 2, 3, 4}}}}), (Values{-3, 2, 1, 4}));
}

TEST(RotaryEmbeddingLayer, PicksAnglesByPosition) {
  LoopBench w;
  nv::ITensor *cos = w.constant({2, 1}, {1, 0}), *sin = w.constant({2, 1}, {0, 1});
  nv::IRotaryEmbeddingLayer* layer = w->addRotaryEmbedding(*w.input("x", {1, 1, 2, 3}), *cos, *sin, false, 2);
  layer->setInput(3, *w.ints({1, 2}, {1, 0}));
  EXPECT_EQ(layer->getNbInputs(), 4);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}}}}), (Values{-2, 1, 3, 4, 5, 6}));
}

/// An attention of inputs q, k and v, one batch each, whose result is the output y.
nv::IAttention* attention_of(LoopBench& w, int64_t heads, int64_t shared, int64_t queries, int64_t keys, int64_t size) {
  nv::ITensor *q = w.input("q", {1, heads, queries, size}), *k = w.input("k", {1, shared, keys, size}),
              *v = w.input("v", {1, shared, keys, size});
  nv::IAttention* attention = w->addAttention(*q, *k, *v, nv::AttentionNormalizationOp::kSOFTMAX, false);
  if (attention) w.mark(attention->getOutput(0));
  return attention;
}
/// A run of one query and head of size 1, q = 1, whose keys are 0 and log 3 (weights 1/4 and 3/4) and whose values are
/// 4 and 8.
float run_small(LoopBench& w) {
  const Values y =
      w.run({{"q", {{1, 1, 1, 1}, {1}}}, {"k", {{1, 1, 2, 1}, {0, std::log(3.0F)}}}, {"v", {{1, 1, 2, 1}, {4, 8}}}});
  return y.size() == 1 ? y[0] : NAN;
}

TEST(Attention, KeepsItsFields) {
  LoopBench w;
  nv::IAttention* attention = attention_of(w, 1, 1, 1, 2, 1);
  ASSERT_NE(attention, nullptr);
  EXPECT_STREQ(attention->getName(), "(Unnamed Attention* 0)");
  EXPECT_TRUE(attention->setName("heads"));
  EXPECT_STREQ(attention->getName(), "heads");
  EXPECT_FALSE(attention->setName(nullptr));
  EXPECT_NE(w.take_error().find("IAttention::setName"), std::string::npos);
  EXPECT_STREQ(attention->getMetadata(), "");
  EXPECT_TRUE(attention->setMetadata("block 1"));
  EXPECT_STREQ(attention->getMetadata(), "block 1");
  EXPECT_EQ(attention->getNormalizationOperation(), nv::AttentionNormalizationOp::kSOFTMAX);
  EXPECT_FALSE(attention->setNormalizationOperation(static_cast<nv::AttentionNormalizationOp>(2)));
  EXPECT_EQ(w.take_error(), "IAttention::setNormalizationOperation: op 2 is outside [0, 2)");
  EXPECT_FALSE(attention->getDecomposable());
  EXPECT_TRUE(attention->setDecomposable(true));
  EXPECT_TRUE(attention->getDecomposable());
  EXPECT_FALSE(attention->getCausal());
  EXPECT_EQ(attention->getNbRanks(), 1);
  EXPECT_TRUE(attention->setNbRanks(2));
  EXPECT_EQ(attention->getNbRanks(), 2);
  EXPECT_EQ(attention->getNbInputs(), 3);
  EXPECT_EQ(attention->getNbOutputs(), 1);
  EXPECT_STREQ(attention->getInput(1)->getName(), "k");
  EXPECT_EQ(attention->getInput(3), nullptr);
  EXPECT_EQ(attention->getOutput(1), nullptr);
  EXPECT_FALSE(attention->setInput(3, *attention->getInput(0)));
  EXPECT_EQ(w.take_error(), "IAttention::setInput: index 3 is outside [0, 3) of attention 'heads'");
  nv::ITensor* other = w.input("other", {1, 1, 2, 1});
  EXPECT_TRUE(attention->setInput(2, *other));
  EXPECT_STREQ(attention->getInput(2)->getName(), "other");
}

TEST(Attention, StandsAtItsBoundaries) {
  LoopBench w;
  nv::IAttention* attention = attention_of(w, 1, 1, 1, 2, 1);
  ASSERT_EQ(w->getNbLayers(), 2);
  nv::ILayer *first = w->getLayer(0), *last = w->getLayer(1);
  ASSERT_EQ(first->getType(), nv::LayerType::kATTENTION_INPUT);
  ASSERT_EQ(last->getType(), nv::LayerType::kATTENTION_OUTPUT);
  EXPECT_EQ(static_cast<nv::IAttentionInputLayer*>(first)->getAttention(), attention);
  EXPECT_EQ(static_cast<nv::IAttentionOutputLayer*>(last)->getAttention(), attention);
  EXPECT_EQ(first->getNbInputs(), 3);
  EXPECT_EQ(first->getOutput(0), last->getInput(0));
  EXPECT_EQ(last->getOutput(0), attention->getOutput(0));
}

TEST(Attention, RunsWithEachNormalizationAndMask) {
  LoopBench w;
  w.config->clearFlag(nv::BuilderFlag::kTF32);
  nv::IAttention* attention = attention_of(w, 1, 1, 1, 2, 1);
  EXPECT_NEAR(run_small(w), 7, 1e-5);
  EXPECT_TRUE(attention->setCausal(true));
  EXPECT_TRUE(attention->getCausal());
  EXPECT_NEAR(run_small(w), 4, 1e-5);
  nv::ITensor* bias = w.constant({1, 1, 1, 2}, {0, -1e30F});
  EXPECT_FALSE(attention->setMask(*bias));
  EXPECT_EQ(w.take_error(),
            "IAttention::setMask: attention '(Unnamed Attention* 0)' is causal; it cannot have a mask as well");
  EXPECT_TRUE(attention->setCausal(false));
  EXPECT_EQ(attention->getMask(), nullptr);
  EXPECT_TRUE(attention->setMask(*bias));
  EXPECT_EQ(attention->getMask(), bias);
  EXPECT_NEAR(run_small(w), 4, 1e-5);
  EXPECT_FALSE(attention->setCausal(true));
  EXPECT_EQ(w.take_error(),
            "IAttention::setCausal: attention '(Unnamed Attention* 0)' has a mask; it cannot be causal as well");
  const bool seen[] = {false, true};
  nv::ITensor* second = w->addConstant(dims({1, 1, 1, 2}), {nv::DataType::kBOOL, seen, 2})->getOutput(0);
  EXPECT_TRUE(attention->setMask(*second));
  EXPECT_NEAR(run_small(w), 8, 1e-5);
  EXPECT_TRUE(attention->setNormalizationOperation(nv::AttentionNormalizationOp::kNONE));
  EXPECT_EQ(attention->getNormalizationOperation(), nv::AttentionNormalizationOp::kNONE);
  EXPECT_NEAR(run_small(w), 8 * std::log(3.0F), 1e-5);
}

TEST(Attention, QuantizesNormalizedScores) {
  LoopBench w;
  w.config->clearFlag(nv::BuilderFlag::kTF32);
  nv::IAttention* attention = attention_of(w, 1, 1, 1, 2, 1);
  EXPECT_EQ(attention->getNormalizationQuantizeScale(), nullptr);
  EXPECT_EQ(attention->getNormalizationQuantizeToType(), nv::DataType::kFLOAT);
  nv::ITensor* scale = w.constant({}, {0.2F});
  EXPECT_TRUE(attention->setNormalizationQuantizeScale(*scale));
  EXPECT_EQ(attention->getNormalizationQuantizeScale(), scale);
  EXPECT_TRUE(attention->setNormalizationQuantizeToType(nv::DataType::kINT8));
  EXPECT_EQ(attention->getNormalizationQuantizeToType(), nv::DataType::kINT8);
  EXPECT_EQ(attention->getNbInputs(), 3);
  EXPECT_NEAR(run_small(w), 0.2 * (4 + 4 * 8), 1e-5);  // weights 1/4 and 3/4 are 1 and 4 fifths
  EXPECT_TRUE(attention->setNormalizationQuantizeToType(nv::DataType::kFP8));
  EXPECT_EQ(attention->getNormalizationQuantizeToType(), nv::DataType::kFP8);
  EXPECT_TRUE(attention->setNormalizationQuantizeScale(*w.constant({1}, {0.6F})));
  EXPECT_NEAR(run_small(w), 0.6 * (13.0 / 32 * 4 + 1.25 * 8), 1e-5);
  nv::ITensor* bias = w.constant({1, 1, 1, 2}, {0, -1e30F});
  EXPECT_TRUE(attention->setMask(*bias));
  EXPECT_NEAR(run_small(w), 0.6 * 1.625 * 4, 1e-5);  // 1 / 0.6 is 1.667
}

// All of the softmax's results within half a step of INT8, and a plan that was written and read again.
TEST(Attention, QuantizesCausalScoresOfSharedHeads) {
  LoopBench w;
  w.config->clearFlag(nv::BuilderFlag::kTF32);
  constexpr size_t kKeys = 16, kSize = 32;
  nv::IAttention* attention = attention_of(w, 4, 2, kKeys, kKeys, kSize);
  EXPECT_TRUE(attention->setCausal(true));
  constexpr float kStep = 1.0F / 127;
  EXPECT_TRUE(attention->setNormalizationQuantizeToType(nv::DataType::kINT8));
  EXPECT_TRUE(attention->setNormalizationQuantizeScale(*w.constant({}, {kStep})));
  Values q(4 * kKeys * kSize), k(2 * kKeys * kSize), v(2 * kKeys * kSize);
  for (size_t i = 0; i < q.size(); ++i) q[i] = 0.3F * std::sin(static_cast<float>(i));
  for (size_t i = 0; i < k.size(); ++i)
    k[i] = std::cos(0.7F * static_cast<float>(i)), v[i] = std::sin(1.3F * static_cast<float>(i));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const Values y = run.floats_of({{"q", floats({1, 4, kKeys, kSize}, q)},
                                  {"k", floats({1, 2, kKeys, kSize}, k)},
                                  {"v", floats({1, 2, kKeys, kSize}, v)}});
  ASSERT_EQ(y.size(), q.size());
  double rounding = 0;  // by what results differ from those of weights that are not quantized
  for (size_t row = 0; row < 4 * kKeys; ++row) {
    const size_t shared = row / kKeys / 2 * kKeys, seen = row % kKeys + 1;
    std::vector<double> weights(seen);
    double sum = 0;
    for (size_t j = 0; j < seen; ++j) {
      double score = 0;
      for (size_t i = 0; i < kSize; ++i) score += q[row * kSize + i] * k[(shared + j) * kSize + i];
      sum += weights[j] = std::exp(score);
    }
    for (size_t i = 0; i < kSize; ++i) {
      double wanted = 0, exact = 0;
      for (size_t j = 0; j < seen; ++j) {
        wanted += std::nearbyint(weights[j] / sum / kStep) * kStep * v[(shared + j) * kSize + i];
        exact += weights[j] / sum * v[(shared + j) * kSize + i];
      }
      ASSERT_NEAR(y[row * kSize + i], wanted, 2e-5) << row << ' ' << i;
      rounding = std::max(rounding, std::abs(wanted - exact));
    }
  }
  EXPECT_GT(rounding, 1e-3) << "the test would pass without quantization";
}

TEST(Attention, SaysItsMetadataInTheInspector) {
  LoopBench w;
  nv::IAttention* attention = attention_of(w, 1, 1, 1, 2, 1);
  EXPECT_TRUE(attention->setMetadata("block 1"));
  w.config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const std::unique_ptr<nv::IEngineInspector> inspector(run.engine()->createEngineInspector());
  const std::string layers = inspector->getEngineInformation(nv::LayerInformationFormat::kJSON);
  EXPECT_NE(layers.find("\"Metadata\": \"Attention '(Unnamed Layer* 0) [Attention]', metadata 'block 1'"),
            std::string::npos)
      << layers;
}

TEST(Attention, SaysWhatItDoesNotTake) {
  LoopBench w;
  nv::IAttention* attention = attention_of(w, 1, 1, 1, 2, 1);
  EXPECT_FALSE(attention->setNormalizationQuantizeScale(*attention->getInput(0)));
  EXPECT_EQ(w.take_error(),
            "tensor has 4 axes; one number scales the normalized scores of attention '(Unnamed Attention* 0)'");
  EXPECT_FALSE(attention->setNormalizationQuantizeScale(*w.constant({2}, {1, 2})));
  EXPECT_EQ(w.take_error(),
            "tensor has 1 axis of 2; one number scales the normalized scores of attention '(Unnamed Attention* 0)'");
  EXPECT_FALSE(attention->setNormalizationQuantizeToType(nv::DataType::kFP4));
  EXPECT_EQ(w.take_error(),
            "type is 10; kFP8 or kINT8 is needed for the normalized scores of attention '(Unnamed Attention* 0)'");
  EXPECT_EQ(attention->getNormalizationQuantizeScale(), nullptr);
  EXPECT_EQ(attention->getNormalizationQuantizeToType(), nv::DataType::kFLOAT);
  const auto refused = [&] {
    const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
    return plan ? std::string("built") : w.take_error();
  };
  EXPECT_TRUE(attention->setNormalizationQuantizeToType(nv::DataType::kINT8));
  EXPECT_NE(refused().find("normalized scores are quantized to i8, and there is no scale"), std::string::npos);
  EXPECT_TRUE(attention->setNormalizationQuantizeScale(*w.constant({}, {-1})));
  EXPECT_NE(refused().find("scale 0 of 1 is -1; scales are finite and positive"), std::string::npos);
  nv::ITensor* flat = w.input("flat", {2, 3});
  const int32_t layers = w->getNbLayers();
  EXPECT_EQ(w->addAttention(*flat, *flat, *flat, nv::AttentionNormalizationOp::kSOFTMAX, false), nullptr);
  EXPECT_NE(w.take_error().find("INetworkDefinition::addAttention: "), std::string::npos);
  EXPECT_EQ(w->getNbLayers(), layers);
}

// Query heads 0 and 1 share key head 0, heads 2 and 3 share head 1: the fused kernel reads them where they are.
TEST(Attention, RunsByOneFusedStep) {
  LoopBench w;
  w.config->clearFlag(nv::BuilderFlag::kTF32);
  nv::IAttention* attention = attention_of(w, 4, 2, 16, 16, 32);
  EXPECT_TRUE(attention->setCausal(true));
  w.config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  Values q(4 * 16 * 32), k(2 * 16 * 32), v(2 * 16 * 32);
  for (size_t i = 0; i < q.size(); ++i) q[i] = 0.3F * std::sin(static_cast<float>(i));
  for (size_t i = 0; i < k.size(); ++i)
    k[i] = std::cos(0.7F * static_cast<float>(i)), v[i] = std::sin(1.3F * static_cast<float>(i));
  const Values y = run.floats_of(
      {{"q", floats({1, 4, 16, 32}, q)}, {"k", floats({1, 2, 16, 32}, k)}, {"v", floats({1, 2, 16, 32}, v)}});
  ASSERT_EQ(y.size(), q.size());
  for (size_t head = 0; head < 4; ++head)
    for (size_t row = 0; row < 16; ++row) {
      std::vector<double> weights(row + 1);
      double sum = 0;
      for (size_t j = 0; j <= row; ++j) {
        double score = 0;
        for (size_t i = 0; i < 32; ++i) score += q[(head * 16 + row) * 32 + i] * k[(head / 2 * 16 + j) * 32 + i];
        sum += weights[j] = std::exp(score);
      }
      for (size_t i = 0; i < 32; ++i) {
        double wanted = 0;
        for (size_t j = 0; j <= row; ++j) wanted += weights[j] / sum * v[(head / 2 * 16 + j) * 32 + i];
        ASSERT_NEAR(y[(head * 16 + row) * 32 + i], wanted, 2e-5) << head << ' ' << row << ' ' << i;
      }
    }
  const std::unique_ptr<nv::IEngineInspector> inspector(run.engine()->createEngineInspector());
  const std::string layers = inspector->getEngineInformation(nv::LayerInformationFormat::kJSON);
  EXPECT_EQ(run.engine()->getNbLayers(), 1) << layers;
  EXPECT_NE(layers.find("\"TacticName\": \"attention"), std::string::npos) << layers;
}

TEST(KVCacheUpdateLayer, WritesInPlaceOrNot) {
  LoopBench w;
  nv::ITensor *cache = w.input("cache", {2, 1, 3, 1}), *update = w.input("update", {2, 1, 2, 1});
  nv::ITensor* at = w.input("at", {2}, nv::DataType::kINT32);
  nv::IKVCacheUpdateLayer* layer = w->addKVCacheUpdate(*cache, *update, *at, nv::KVCacheMode::kLINEAR);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getType(), nv::LayerType::kKVCACHE_UPDATE);
  EXPECT_EQ(layer->getCacheMode(), nv::KVCacheMode::kLINEAR);
  EXPECT_TRUE(layer->setCacheMode(nv::KVCacheMode::kLINEAR));
  EXPECT_FALSE(layer->setCacheMode(static_cast<nv::KVCacheMode>(1)));
  EXPECT_EQ(w.take_error(), "IKVCacheUpdateLayer::setCacheMode: cacheMode is 1; kLINEAR is the only one");
  EXPECT_EQ(w->addKVCacheUpdate(*cache, *update, *update, nv::KVCacheMode::kLINEAR), nullptr);
  EXPECT_NE(w.take_error().find("writeIndices are f32[2, 1, 2, 1]"), std::string::npos);
  w.mark(layer->getOutput(0));
  Running r(w);
  ASSERT_TRUE(r.context) << r.error;
  Shared<float> memory{1, 2, 3, 4, 5, 6}, rows{10, 20, 30, 40}, apart(6);
  Shared<int32_t> first{1, 2};  // the last row of the second batch is outside of the cache
  r.feed("cache", memory), r.feed("update", rows), r.feed("at", first);
  r.feed("y", apart);
  ASSERT_TRUE(r.run()) << r.last_error();
  const Values wanted{1, 10, 20, 4, 5, 30};
  EXPECT_TRUE(apart == wanted);
  EXPECT_TRUE(memory == (Values{1, 2, 3, 4, 5, 6})) << "the input stays as it is";
  r.feed("y", memory);
  ASSERT_TRUE(r.run()) << r.last_error();
  EXPECT_TRUE(memory == wanted);
  EXPECT_STREQ(r.engine->getAliasedInputTensor("y"), "cache");
  EXPECT_EQ(r.engine->getAliasedInputTensor("cache"), nullptr);
  first = {-1, 9};
  ASSERT_TRUE(r.run()) << r.last_error();
  EXPECT_TRUE(memory == (Values{20, 10, 20, 4, 5, 30}));
}

// Somebody who reads the old cache may come too late where the new one has its memory.
TEST(KVCacheUpdateLayer, IsNoAliasOfACacheThatOthersRead) {
  LoopBench w;
  nv::ITensor *cache = w.input("cache", {1, 1, 2, 1}), *update = w.input("update", {1, 1, 1, 1});
  nv::ITensor* at = w.input("at", {1}, nv::DataType::kINT32);
  w.mark(w->addKVCacheUpdate(*cache, *update, *at, nv::KVCacheMode::kLINEAR)->getOutput(0));
  LoopRun alone(w);
  ASSERT_EQ(alone.error, "");
  EXPECT_STREQ(alone.engine()->getAliasedInputTensor("y"), "cache");
  nv::ITensor* old = w->addUnary(*cache, nv::UnaryOperation::kNEG)->getOutput(0);
  old->setName("old");
  w->markOutput(*old);
  LoopRun shared(w);
  ASSERT_EQ(shared.error, "");
  EXPECT_EQ(shared.engine()->getAliasedInputTensor("y"), nullptr);
}

TEST(DistCollectiveLayer, IsTheIdentityOfOneRank) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {3});
  int64_t group[] = {0, 1};
  nv::IDistCollectiveLayer* layer =
      w->addDistCollective(*x, nv::CollectiveOperation::kALL_REDUCE, nv::ReduceOperation::kSUM, -1, group, 1);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getType(), nv::LayerType::kDIST_COLLECTIVE);
  EXPECT_TRUE(layer->setNbRanks(1));
  EXPECT_FALSE(layer->setNbRanks(2));
  EXPECT_NE(w.take_error().find("is 2; Kiln runs on one rank"), std::string::npos);
  nv::IDistCollectiveLayer* gather = w->addDistCollective(*layer->getOutput(0), nv::CollectiveOperation::kALL_GATHER,
                                                          nv::ReduceOperation::kNONE, -1, nullptr, 0);
  ASSERT_NE(gather, nullptr);
  w.mark(gather->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{3}, {1, 2, 3}}}}), (Values{1, 2, 3}));
  const auto refused = [&](nv::CollectiveOperation operation, int64_t root, int64_t ranks) {
    EXPECT_EQ(w->addDistCollective(*x, operation, nv::ReduceOperation::kMAX, root, group, ranks), nullptr);
    return w.take_error();
  };
  EXPECT_EQ(refused(nv::CollectiveOperation::kALL_REDUCE, -1, 2),
            "INetworkDefinition::addDistCollective: rank 1 is to take part; Kiln runs on one rank, 0");
  EXPECT_EQ(refused(nv::CollectiveOperation::kREDUCE, 1, 0),
            "INetworkDefinition::addDistCollective: root is rank 1; Kiln runs on one rank, 0");
  EXPECT_EQ(refused(nv::CollectiveOperation::kREDUCE, 0, -1),
            "INetworkDefinition::addDistCollective: groupSize is -1; 0 is the least");
}

TEST(MoELayer, KeepsItsFieldsAndRuns) {
  LoopBench w;
  nv::ITensor *x = w.input("x", {1, 1, 1}), *selected = w.ints({1, 1, 2}, {0, 1});
  nv::IMoELayer* layer = w->addMoE(*x, *selected, *w.constant({1, 1, 2}, {1, 0.5F}));
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getType(), nv::LayerType::kMOE);
  nv::ITensor *gate = w.constant({2, 1, 1}, {1, 3}), *up = w.constant({2, 1, 1}, {5, -5}),
              *down = w.constant({2, 1, 1}, {1, 10});
  layer->setGatedWeights(*gate, *up, *down, nv::MoEActType::kNONE);
  EXPECT_EQ(layer->getNbInputs(), 6);
  EXPECT_EQ(layer->getActivationType(), nv::MoEActType::kNONE);
  EXPECT_TRUE(std::isinf(layer->getSwigluParamLimit()));
  EXPECT_EQ(layer->getSwigluParamAlpha(), 1);
  EXPECT_EQ(layer->getSwigluParamBeta(), 0);
  w.mark(layer->getOutput(0));
  const auto run = [&] { return w.run({{"x", {{1, 1, 1}, {2}}}}); };
  EXPECT_EQ(run(), (Values{20 - 300}));  // 2 * 10 * 1, and half of 6 * -10 * 10
  layer->setSwigluParamLimit(4);
  EXPECT_EQ(layer->getSwigluParamLimit(), 4);
  EXPECT_EQ(run(), (Values{8 - 80}));
  layer->setSwigluParamBeta(1);
  EXPECT_EQ(layer->getSwigluParamBeta(), 1);
  EXPECT_EQ(run(), (Values{10 - 60}));
  layer->setSwigluParams(INFINITY, 1, 0);
  EXPECT_EQ(run(), (Values{-280}));
  nv::ITensor *ones = w.constant({2, 1}, {1, 0}), *zeros = w.constant({2, 1}, {0, 0});
  layer->setGatedBiases(*ones, *zeros, *ones);
  EXPECT_EQ(layer->getNbInputs(), 9);
  EXPECT_EQ(run(), (Values{31 - 300}));
  layer->setActivationType(nv::MoEActType::kSILU);
  layer->setSwigluParamAlpha(0);  // a sigmoid of 0 halves the gate
  EXPECT_EQ(layer->getSwigluParamAlpha(), 0);
  EXPECT_EQ(run(), (Values{16 - 150}));
  layer->setSwigluParamLimit(-1);
  EXPECT_EQ(w.take_error(), "IMoELayer::setSwigluParamLimit: limit is -1; 0 is the least");
  layer->setInput(1, *w.ints({1, 1, 2}, {0, 0}));
  EXPECT_EQ(run(), (Values{16 + 8}));
}

/// A mixture of two experts of two inner channels, 10 and 20 for expert 0, and their sum.
nv::IMoELayer* two_channels(LoopBench& w) {
  nv::ITensor* x = w.input("x", {1, 1, 1});
  nv::IMoELayer* layer = w->addMoE(*x, *w.ints({1, 1, 2}, {0, 1}), *w.constant({1, 1, 2}, {1, 0}));
  layer->setGatedWeights(*w.constant({2, 1, 2}, {1, 1, 1, 1}), *w.constant({2, 1, 2}, {10, 20, 0, 0}),
                         *w.constant({2, 2, 1}, {1, 1, 1, 1}), nv::MoEActType::kNONE);
  w.mark(layer->getOutput(0));
  return layer;
}

TEST(MoELayer, QuantizesByScalesThatAreGiven) {
  LoopBench w;
  nv::IMoELayer* layer = two_channels(w);
  const auto run = [&] { return w.run({{"x", {{1, 1, 1}, {1}}}}); };
  EXPECT_EQ(run(), (Values{30}));
  layer->setQuantizationStatic(*w.constant({}, {3}), nv::DataType::kFP8);
  EXPECT_EQ(layer->getQuantizationToType(), nv::DataType::kFP8);
  EXPECT_EQ(layer->getNbInputs(), 10);
  EXPECT_EQ(run(), (Values{3 * (3.25F + 6.5F)}));  // 3.33 and 6.67
  layer->setQuantizationStatic(*w.constant({2}, {10, 1}), nv::DataType::kFP8);
  EXPECT_EQ(run(), (Values{30}));
  layer->setQuantizationStatic(*w.constant({}, {3}), nv::DataType::kINT8);
  EXPECT_EQ(w.take_error(), "IMoELayer::setQuantizationStatic: dataType is 2; kFP8 is the only one");
}

TEST(MoELayer, QuantizesBlocksByScalesOfTheirOwn) {
  LoopBench w;
  nv::IMoELayer* layer = two_channels(w);
  const auto run = [&] { return w.run({{"x", {{1, 1, 1}, {1}}}}); };
  layer->setQuantizationDynamicDblQ(*w.constant({}, {1}), nv::DataType::kFP4, dims({1, 1, 2}), nv::DataType::kFP8);
  EXPECT_EQ(layer->getQuantizationToType(), nv::DataType::kFP4);
  EXPECT_EQ(layer->getQuantizationBlockShape().nbDims, 3);
  EXPECT_EQ(layer->getQuantizationBlockShape().d[2], 2);
  EXPECT_EQ(layer->getDynQOutputScaleType(), nv::DataType::kFP8);
  EXPECT_EQ(run(), (Values{3.25F * (3 + 6)}));  // the scale is 20 / 6, which FP8 holds as 3.25: 3.08 and 6.15
  layer->setQuantizationBlockShape(dims({1}));
  EXPECT_EQ(run(), (Values{1.625F * 6 + 3.25F * 6}));
  layer->setQuantizationToType(nv::DataType::kFP8);
  layer->setDynQOutputScaleType(nv::DataType::kE8M0);
  EXPECT_EQ(layer->getDynQOutputScaleType(), nv::DataType::kE8M0);
  EXPECT_EQ(run(), (Values{30}));
  layer->setQuantizationBlockShape(dims({3}));
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_EQ(plan, nullptr);
  EXPECT_NE(w.take_error().find("blocks of 3 do not divide the 2 inner channels"), std::string::npos);
}

TEST(MoELayer, SaysWhatItDoesNotTake) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {1, 1, 1});
  nv::IMoELayer* layer = w->addMoE(*x, *w.ints({1, 1, 1}, {0}), *w.constant({1, 1, 1}, {1}));
  layer->setQuantizationDynamicDblQ(*x, nv::DataType::kINT8, dims({1, 1, 16}), nv::DataType::kFP8);
  EXPECT_EQ(w.take_error(), "IMoELayer::setQuantizationDynamicDblQ: the type is 2; kFP4 or kFP8 is needed");
  layer->setQuantizationDynamicDblQ(*x, nv::DataType::kFP4, dims({1, 1, 0}), nv::DataType::kFP8);
  EXPECT_NE(w.take_error().find("IMoELayer::setQuantizationDynamicDblQ: blockShape"), std::string::npos);
  layer->setQuantizationToType(nv::DataType::kINT32);
  EXPECT_EQ(w.take_error(), "IMoELayer::setQuantizationToType: the type is 3; kFP4 or kFP8 is needed");
  layer->setQuantizationBlockShape(dims({-1}));
  EXPECT_NE(w.take_error().find("IMoELayer::setQuantizationBlockShape: blockShape"), std::string::npos);
  layer->setDynQOutputScaleType(nv::DataType::kHALF);
  EXPECT_EQ(w.take_error(), "IMoELayer::setDynQOutputScaleType: the type of scales is 1; kFP8 or kE8M0 is needed");
  EXPECT_EQ(layer->getQuantizationToType(), nv::DataType::kFLOAT);
  EXPECT_EQ(layer->getQuantizationBlockShape().nbDims, 0);
  EXPECT_EQ(layer->getDynQOutputScaleType(), nv::DataType::kFLOAT);
  w.mark(layer->getOutput(0));
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_EQ(plan, nullptr);
  EXPECT_NE(w.take_error().find("there are no weights; setGatedWeights gives them"), std::string::npos);
}

}  // namespace
}  // namespace kiln::api::testing
