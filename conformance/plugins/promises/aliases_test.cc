// Outputs that have the memory of inputs: what a plugin changes there is seen by who reads the output, and by nobody
// else.
#include <random>

#include "program.h"

namespace kiln::promises {
namespace {

using Floats = std::vector<float>;

/// Adds 1 to each input, in place. Output i has the memory of input `aliases[i]`.
class AddOne final : public nv::IPluginV3,
                     public nv::IPluginV3OneCore,
                     public nv::IPluginV3OneBuildV2,
                     public nv::IPluginV3OneRuntime {
 public:
  struct Behaviour {
    std::vector<int32_t> aliases{0};
    int64_t more = 0;             ///< by which the outputs are longer
    bool expects_aliases = true;  ///< fails where an output has other memory
    nv::PluginFormat in_format = nv::PluginFormat::kLINEAR, out_format = nv::PluginFormat::kLINEAR;
  };
  explicit AddOne(Behaviour& behaviour) : behaviour_(behaviour) {}

  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    if (type == nv::PluginCapabilityType::kBUILD) return static_cast<nv::IPluginV3OneBuildV2*>(this);
    if (type == nv::PluginCapabilityType::kRUNTIME) return static_cast<nv::IPluginV3OneRuntime*>(this);
    return static_cast<nv::IPluginV3OneCore*>(this);
  }
  nv::IPluginV3* clone() noexcept override { return new AddOne(*this); }
  char const* getPluginName() const noexcept override { return "AddOne"; }
  char const* getPluginVersion() const noexcept override { return "1"; }
  char const* getPluginNamespace() const noexcept override { return ""; }

  int32_t getAliasedInput(int32_t output) noexcept override { return behaviour_.aliases[static_cast<size_t>(output)]; }
  int32_t getNbOutputs() const noexcept override { return static_cast<int32_t>(behaviour_.aliases.size()); }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t count, nv::DataType const*, int32_t) const noexcept override {
    std::fill_n(out, count, nv::DataType::kFLOAT);
    return 0;
  }
  int32_t getOutputShapes(nv::DimsExprs const* in, int32_t num_in, nv::DimsExprs const*, int32_t, nv::DimsExprs* out,
                          int32_t count, nv::IExprBuilder& builder) noexcept override {
    for (int32_t i = 0; i < count; ++i) {
      out[i] = in[i % num_in];
      if (behaviour_.more)
        out[i].d[0] = builder.operation(nv::DimensionOperation::kSUM, *out[i].d[0], *builder.constant(behaviour_.more));
    }
    return 0;
  }
  bool supportsFormatCombination(int32_t at, nv::DynamicPluginTensorDesc const* tensors, int32_t num_in,
                                 int32_t) noexcept override {
    return tensors[at].desc.type == nv::DataType::kFLOAT &&
           tensors[at].desc.format == (at < num_in ? behaviour_.in_format : behaviour_.out_format);
  }
  int32_t configurePlugin(nv::DynamicPluginTensorDesc const*, int32_t, nv::DynamicPluginTensorDesc const*,
                          int32_t) noexcept override {
    return 0;
  }

  int32_t onShapeChange(nv::PluginTensorDesc const*, int32_t, nv::PluginTensorDesc const*, int32_t) noexcept override {
    return 0;
  }
  int32_t enqueue(nv::PluginTensorDesc const*, nv::PluginTensorDesc const* desc, void const* const* in,
                  void* const* out, void*, cudaStream_t) noexcept override {
    for (size_t i = 0; i < behaviour_.aliases.size(); ++i) {
      const int32_t alias = behaviour_.aliases[i];
      if (alias >= 0 && behaviour_.expects_aliases && in[alias] != out[i]) return 1;
      for (int64_t k = 0; k < volume(desc[i].dims); ++k)
        static_cast<float*>(out[i])[k] = static_cast<const float*>(in[alias < 0 ? 0 : alias])[k] + 1;
    }
    return 0;
  }
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext*) noexcept override { return clone(); }
  nv::PluginFieldCollection const* getFieldsToSerialize() noexcept override { return &none_; }

 private:
  Behaviour& behaviour_;
  nv::PluginFieldCollection none_{};
};

class AddOneCreator final : public nv::IPluginCreatorV3One {
 public:
  explicit AddOneCreator(AddOne::Behaviour& behaviour) : behaviour_(behaviour) {
    getPluginRegistry()->registerCreator(*this, "");
  }
  ~AddOneCreator() override { getPluginRegistry()->deregisterCreator(*this); }
  nv::IPluginV3* createPlugin(char const*, nv::PluginFieldCollection const*, nv::TensorRTPhase) noexcept override {
    return new AddOne(behaviour_);
  }
  nv::PluginFieldCollection const* getFieldNames() noexcept override { return &none_; }
  char const* getPluginName() const noexcept override { return "AddOne"; }
  char const* getPluginVersion() const noexcept override { return "1"; }
  char const* getPluginNamespace() const noexcept override { return ""; }

 private:
  AddOne::Behaviour& behaviour_;
  nv::PluginFieldCollection none_{};
};

/// Networks of [3] and of such plugins.
struct Aliasing {
  Aliasing() { p.config->setPreviewFeature(nv::PreviewFeature::kALIASED_PLUGIN_IO_10_03, true); }

  nv::ITensor* x() { return p.input("x", {3}); }
  nv::IPluginV3Layer* add(std::vector<nv::ITensor*> inputs) {
    AddOne plugin(behaviour);
    nv::IPluginV3Layer* layer =
        p.network->addPluginV3(inputs.data(), static_cast<int32_t>(inputs.size()), nullptr, 0, plugin);
    if (layer) layer->setName("layer");
    return layer;
  }
  nv::ITensor* add_one(nv::ITensor* tensor) { return add({tensor})->getOutput(0); }
  nv::ITensor* twice(nv::ITensor* tensor) {
    return p.network->addElementWise(*tensor, *tensor, nv::ElementWiseOperation::kSUM)->getOutput(0);
  }
  nv::ITensor* sum(nv::ITensor* one, nv::ITensor* other) {
    return p.network->addElementWise(*one, *other, nv::ElementWiseOperation::kSUM)->getOutput(0);
  }
  /// Runs the network of x = {1, 2, 3}, and of outputs with these names.
  void expect(std::map<std::string, Floats> outputs) {
    loaded = p.load();
    ASSERT_TRUE(loaded);
    Floats input{1, 2, 3};
    loaded->set("x", input);
    std::map<std::string, Floats> memory;
    for (const auto& [name, values] : outputs) {
      memory[name].resize(values.size());
      loaded->set(name.c_str(), memory[name]);
    }
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
      EXPECT_EQ(memory, outputs) << run;
      EXPECT_EQ(input, (Floats{1, 2, 3})) << "the program's input is not the plugin's to change";
    }
  }
  /// How many layers of the engine are copies.
  int num_copies() {
    const std::unique_ptr<nv::IEngineInspector> inspector(loaded->engine->createEngineInspector());
    int count = 0;
    for (int32_t i = 0; i < loaded->engine->getNbLayers(); ++i)
      count += has(inspector->getLayerInformation(i, nv::LayerInformationFormat::kONELINE), "copy");
    return count;
  }

  AddOne::Behaviour behaviour;
  AddOneCreator creator{behaviour};
  Program p;
  std::unique_ptr<Loaded> loaded;
};

struct Aliases : Promises, Aliasing {};

TEST_F(Aliases, OfAnInputAndAnOutputOfTheNetwork) {
  p.mark(add_one(x()));
  expect({{"y", {2, 3, 4}}});
  EXPECT_EQ(num_copies(), 1);  // straight into the output
}

TEST_F(Aliases, BetweenOtherLayersNeedNoCopy) {
  p.mark(twice(add_one(twice(x()))));
  expect({{"y", {6, 10, 14}}});
  EXPECT_EQ(num_copies(), 0);
}

TEST_F(Aliases, OfAnOutputNeedNoCopy) {
  p.mark(add_one(twice(x())));
  expect({{"y", {3, 5, 7}}});
  EXPECT_EQ(num_copies(), 0);
}

TEST_F(Aliases, InAChainNeedNoCopy) {
  p.mark(twice(add_one(add_one(add_one(twice(x()))))));
  expect({{"y", {10, 14, 18}}});
  EXPECT_EQ(num_copies(), 0);
}

TEST_F(Aliases, LeaveOtherReadersTheirValues) {
  nv::ITensor* a = twice(x());
  p.mark(add_one(a), "y");
  p.mark(twice(a), "before");
  p.mark(a, "a");
  expect({{"y", {3, 5, 7}}, {"before", {4, 8, 12}}, {"a", {2, 4, 6}}});
}

TEST_F(Aliases, LeaveReadersBehindThemTheirValues) {
  nv::ITensor* a = twice(x());
  p.mark(sum(add_one(a), a));
  expect({{"y", {5, 9, 13}}});
  EXPECT_EQ(num_copies(), 1);
}

TEST_F(Aliases, InAChainLeaveReadersBehindThemTheirValues) {
  nv::ITensor* one = add_one(twice(x()));
  nv::ITensor* two = add_one(one);
  p.mark(sum(add_one(two), sum(two, one)));
  expect({{"y", {12, 18, 24}}});
  EXPECT_EQ(num_copies(), 2);
}

TEST_F(Aliases, OfOneTensorByTwoPluginsAreCopiesOfIt) {
  nv::ITensor* a = twice(x());
  nv::ITensor *one = add_one(a), *other = add_one(a);
  p.mark(twice(one), "y");
  p.mark(twice(other), "z");
  expect({{"y", {6, 10, 14}}, {"z", {6, 10, 14}}});
}

TEST_F(Aliases, OfAConstantLeaveItAsItIs) {
  const Floats values{4, 5, 6};
  nv::ITensor* constant = p.network->addConstant(dims({3}), {nv::DataType::kFLOAT, values.data(), 3})->getOutput(0);
  p.mark(sum(add_one(constant), x()), "y");
  expect({{"y", {6, 8, 10}}});
}

TEST_F(Aliases, OfTwoOutputsMayBeCrossed) {
  behaviour.aliases = {1, 0};
  nv::ITensor* a = twice(x());
  nv::ITensor* b = twice(a);
  nv::IPluginV3Layer* layer = add({a, b});
  ASSERT_TRUE(layer);
  p.mark(layer->getOutput(0), "y");
  p.mark(layer->getOutput(1), "z");
  expect({{"y", {5, 9, 13}}, {"z", {3, 5, 7}}});
}

TEST_F(Aliases, OfOneInputOfTwoThatAreTheSame) {
  behaviour.aliases = {1};
  nv::ITensor* a = twice(x());
  p.mark(add({a, a})->getOutput(0));
  expect({{"y", {3, 5, 7}}});
}

TEST_F(Aliases, SomeOutputsHaveMemoryOfTheirOwn) {
  behaviour.aliases = {-1, 0};
  nv::IPluginV3Layer* layer = add({twice(x())});
  ASSERT_TRUE(layer);
  p.mark(layer->getOutput(0), "y");
  p.mark(layer->getOutput(1), "z");
  expect({{"y", {3, 5, 7}}, {"z", {3, 5, 7}}});
}

TEST_F(Aliases, OfAnIterationsTensors) {
  nv::ITensor* start = twice(x());
  const int32_t three = 3;
  nv::ILoop* loop = p.network->addLoop();
  loop->addTripLimit(*p.network->addConstant(nv::Dims{0, {}}, {nv::DataType::kINT32, &three, 1})->getOutput(0),
                     nv::TripLimit::kCOUNT);
  nv::IRecurrenceLayer* carried = loop->addRecurrence(*start);
  carried->setInput(1, *add_one(carried->getOutput(0)));
  p.mark(loop->addLoopOutput(*carried->getOutput(0), nv::LoopOutput::kLAST_VALUE)->getOutput(0), "y");
  p.mark(start, "start");
  expect({{"y", {5, 7, 9}}, {"start", {2, 4, 6}}});
}

TEST_F(Aliases, OfShapesThatRunsTell) {
  p.mark(add_one(twice(p.network->addInput("x", nv::DataType::kFLOAT, dims({-1})))));
  nv::IOptimizationProfile* profile = p.builder->createOptimizationProfile();
  profile->setDimensions("x", nv::OptProfileSelector::kMIN, dims({1}));
  profile->setDimensions("x", nv::OptProfileSelector::kOPT, dims({3}));
  profile->setDimensions("x", nv::OptProfileSelector::kMAX, dims({9}));
  p.config->addOptimizationProfile(profile);
  loaded = p.load();
  ASSERT_TRUE(loaded);
  for (const int64_t extent : {3, 9, 1}) {
    Floats input(static_cast<size_t>(extent), 2), y(input.size());
    ASSERT_TRUE(loaded->context->setInputShape("x", dims({extent})));
    loaded->set("x", input), loaded->set("y", y);
    ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
    EXPECT_EQ(y, Floats(input.size(), 5));
  }
}

TEST_F(Aliases, OfATensorThatIsAnOutputToo) {
  nv::ITensor* one = add_one(twice(x()));
  p.mark(one, "one");
  p.mark(add_one(one), "two");
  expect({{"one", {3, 5, 7}}, {"two", {4, 6, 8}}});
  EXPECT_EQ(num_copies(), 1);
}

TEST_F(Aliases, SeeThroughReshapes) {
  nv::ITensor* a = twice(x());
  nv::IShuffleLayer* column = p.network->addShuffle(*a);
  column->setReshapeDimensions(dims({3, 1}));
  nv::IShuffleLayer* row = p.network->addShuffle(*add_one(column->getOutput(0)));
  row->setReshapeDimensions(dims({3}));
  p.mark(sum(row->getOutput(0), a), "y");
  expect({{"y", {5, 9, 13}}});
  EXPECT_EQ(num_copies(), 1);
}

TEST_F(Aliases, OfOtherFormatsThanTheNetworks) {
  behaviour.in_format = behaviour.out_format = nv::PluginFormat::kHWC;
  nv::ITensor* a = twice(p.input("x", {1, 2, 2, 1}));
  p.mark(add_one(a), "y");
  p.mark(a, "a");
  loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats input{1, 2, 3, 4}, y(4), same(4);
  loaded->set("x", input), loaded->set("y", y), loaded->set("a", same);
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
    EXPECT_EQ(y, (Floats{3, 5, 7, 9}));
    EXPECT_EQ(same, (Floats{2, 4, 6, 8}));
  }
}

TEST_F(Aliases, OfTwoFormatsAreAnError) {
  behaviour.out_format = nv::PluginFormat::kHWC;
  p.mark(add_one(p.input("x", {1, 2, 2, 1})));
  EXPECT_EQ(p.build(), nullptr);
  EXPECT_TRUE(has(p.logger.take_errors(), "output 0 has the format of input 0, to which it is aliased"));
}

TEST_F(Aliases, OfSizesThatDataDecides) {
  nv::ITensor* in = x();
  const float two = 2;
  nv::ITensor* bound = p.network->addConstant(dims({1}), {nv::DataType::kFLOAT, &two, 1})->getOutput(0);
  nv::ITensor* large = p.network->addElementWise(*in, *bound, nv::ElementWiseOperation::kLESS)->getOutput(0);
  large = p.network->addUnary(*large, nv::UnaryOperation::kNOT)->getOutput(0);
  nv::ITensor* where = p.network->addNonZero(*large, nv::DataType::kINT32)->getOutput(0);  // [1, count]
  nv::ITensor* kept = p.network->addGather(*in, *where, 0)->getOutput(0);
  p.mark(add_one(twice(kept)), "y");
  p.mark(kept, "kept");
  loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats input{1, 2, 3}, y(3), kept_values(3);
  loaded->set("x", input), loaded->set("y", y), loaded->set("kept", kept_values);
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y, (Floats{5, 7, 0}));
  EXPECT_EQ(kept_values, (Floats{2, 3, 0}));
  input = {4, 1, 1};
  ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
  EXPECT_EQ(y[0], 9);
  EXPECT_EQ(kept_values[0], 4);
}

TEST_F(Aliases, OfABranchLeaveTheTensorOutside) {
  nv::ITensor* a = twice(x());
  nv::ITensor* condition = p.network->addInput("condition", nv::DataType::kBOOL, nv::Dims{0, {}});
  nv::IIfConditional* branches = p.network->addIfConditional();
  branches->setCondition(*condition);
  nv::ITensor* inside = branches->addInput(*a)->getOutput(0);
  nv::ITensor* y = branches->addOutput(*add_one(inside), *twice(inside))->getOutput(0);
  p.mark(sum(y, a), "y");
  loaded = p.load();
  ASSERT_TRUE(loaded);
  Floats input{1, 2, 3}, values(3);
  bool taken = true;
  loaded->set("x", input), loaded->set("y", values);
  ASSERT_TRUE(loaded->context->setTensorAddress("condition", &taken));
  for (int run = 0; run < 4; ++run) {
    taken = run % 2 == 0;
    ASSERT_TRUE(loaded->run()) << p.logger.take_errors();
    EXPECT_EQ(values, taken ? (Floats{5, 9, 13}) : (Floats{6, 12, 18})) << run;
  }
}

/// Networks of such plugins, sums and reshapes, whose tensors have any number of readers, in any order.
class AliasesAtRandom : public PromiseTable<uint32_t> {};

TEST_P(AliasesAtRandom, KeepEveryReadersValues) {
  Aliasing a;
  std::mt19937 random(GetParam());
  const auto below = [&](size_t end) { return static_cast<size_t>(random() % end); };
  std::vector<nv::ITensor*> tensors{a.x()};
  std::vector<Floats> values{{1, 2, 3}};
  for (int i = 0; i < 14; ++i) {
    const size_t first = below(tensors.size()), second = below(tensors.size());
    Floats result = values[first];
    if (const size_t kind = below(4); kind == 0) {
      for (size_t k = 0; k < result.size(); ++k) result[k] += values[second][k];
      tensors.push_back(a.sum(tensors[first], tensors[second]));
    } else if (kind == 1) {
      nv::IShuffleLayer* column = a.p.network->addShuffle(*tensors[first]);
      column->setReshapeDimensions(dims({3, 1}));
      nv::IShuffleLayer* row = a.p.network->addShuffle(*a.add_one(column->getOutput(0)));
      row->setReshapeDimensions(dims({3}));
      tensors.push_back(row->getOutput(0));
      for (float& value : result) value += 1;
    } else {
      tensors.push_back(a.add_one(tensors[first]));
      for (float& value : result) value += 1;
    }
    values.push_back(result);
  }
  std::map<std::string, Floats> outputs;
  for (size_t i = 1; i < tensors.size(); ++i)
    if (i + 1 == tensors.size() || below(4) == 0) {
      const std::string name = "y" + std::to_string(i);
      a.p.mark(tensors[i], name.c_str());
      outputs[name] = values[i];
    }
  a.expect(outputs);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AliasesAtRandom, ::testing::Range(0U, 60U));

TEST_F(Aliases, AreApartWithoutThePreviewFeatureWhichAWarningSays) {
  p.config->setPreviewFeature(nv::PreviewFeature::kALIASED_PLUGIN_IO_10_03, false);
  behaviour.expects_aliases = false;
  p.mark(add_one(x()));
  expect({{"y", {2, 3, 4}}});
  ASSERT_EQ(p.logger.warnings.size(), 1U);
  EXPECT_TRUE(has(p.logger.warnings[0],
                  "layer 'layer': plugin 'AddOne' version '1': getAliasedInput(0) returned 0, which counts under "
                  "PreviewFeature::kALIASED_PLUGIN_IO_10_03 alone"))
      << p.logger.warnings[0];
}

TEST_F(Aliases, ThatCannotBeAreErrors) {
  behaviour.aliases = {3};
  p.mark(add_one(x()));
  EXPECT_EQ(p.build(), nullptr);
  EXPECT_TRUE(has(p.logger.take_errors(),
                  "layer 'layer': plugin 'AddOne' version '1': getAliasedInput(0) returned 3; it has 1 inputs that are "
                  "tensors"));
  behaviour.aliases = {-2};
  EXPECT_EQ(p.build(), nullptr);
  EXPECT_TRUE(has(p.logger.take_errors(), "getAliasedInput(0) returned -2"));
}

TEST_F(Aliases, OfTwoOutputsWithOneInputAreAnError) {
  behaviour.aliases = {0, 0};
  nv::IPluginV3Layer* layer = add({x()});
  p.mark(layer->getOutput(0), "y");
  p.mark(layer->getOutput(1), "z");
  EXPECT_EQ(p.build(), nullptr);
  EXPECT_TRUE(has(p.logger.take_errors(), "outputs 0 and 1 are aliased to input 0; one at most may be"));
}

TEST_F(Aliases, OfOtherShapesAreAnError) {
  behaviour.more = 1;
  p.mark(add_one(x()));
  EXPECT_EQ(p.build(), nullptr);
  EXPECT_TRUE(has(p.logger.take_errors(),
                  "output 0, f32[4], is aliased to input 0, f32[3]; they have to be of one type and shape"));
}

}  // namespace
}  // namespace kiln::promises
