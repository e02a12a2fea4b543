// Quick plugins whose kernels were compiled ahead of time, on a GPU or on the driver that stands in for one.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>

#include "program.h"
#include "promises/ahead.h"

namespace kiln::fake_cuda {
namespace {

using promises::Ahead;
using promises::AheadPlugin;
using promises::LaunchCall;
using promises::SymInt;
using Floats = std::vector<float>;

/// add_scalar as the stand-in runs it: with the threads that it is launched with, and no others.
void add_scalar(const cuda::LaunchConfig& launch, void** arguments) {
  const auto number = [&](int i) { return *static_cast<const uint64_t*>(arguments[i]); };
  const auto* x = reinterpret_cast<const float*>(number(0));
  auto* y = reinterpret_cast<float*>(number(3));
  const auto n = static_cast<uint32_t>(number(1));
  const auto addend = static_cast<int16_t>(number(2));
  for (uint32_t i = 0; i < launch.grid[0] * launch.block[0] && i < n; ++i) y[i] = x[i] + static_cast<float>(addend);
}

/// x f32[n, 4] with n from 1 to 64 -> the plugin -> y, in the memory of a GPU.
class AheadOfTime : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (!std::getenv("KILN_DEVICE") || std::string(std::getenv("KILN_DEVICE")) != "cuda" ||
        cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
      GTEST_SKIP() << "KILN_DEVICE is not 'cuda', or there is no GPU";
    if (!std::getenv("KILN_CUDA_DRIVER")) return;
    control().reset();
    control().define_kernel("add_scalar", add_scalar, 4);
  }
  void TearDown() override {
    network.reset();
    EXPECT_EQ(ahead.alive, 0);
  }

  nv::IPluginV3Layer* add(nv::ITensor* x) {
    AheadPlugin plugin(ahead);
    nv::IPluginV3Layer* layer = network->addPluginV3(&x, 1, nullptr, 0, plugin);
    if (layer) layer->setName("layer");
    return layer;
  }
  nv::ITensor* input() {
    nv::IOptimizationProfile* profile = builder->createOptimizationProfile();
    profile->setDimensions("x", nv::OptProfileSelector::kMIN, nv::Dims2(1, 4));
    profile->setDimensions("x", nv::OptProfileSelector::kOPT, nv::Dims2(8, 4));
    profile->setDimensions("x", nv::OptProfileSelector::kMAX, nv::Dims2(64, 4));
    config->addOptimizationProfile(profile);
    return network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(-1, 4));
  }
  void mark(nv::ITensor* y, const char* name = "y") {
    y->setName(name);
    network->markOutput(*y);
  }
  bool chain() {
    nv::IPluginV3Layer* layer = add(input());
    if (layer) mark(layer->getOutput(0));
    return layer != nullptr;
  }
  std::unique_ptr<nv::IHostMemory> build() {
    return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config));
  }
  std::string error_of_build() {
    EXPECT_TRUE(chain()) << logger.all();
    EXPECT_FALSE(build());
    return logger.all();
  }

  /// Runs x of so many rows, 0 1 2 ..., several times; y of the last.
  Floats run(nv::IExecutionContext& context, int64_t rows, int times = 1) {
    const auto count = static_cast<size_t>(rows) * 4;
    Floats x(count), y(count, -1);
    for (size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i);
    EXPECT_TRUE(context.setInputShape("x", nv::Dims2(rows, 4))) << logger.all();
    void *x_at = nullptr, *y_at = nullptr;
    EXPECT_EQ(cudaMalloc(&x_at, 64 * 16), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&y_at, 64 * 16), cudaSuccess);
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(x_at, x.data(), count * 4, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_TRUE(context.setTensorAddress("x", x_at) && context.setTensorAddress("y", y_at)) << logger.all();
    for (int i = 0; i < times; ++i) EXPECT_TRUE(context.enqueueV3(stream)) << logger.all();
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess) << logger.all();
    EXPECT_EQ(cudaMemcpy(y.data(), y_at, count * 4, cudaMemcpyDeviceToHost), cudaSuccess);
    cudaStreamDestroy(stream), cudaFree(x_at), cudaFree(y_at);
    return y;
  }
  static Floats expected(int64_t rows, float addend) {
    Floats result;
    for (int64_t i = 0; i < rows * 4; ++i) result.push_back(static_cast<float>(i) + addend);
    return result;
  }
  struct Loaded {
    std::unique_ptr<nv::IRuntime> runtime;
    std::unique_ptr<nv::ICudaEngine> engine;
    std::unique_ptr<nv::IExecutionContext> context;
  };
  Loaded load(const void* data, size_t size) {
    Loaded loaded{std::unique_ptr<nv::IRuntime>(nv::createInferRuntime(logger)), nullptr, nullptr};
    loaded.engine.reset(loaded.runtime->deserializeCudaEngine(data, size));
    if (loaded.engine) loaded.context.reset(loaded.engine->createExecutionContext());
    return loaded;
  }
  Loaded load() {
    const auto plan = build();
    EXPECT_TRUE(plan) << logger.all();
    Loaded loaded = plan ? load(plan->data(), plan->size()) : Loaded{};
    EXPECT_TRUE(loaded.context) << logger.all();
    return loaded;
  }

  Logger logger;
  Ahead ahead;
  std::unique_ptr<nv::IBuilder> builder{nv::createInferBuilder(logger)};
  std::unique_ptr<nv::INetworkDefinition> network{builder->createNetworkV2(0)};
  std::unique_ptr<nv::IBuilderConfig> config{builder->createBuilderConfig()};
};

TEST_F(AheadOfTime, RunInAllShapesWithoutThePlugin) {
  ASSERT_TRUE(chain()) << logger.all();
  const Loaded loaded = load();  // no creator is registered
  ASSERT_TRUE(loaded.context);
  network.reset();
  EXPECT_EQ(ahead.alive, 0);
  for (const int64_t rows : {8, 1, 64, 7}) EXPECT_EQ(run(*loaded.context, rows), expected(rows, 3)) << rows;
}

TEST_F(AheadOfTime, IsAskedForTheTacticsLaunchAndThenItsKernel) {
  ahead.tactics = {7};
  ahead.launch = [](const LaunchCall& call) { promises::launch_add(call, 10 * call.tactic); };
  ASSERT_TRUE(chain()) << logger.all();
  ahead.calls.clear();
  const Loaded loaded = load();
  ASSERT_TRUE(loaded.context);
  const auto at = [&](const std::string& call) { return std::ranges::find(ahead.calls, call) - ahead.calls.begin(); };
  EXPECT_LT(at("configurePlugin"), at("getValidTactics"));
  EXPECT_LT(at("getValidTactics"), at("setTactic 7"));
  EXPECT_LT(at("setTactic 7"), at("getLaunchParams"));
  EXPECT_LT(at("getLaunchParams"), at("getKernel"));
  EXPECT_LT(at("getKernel"), std::ssize(ahead.calls));
  EXPECT_EQ(at("setTactic 0"), std::ssize(ahead.calls));
  EXPECT_EQ(at("asked for a runtime part"), std::ssize(ahead.calls));
  EXPECT_EQ(run(*loaded.context, 5), expected(5, 70));
}

TEST_F(AheadOfTime, OneOfItsTacticsIsChosen) {
  ahead.tactics = {2, 3};
  ASSERT_TRUE(chain()) << logger.all();
  const Loaded loaded = load();
  ASSERT_TRUE(loaded.context);
  for (const char* call : {"setTactic 2", "setTactic 3"}) EXPECT_TRUE(std::ranges::count(ahead.calls, call)) << call;
  EXPECT_EQ(run(*loaded.context, 2), expected(2, 3));
}

TEST_F(AheadOfTime, WithoutTacticsItIsToldTacticZero) {
  ASSERT_TRUE(chain()) << logger.all();
  ASSERT_TRUE(build()) << logger.all();
  EXPECT_TRUE(std::ranges::count(ahead.calls, "setTactic 0"));
}

// TensorRT's Python plugins keep their outputs' extents and tell the launch in them.
TEST_F(AheadOfTime, TheLaunchMayBeToldInTheExtentsOfItsOutputs) {
  ahead.launch = [](const LaunchCall& call) {
    promises::launch_add(call, 0);
    SymInt rows(call.y.d[0], nv::PluginArgDataType::kINT16);
    EXPECT_TRUE(call.arguments.setSymExpr(1, &rows));
    EXPECT_EQ(call.arguments.getSymExpr(1), &rows);
    EXPECT_EQ(call.arguments.getNbSymExprs(), 2);
  };
  ASSERT_TRUE(chain()) << logger.all();
  const Loaded loaded = load();
  ASSERT_TRUE(loaded.context);
  for (const int64_t rows : {3, 60}) EXPECT_EQ(run(*loaded.context, rows), expected(rows, static_cast<float>(rows)));
}

TEST_F(AheadOfTime, NarrowScalarsKeepTheirSigns) {
  ahead.launch = [](const LaunchCall& call) { promises::launch_add(call, -32768); };
  ASSERT_TRUE(chain()) << logger.all();
  const Loaded loaded = load();
  ASSERT_TRUE(loaded.context);
  EXPECT_EQ(run(*loaded.context, 3), expected(3, -32768));
}

TEST_F(AheadOfTime, RunsThatRepeatAreRecorded) {
  ASSERT_TRUE(chain()) << logger.all();
  const Loaded loaded = load();
  ASSERT_TRUE(loaded.context);
  logger.notices.clear();
  const int64_t before = std::getenv("KILN_CUDA_DRIVER") ? control().num_calls("cuLaunchKernelEx") : 0;
  EXPECT_EQ(run(*loaded.context, 8, 16), expected(8, 3));
  if (std::getenv("KILN_CUDA_DRIVER")) {
    EXPECT_LE(control().num_calls("cuLaunchKernelEx") - before, 4);
  }
  EXPECT_EQ(run(*loaded.context, 3, 16), expected(3, 3));
  EXPECT_EQ(run(*loaded.context, 8, 16), expected(8, 3));
  EXPECT_TRUE(logger.notices.empty()) << logger.notices[0];
}

TEST_F(AheadOfTime, StandsAmongLayersThatHaveKernels) {
  nv::ITensor* before = network->addUnary(*input(), nv::UnaryOperation::kNEG)->getOutput(0);
  nv::IPluginV3Layer* layer = add(before);
  ASSERT_TRUE(layer) << logger.all();
  mark(network->addUnary(*layer->getOutput(0), nv::UnaryOperation::kABS)->getOutput(0));
  const Loaded loaded = load();
  ASSERT_TRUE(loaded.context);
  const Floats y = run(*loaded.context, 6, 8);
  if (std::getenv("KILN_CUDA_DRIVER")) return;  // whose other kernels do nothing
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], std::abs(3 - static_cast<float>(i))) << i;
}

TEST_F(AheadOfTime, MayChangeItsInput) {
  config->setPreviewFeature(nv::PreviewFeature::kALIASED_PLUGIN_IO_10_03, true);
  ahead.aliased_input = 0;
  ASSERT_TRUE(chain()) << logger.all();
  const Loaded loaded = load();
  ASSERT_TRUE(loaded.context);
  const Floats y = run(*loaded.context, 5);
  if (std::getenv("KILN_CUDA_DRIVER")) return;  // whose kernels do not copy the program's input for the plugin
  EXPECT_EQ(y, expected(5, 3));
}

TEST_F(AheadOfTime, AnEmptyTensorLaunchesNothing) {
  ahead.launch = [](const LaunchCall& call) {
    promises::launch_add(call, 3);
    SymInt none(call.constant(0));
    call.launch.setGridX(&none);
  };
  ASSERT_TRUE(chain()) << logger.all();
  const Loaded loaded = load();
  ASSERT_TRUE(loaded.context);
  EXPECT_EQ(run(*loaded.context, 2).size(), 8u);
}

/// Writes 5 into `count`; y is its first rows.
constexpr const char* kKeepFive = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry keep_five(.param .u64 x, .param .u64 y, .param .u64 count)
{
  .reg .b32 %five;
  .reg .b64 %count;
  ld.param.u64 %count, [count];
  cvta.to.global.u64 %count, %count;
  mov.u32 %five, 5;
  st.global.u32 [%count], %five;
  ret;
}
)";

TEST_F(AheadOfTime, MayTellASize) {
  if (std::getenv("KILN_CUDA_DRIVER"))
    control().define_kernel(
        "keep_five",
        [](const cuda::LaunchConfig&, void** arguments) {
          *reinterpret_cast<int32_t*>(*static_cast<const uint64_t*>(arguments[2])) = 5;
        },
        3);
  ahead.entry = "keep_five", ahead.code = kKeepFive, ahead.num_outputs = 2;
  ahead.launch = [](const LaunchCall&) {};
  ahead.shapes = [](const nv::DimsExprs& x, nv::DimsExprs* out, nv::IExprBuilder& builder) {
    out[0].d[0] = builder.declareSizeTensor(1, *x.d[0], *x.d[0]);
    out[1].nbDims = 0;
  };
  nv::IPluginV3Layer* layer = add(input());
  ASSERT_TRUE(layer) << logger.all();
  mark(layer->getOutput(0)), mark(layer->getOutput(1), "count");
  const Loaded loaded = load();
  ASSERT_TRUE(loaded.context);
  struct Allocator final : nv::IOutputAllocator {
    void* reallocateOutput(const char*, void* memory, uint64_t size, uint64_t) noexcept override {
      return size <= 64 * 16 ? memory : nullptr;
    }
    void notifyShape(const char*, const nv::Dims& dims) noexcept override { rows = dims.d[0]; }
    int64_t rows = -1;
  } allocator;
  void* count = nullptr;
  ASSERT_EQ(cudaMalloc(&count, 4), cudaSuccess);
  ASSERT_TRUE(loaded.context->setTensorAddress("count", count));
  ASSERT_TRUE(loaded.context->setOutputAllocator("y", &allocator));
  run(*loaded.context, 8, 4);
  EXPECT_EQ(allocator.rows, 5);
  cudaFree(count);
}

struct Refusal {
  const char* name;
  void (*change)(Ahead& ahead);
  const char* words;
};
void PrintTo(const Refusal& refusal, std::ostream* to) { *to << refusal.name; }

const nv::IDimensionExpr* stale = nullptr;

const Refusal kRefusals[] = {
    {"FailsToBeTold", [](Ahead& a) { a.fails_in = "setTactic"; }, "setTactic returned 1"},
    {"FailsToTellItsLaunch", [](Ahead& a) { a.fails_in = "getLaunchParams"; }, "getLaunchParams returned 1"},
    {"FailsToGiveAKernel", [](Ahead& a) { a.fails_in = "getKernel"; }, "getKernel returned 1"},
    {"GivesNoName", [](Ahead& a) { a.gives_name = false; }, "getKernel gave no name of the kernel"},
    {"GivesNoCode", [](Ahead& a) { a.gives_code = false; }, "getKernel gave no code"},
    {"GivesOtherCode", [](Ahead& a) { a.code = "int main() {}"; },
     "getKernel gave 13 bytes that are neither PTX (text with a line .version) nor a cubin"},
    {"NamesAnotherKernel", [](Ahead& a) { a.entry = "add_two"; }, "the cubin has no kernel 'add_two'"},
    {"ForgetsAScalar",
     [](Ahead& a) {
       a.launch = [](const LaunchCall& call) {
         promises::launch_add(call, 3);
         call.arguments.setNbSymExprs(1);
       };
     },
     "kernel 'add_scalar' takes arguments of these bytes: 8, 4, 2, 8; it would get the addresses of 1 inputs, 1 "
     "scalars, and the addresses of 1 outputs: 8, 4, 8"},
    {"LeavesAScalarOut",
     [](Ahead& a) {
       a.launch = [](const LaunchCall& call) {
         promises::launch_add(call, 3);
         call.arguments.setNbSymExprs(3);
       };
     },
     "extra argument 2 of 3 was not set"},
    {"SetsAScalarTooMany",
     [](Ahead& a) {
       a.launch = [](const LaunchCall& call) {
         promises::launch_add(call, 3);
         SymInt more(call.constant(1));
         EXPECT_FALSE(call.arguments.setSymExpr(2, &more));
       };
     },
     "extra argument 2 is outside [0, 2)"},
    {"WantsANumberOfScalarsThatCannotBe",
     [](Ahead& a) { a.launch = [](const LaunchCall& call) { EXPECT_FALSE(call.arguments.setNbSymExprs(-1)); }; },
     "setNbSymExprs got -1"},
    {"GivesNull",
     [](Ahead& a) { a.launch = [](const LaunchCall& call) { EXPECT_FALSE(call.launch.setGridY(nullptr)); }; },
     "grid y is null"},
    {"GivesNoExpression",
     [](Ahead& a) {
       a.launch = [](const LaunchCall& call) {
         SymInt empty(nullptr);
         EXPECT_FALSE(call.launch.setSharedMem(&empty));
       };
     },
     "shared memory has no expression (getExpr returned null)"},
    {"GivesAnExpressionOfAnotherCall",
     [](Ahead& a) {
       a.shapes = [](const nv::DimsExprs&, nv::DimsExprs*, nv::IExprBuilder& builder) {
         if (!stale) stale = builder.constant(1);
       };
       a.launch = [](const LaunchCall& call) {
         SymInt old(stale);
         EXPECT_FALSE(call.launch.setBlockZ(&old));
       };
     },
     "block z is of an expression that neither this call's IExprBuilder made nor its inputs have"},
    {"DividesByZero",
     [](Ahead& a) {
       a.launch = [](const LaunchCall& call) {
         SymInt broken(
             call.builder.operation(nv::DimensionOperation::kFLOOR_DIV, *call.constant(1), *call.constant(0)));
         EXPECT_FALSE(call.launch.setBlockY(&broken));
       };
     },
     "block y: "},
    {"GivesATypeThatIsNone",
     [](Ahead& a) {
       a.launch = [](const LaunchCall& call) {
         SymInt real(call.constant(1));
         real.type = static_cast<nv::PluginArgType>(1);
         EXPECT_FALSE(call.launch.setGridZ(&real));
       };
     },
     "grid z is of type 1; kINT is the only one"},
    {"GivesAScalarOfNoDataType",
     [](Ahead& a) {
       a.launch = [](const LaunchCall& call) {
         promises::launch_add(call, 3);
         SymInt wide(call.constant(1), static_cast<nv::PluginArgDataType>(3));
         EXPECT_FALSE(call.arguments.setSymExpr(1, &wide));
       };
     },
     "extra argument 1 is of data type 3, which no PluginArgDataType has"},
    {"HasABlockOfTooManyThreads",
     [](Ahead& a) {
       a.launch = [](const LaunchCall& call) {
         promises::launch_add(call, 3);
         SymInt threads(call.constant(1025));
         EXPECT_TRUE(call.launch.setBlockX(&threads));
         EXPECT_EQ(call.launch.getBlockX(), &threads);
         EXPECT_EQ(call.launch.getBlockY(), nullptr);
       };
     },
     "block x of its kernel is 1025; 1 to 1024 are possible"},
    {"HasAScalarThatIsTooLarge",
     [](Ahead& a) { a.launch = [](const LaunchCall& call) { promises::launch_add(call, 32768); }; },
     "scalar argument 1 of its kernel is 32768, which 2 bytes do not hold"},
    {"NeedsASizeThatItTells",
     [](Ahead& a) {
       a.num_outputs = 2;
       a.shapes = [](const nv::DimsExprs& x, nv::DimsExprs* out, nv::IExprBuilder& builder) {
         out[0].d[0] = stale = builder.declareSizeTensor(1, *x.d[0], *x.d[0]);
         out[1].nbDims = 0;
       };
       a.launch = [](const LaunchCall& call) {
         SymInt size(stale);
         call.launch.setGridX(&size);
       };
     },
     "grid x of its kernel depends on a size tensor, which nobody knows before the kernel has run"},
};

class AheadOfTimeRefusals : public AheadOfTime, public ::testing::WithParamInterface<Refusal> {};

TEST_P(AheadOfTimeRefusals, NameThePluginAndTheCause) {
  stale = nullptr;
  GetParam().change(ahead);
  const std::string told = error_of_build();
  EXPECT_NE(told.find("plugin 'Ahead' version '1' of namespace 'quick'"), told.npos) << told;
  EXPECT_NE(told.find(GetParam().words), told.npos) << told;
}
INSTANTIATE_TEST_SUITE_P(AheadOfTime, AheadOfTimeRefusals, ::testing::ValuesIn(kRefusals),
                         [](const auto& info) { return std::string(info.param.name); });

/// Adds rows * (64 - rows) * `factor`.
void launch_curve(const LaunchCall& call, int64_t factor) {
  promises::launch_add(call, 0);
  using Operation = nv::DimensionOperation;
  const auto* rest = call.builder.operation(Operation::kSUB, *call.constant(64), *call.x.d[0]);
  const auto* area = call.builder.operation(Operation::kPROD, *call.x.d[0], *rest);
  SymInt curve(call.builder.operation(Operation::kPROD, *area, *call.constant(factor)), nv::PluginArgDataType::kINT16);
  call.arguments.setSymExpr(1, &curve);
}

/// What is right at the optimum and at the ends and wrong in another shape is an error of the run, and the context
/// works on.
TEST_F(AheadOfTime, AShapeThatItsScalarsDoNotHoldIsRefused) {
  ahead.launch = [](const LaunchCall& call) { launch_curve(call, 35); };
  ASSERT_TRUE(chain()) << logger.all();
  const Loaded loaded = load();
  ASSERT_TRUE(loaded.context);
  EXPECT_EQ(run(*loaded.context, 5), expected(5, 5 * 59 * 35));
  ASSERT_TRUE(loaded.context->setInputShape("x", nv::Dims2(32, 4)));
  EXPECT_FALSE(loaded.context->enqueueV3(nullptr));
  EXPECT_NE(logger.all().find("plugin 'Ahead' version '1' of namespace 'quick': scalar argument 1 of its kernel is "
                              "35840, which 2 bytes do not hold"),
            std::string::npos)
      << logger.all();
  EXPECT_EQ(run(*loaded.context, 6), expected(6, 6 * 58 * 35));
}

TEST_F(AheadOfTime, TheLargestShapeHasToFit) {
  ahead.launch = [](const LaunchCall& call) {
    promises::launch_add(call, 3);
    SymInt rows(call.builder.operation(nv::DimensionOperation::kPROD, *call.x.d[0], *call.constant(1000)),
                nv::PluginArgDataType::kINT16);
    call.arguments.setSymExpr(1, &rows);
  };
  const std::string told = error_of_build();
  EXPECT_NE(told.find("scalar argument 1 of its kernel is 64000, which 2 bytes do not hold"), told.npos) << told;
  EXPECT_EQ(told.find("damaged"), told.npos) << told;
}

/// The process that a saved plan is loaded in: AheadOfTime.ASavedPlanRunsInAnotherProcess starts it.
TEST_F(AheadOfTime, RunsThePlanOfAFile) {
  const char* path = std::getenv("KILN_TEST_PLAN");
  if (!path) GTEST_SKIP() << "KILN_TEST_PLAN is not set: another test sets it";
  std::ifstream file(path, std::ios::binary);
  const std::string plan((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Loaded loaded = load(plan.data(), plan.size());
  ASSERT_TRUE(loaded.context) << logger.all();
  for (const int64_t rows : {8, 1, 64}) EXPECT_EQ(run(*loaded.context, rows, 8), expected(rows, 3)) << rows;
}

TEST_F(AheadOfTime, ASavedPlanRunsInAnotherProcess) {
  ASSERT_TRUE(chain()) << logger.all();
  const auto plan = build();
  ASSERT_TRUE(plan) << logger.all();
  const Folder folder;
  std::ofstream(folder.path + "/plan", std::ios::binary)
      .write(static_cast<const char*>(plan->data()), static_cast<std::streamsize>(plan->size()));
  EXPECT_EQ(run_again("KILN_TEST_PLAN='" + folder.path + "/plan'", "AheadOfTime.RunsThePlanOfAFile"), 0);
}

/// NVRTC's calls that a program needs which compiles kernels ahead of time.
struct Compiler {
  using Program = void*;
  int (*create)(Program*, const char* text, const char* name, int, const char* const*, const char* const*) = nullptr;
  int (*compile)(Program, int, const char* const* options) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;

  /// Whether there is NVRTC.
  bool find() {
    void* library = nullptr;
    const char* given = std::getenv("KILN_NVRTC");
    for (const char* name :
         {given, "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"})
      if (name && !library) library = dlopen(name, RTLD_NOW);
    if (!library) return false;
    const auto bind = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return bind(create, "nvrtcCreateProgram") && bind(compile, "nvrtcCompileProgram") &&
           bind(ptx_size, "nvrtcGetPTXSize") && bind(ptx, "nvrtcGetPTX") && bind(cubin_size, "nvrtcGetCUBINSize") &&
           bind(cubin, "nvrtcGetCUBIN") && bind(destroy, "nvrtcDestroyProgram");
  }
  enum class Form : uint8_t { kPtx, kCubin };
  std::string code_of(const char* text, const std::string& architecture, Form form) const {
    Program program = nullptr;
    const std::string option = "--gpu-architecture=" + architecture;
    const char* const options[] = {option.c_str()};
    EXPECT_EQ(create(&program, text, "kernel.cu", 0, nullptr, nullptr), 0);
    EXPECT_EQ(compile(program, 1, options), 0);
    size_t size = 0;
    EXPECT_EQ((form == Form::kPtx ? ptx_size : cubin_size)(program, &size), 0);
    std::string code(size, '\0');
    EXPECT_EQ((form == Form::kPtx ? ptx : cubin)(program, code.data()), 0);
    destroy(&program);
    return code;
  }
};

constexpr const char* kAddInCuda = R"(
extern "C" __global__ void add_scalar(const float* x, int n, short addend, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + addend;
}
)";

TEST_F(AheadOfTime, KernelsOfNvrtcRunAsPtxAndAsCubins) {
  Compiler compiler;
  if (!compiler.find()) GTEST_SKIP() << "there is no NVRTC";
  cudaDeviceProp device;
  ASSERT_EQ(cudaGetDeviceProperties(&device, 0), cudaSuccess);
  const std::string arch = std::to_string(device.major * 10 + device.minor);
  for (const std::string& code : {compiler.code_of(kAddInCuda, "compute_" + arch, Compiler::Form::kPtx),
                                  compiler.code_of(kAddInCuda, "sm_" + arch, Compiler::Form::kCubin)}) {
    ahead.code = code;
    network.reset(builder->createNetworkV2(0));
    config.reset(builder->createBuilderConfig());
    ASSERT_TRUE(chain()) << logger.all();
    const Loaded loaded = load();
    ASSERT_TRUE(loaded.context);
    for (const int64_t rows : {8, 1, 64, 7})
      EXPECT_EQ(run(*loaded.context, rows, 8), expected(rows, 3)) << rows << " rows, code " << code.substr(0, 4);
  }
}

/// Triton's kernels have parameters behind the plugin's: addresses of scratch memory, which is none.
constexpr const char* kAddWithScratch = R"(
extern "C" __global__ void add_scalar(const float* x, int n, short addend, float* y, char* scratch, char* profile) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = scratch || profile ? -1 : x[i] + addend;
}
)";

TEST_F(AheadOfTime, AddressesBehindItsArgumentsAreNull) {
  Compiler compiler;
  if (!compiler.find()) GTEST_SKIP() << "there is no NVRTC";
  cudaDeviceProp device;
  ASSERT_EQ(cudaGetDeviceProperties(&device, 0), cudaSuccess);
  ahead.code = compiler.code_of(kAddWithScratch, "compute_" + std::to_string(device.major * 10 + device.minor),
                                Compiler::Form::kPtx);
  ASSERT_TRUE(chain()) << logger.all();
  const Loaded loaded = load();
  ASSERT_TRUE(loaded.context);
  EXPECT_EQ(run(*loaded.context, 8), expected(8, 3));
}

}  // namespace
}  // namespace kiln::fake_cuda
