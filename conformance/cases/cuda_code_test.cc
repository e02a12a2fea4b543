// Every case's code for a GPU, on a machine without one: a stand-in for the driver has the devices, NVRTC is real.
// Steps compile, load, bind and launch; what kernels compute is for tests on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "backend/cuda/compile/compiler.h"
#include "backend/cuda/compile/nvrtc.h"
#include "built_case.h"
#include "by_reference.h"
#include "damage.h"
#include "device_run.h"
#include "fake_gpu.h"
#include "instance_list.h"
#include "ir/interpret.h"
#include "ops/concatenation.h"
#include "ops/convolution.h"
#include "ops/dequantize.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"
#include "ops/quantize.h"
#include "ops/reduce.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/softmax.h"
#include "ops/transpose.h"
#include "runtime/context.h"
#include "tensor/view.h"

namespace kiln {
namespace {

struct Capability {
  int major, minor;
};
class CudaCode : public ::testing::TestWithParam<Capability> {};

/// What a run is told whose kernels decide a size: the stand-in's kernels write nothing, and its fresh memory is full
/// of 0xcd. The run has launched them all by then.
constexpr std::string_view kSizeOfFreshMemory = " decided -3617008641903833651 for ";

TEST_P(CudaCode, OfEveryCaseLoadsAndLaunches) {
  if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  FakeGpu gpu(GetParam().major, GetParam().minor);
  const BuildRequest request{.numerics = {.tf32 = false, .cublas_lt = false}, .optimization_level = 0};
  std::set<std::string> kernels;
  cuda::compiler_of(*gpu.device).note_configurations(&kernels);
  std::map<std::string, int> ran;
  std::set<std::string> fallen_back;
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    const auto built = build_case(c);
    ASSERT_TRUE(built) << built.error().message;
    const auto run = run_on(*gpu.backend, built->graph, built->network_inputs, request);
    if (!run && run.error().message.contains(kSizeOfFreshMemory)) continue;
    EXPECT_TRUE(run) << c.name << ": " << run.error().message;
    if (!run) continue;
    for (const std::string& tactic : run->tactics) ++ran[tactic];
    const bool has_tactics = !gpu.backend->tactics(c.op.info()).empty();
    if (has_tactics && std::ranges::count(run->tactics, "reference")) fallen_back.insert(c.name);
  }
  for (const auto& [tactic, count] : ran) std::cout << "tactic " << tactic << ": " << count << " steps\n";
  std::set<std::string> listed;
  for (const auto& [name, reason] : kCudaByReference) listed.emplace(name);
  if (GetParam().major * 10 + GetParam().minor < 89)
    for (const auto& [name, reason] : kOldCudaByReference) listed.emplace(name);
  EXPECT_EQ(fallen_back, listed);
  InstanceUsers found;
  for (const std::string& kernel : kernels) found[kernel].insert("cases");
  const Status same = check_instances(cuda::compiler_of(*gpu.device).arch(), {"cases"}, found);
  EXPECT_TRUE(same) << same.error().message;
}

/// A network of the ops that transformers have around their products, for any batch and length.
Result<ir::Graph> dynamic_network() {
  ir::Graph graph;
  const sym::Expr batch = graph.table().symbol("batch"), length = graph.table().symbol("length");
  const ir::ValueId x = graph.add_input("x", TensorType(DType::kF16, {batch, length, 96}));
  const ir::ValueId bias = graph.add_constant(HostTensor::scalar(DType::kF16, 0.5).reshaped({1, 1, 1}), "bias");
  const ir::ValueId moved = TRY(graph.add_one(ops::Transpose{{0, 2, 1}}, {x}));
  const ir::ValueId shares = TRY(graph.add_one(ops::Softmax{2}, {moved}));
  const ir::ValueId back = TRY(graph.add_one(ops::Transpose{{0, 2, 1}}, {shares}));
  const ir::ValueId sum = TRY(graph.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {back, bias}));
  const ir::ValueId norm = TRY(graph.add_one(ops::Normalization{.axes = {2}}, {sum}));
  const ir::ValueId both = TRY(graph.add_one(ops::Concatenation{1}, {norm, x}));
  for (const int64_t axis : {1, 2})
    graph.mark_output(TRY(graph.add_one(ops::Reduce{.kind = ops::ReduceKind::kAvg, .axes = {axis}}, {both})),
                      str("mean", axis));
  const std::vector<double> numbers(96 * 48, 0.5);
  const ir::ValueId w = graph.add_constant(HostTensor::of(DType::kF16, {1, 96, 48}, numbers), "w");
  graph.mark_output(TRY(graph.add_one(ops::MatrixMultiply{}, {both, w})), "product");
  graph.mark_output(TRY(graph.add_one(ops::MatrixMultiply{ops::MatrixOp::kTranspose, ops::MatrixOp::kNone}, {x, x})),
                    "squares");
  return graph;
}

/// A convolution of two tensors joined along their channels, and one of few weights.
Result<ir::Graph> joined_network() {
  ir::Graph graph;
  const auto weights = [&](const Extents& extents) -> Result<ir::ValueId> {
    HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kF32, extents));
    for (int64_t i = 0; i < volume(extents); ++i) store_number(DType::kF32, fresh.data.data(), i, 0.5);
    return graph.add_constant(fresh.tensor, "w");
  };
  const ir::ValueId a = graph.add_input("a", TensorType(DType::kF32, {1, 64, 12, 12})),
                    b = graph.add_input("b", TensorType(DType::kF32, {1, 64, 12, 12}));
  const ir::ValueId both = TRY(graph.add_one(ops::Concatenation{1}, {a, b}));
  const ops::Convolution op{.pre_pads = {1, 1}, .post_pads = {1, 1}};
  const ir::ValueId y = TRY(graph.add_one(op, {both, TRY(weights({64, 128, 3, 3}))}));
  graph.mark_output(TRY(graph.add_one(ops::Convolution{}, {y, TRY(weights({8, 64, 1, 1}))})), "y");
  return graph;
}

TEST_P(CudaCode, ConvolutionsOfEveryPrecision) {
  if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  FakeGpu gpu(GetParam().major, GetParam().minor);
  const std::vector<HostTensor> inputs(2, HostTensor::make(DType::kF32, {1, 64, 12, 12}).value().tensor);
  for (const Numerics& numerics :
       {Numerics{.tf32 = false, .cublas_lt = false}, Numerics{.tf32 = true, .cublas_lt = false},
        Numerics{.tf32 = true, .fp16 = true, .cublas_lt = false}}) {
    const auto graph = joined_network();
    ASSERT_TRUE(graph) << graph.error().message;
    const auto run = run_on(*gpu.backend, *graph, inputs, {.numerics = numerics, .optimization_level = 2});
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_FALSE(std::ranges::count(run->tactics, "reference"));
    EXPECT_GE(std::ranges::count(run->tactics, "convolution"), 1);
  }
}

/// A layer of a transformer whose products multiply bytes; what the first normalisation makes is read as floats, too.
Result<ir::Graph> quantized_layer(DType bytes) {
  constexpr DType kF16 = DType::kF16;
  ir::Graph graph;
  const auto constant = [&](DType type, const Extents& extents, double value) -> Result<ir::ValueId> {
    HostTensor::Fresh fresh = TRY(HostTensor::make(type, extents));
    for (int64_t i = 0; i < volume(extents); ++i) store_number(type, fresh.data.data(), i, value);
    return graph.add_constant(fresh.tensor, "c");
  };
  const auto narrow = [&](ir::ValueId x) -> Result<ir::ValueId> {
    const Extents ones(static_cast<size_t>(graph.type(x).rank()), 1);
    const ir::ValueId scale = TRY(constant(DType::kF32, ones, 0.25));
    return graph.add_one(ops::Quantize{bytes}, {x, scale});
  };
  const auto product = [&](ir::ValueId x, int64_t columns) -> Result<ir::ValueId> {
    const ir::ValueId scale = TRY(constant(DType::kF32, {1, 1, 1}, 0.25));
    const ir::ValueId a = TRY(graph.add_one(ops::Dequantize{.to = kF16}, {x, scale}));
    const ir::ValueId w = TRY(constant(bytes, {1, 128, columns}, 3));
    const ir::ValueId b = TRY(graph.add_one(ops::Dequantize{.to = kF16}, {w, scale}));
    return graph.add_one(ops::MatrixMultiply{}, {a, b});
  };
  const ir::ValueId x = graph.add_input("x", TensorType(kF16, {2, 64, 128}));
  const ir::ValueId norm = TRY(graph.add_one(ops::Normalization{.axes = {2}}, {x, TRY(constant(kF16, {128}, 2))}));
  const ir::ValueId all = TRY(product(TRY(narrow(norm)), 3 * 128));
  std::vector<ir::ValueId> parts;
  for (const int64_t i : {0, 1, 2}) {
    const ir::ValueId part = TRY(graph.add_one(ops::Slice{{i * 128}, {128}, {1}, {2}}, {all}));
    const ir::ValueId heads = TRY(graph.add_one(ops::Reshape{.dims = {2, 64, 2, 64}}, {part}));
    parts.push_back(TRY(graph.add_one(ops::Transpose{.perm = {0, 2, 1, 3}}, {heads})));
  }
  const ops::MatrixMultiply by_transpose{ops::MatrixOp::kNone, ops::MatrixOp::kTranspose};
  const ir::ValueId scores = TRY(graph.add_one(by_transpose, {parts[0], parts[1]}));
  const ir::ValueId weights = TRY(graph.add_one(ops::Softmax{3}, {scores}));
  const ir::ValueId attended = TRY(graph.add_one(ops::MatrixMultiply{}, {weights, parts[2]}));
  const ir::ValueId turned = TRY(graph.add_one(ops::Transpose{.perm = {0, 2, 1, 3}}, {attended}));
  const ir::ValueId rows = TRY(graph.add_one(ops::Reshape{.dims = {2, 64, 128}}, {turned}));
  const ir::ValueId out = TRY(product(TRY(narrow(rows)), 128));
  const ir::ValueId sum = TRY(graph.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {out, norm}));
  const ir::ValueId second = TRY(graph.add_one(ops::Normalization{.axes = {2}}, {sum}));
  graph.mark_output(TRY(product(TRY(narrow(second)), 64)), "y");
  return graph;
}

TEST_P(CudaCode, QuantizesInTheStepThatMakesTheFloats) {
  if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  FakeGpu gpu(GetParam().major, GetParam().minor);
  const std::vector<HostTensor> inputs(1, HostTensor::make(DType::kF16, {2, 64, 128}).value().tensor);
  for (const DType bytes : {DType::kI8, DType::kF8E4M3}) {
    if (bytes == DType::kF8E4M3 && GetParam().major < 9) continue;
    const auto graph = quantized_layer(bytes);
    ASSERT_TRUE(graph) << graph.error().message;
    for (const int level : {0, 2}) {
      const BuildRequest request{.numerics = {.strongly_typed = true, .cublas_lt = false}, .optimization_level = level};
      const auto run = run_on(*gpu.backend, *graph, inputs, request);
      ASSERT_TRUE(run) << run.error().message;
      std::vector<std::string> tactics = run->tactics;
      std::erase(tactics, "view");
      EXPECT_EQ(tactics, (std::vector<std::string>{"normalization", "gemm of bytes", "attention", "gemm of bytes",
                                                   "normalization", "gemm of bytes"}))
          << name_of(bytes) << " at level " << level;
    }
  }
}

/// Attention of bytes as exporters of quantized networks write it: each of q, k and v is a product by weights that is
/// quantized, and the softmax's result is, where weights are `rounded`.
Result<ir::Graph> attention_of_bytes(DType bytes, bool rounded) {
  constexpr DType kF16 = DType::kF16;
  ir::Graph graph;
  const auto constant = [&](DType type, const Extents& extents, double value) -> Result<ir::ValueId> {
    const std::vector<double> values(static_cast<size_t>(volume(extents)), value);
    if (is_float(type)) return graph.add_constant(HostTensor::of(type, extents, values));
    return graph.add_constant(HostTensor::of_ints(type, extents, std::vector<int64_t>(values.begin(), values.end())));
  };
  const auto through_bytes = [&](ir::ValueId x, double by) -> Result<ir::ValueId> {
    const Extents ones(static_cast<size_t>(graph.type(x).rank()), 1);
    const ir::ValueId scale = TRY(constant(DType::kF32, ones, by));
    const ir::ValueId narrow = TRY(graph.add_one(ops::Quantize{bytes}, {x, scale}));
    return graph.add_one(ops::Dequantize{.to = kF16}, {narrow, scale});
  };
  const auto product = [&](ir::ValueId x, double weight) -> Result<ir::ValueId> {
    const ir::ValueId w = TRY(constant(bytes, {1, 128, 128}, weight));
    const ir::ValueId scale = TRY(constant(DType::kF32, {1, 1, 1}, 0.25));
    return graph.add_one(ops::MatrixMultiply{}, {x, TRY(graph.add_one(ops::Dequantize{.to = kF16}, {w, scale}))});
  };
  const ir::ValueId x = TRY(through_bytes(graph.add_input("x", TensorType(kF16, {2, 64, 128})), 0.125));
  std::vector<ir::ValueId> parts;
  for (const double i : {1.0, 2.0, 3.0}) {
    const ir::ValueId heads = TRY(graph.add_one(ops::Reshape{.dims = {2, 64, 2, 64}}, {TRY(product(x, i))}));
    const ir::ValueId turned = TRY(graph.add_one(ops::Transpose{.perm = {0, 2, 1, 3}}, {heads}));
    parts.push_back(TRY(through_bytes(turned, 0.25 * i)));
  }
  const ops::MatrixMultiply by_transpose{ops::MatrixOp::kNone, ops::MatrixOp::kTranspose};
  const ir::ValueId scores = TRY(graph.add_one(by_transpose, {parts[0], parts[1]}));
  ir::ValueId weights = TRY(graph.add_one(ops::Softmax{3}, {scores}));
  if (rounded) weights = TRY(through_bytes(weights, 1.0 / 128));
  const ir::ValueId attended = TRY(graph.add_one(ops::MatrixMultiply{}, {weights, parts[2]}));
  const ir::ValueId turned = TRY(graph.add_one(ops::Transpose{.perm = {0, 2, 1, 3}}, {attended}));
  const ir::ValueId rows = TRY(graph.add_one(ops::Reshape{.dims = {2, 64, 128}}, {turned}));
  graph.mark_output(TRY(product(TRY(through_bytes(rows, 0.5)), 1)), "y");
  return graph;
}

TEST_P(CudaCode, AttentionReadsBytes) {
  if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  FakeGpu gpu(GetParam().major, GetParam().minor);
  const std::vector<HostTensor> inputs(1, HostTensor::make(DType::kF16, {2, 64, 128}).value().tensor);
  for (const DType bytes : {DType::kI8, DType::kF8E4M3})
    for (const bool rounded : {false, true}) {
      if (bytes == DType::kF8E4M3 && GetParam().major < 9) continue;
      const auto graph = attention_of_bytes(bytes, rounded);
      ASSERT_TRUE(graph) << graph.error().message;
      const BuildRequest request{.numerics = {.strongly_typed = true, .cublas_lt = false}, .optimization_level = 0};
      const auto run = run_on(*gpu.backend, *graph, inputs, request);
      ASSERT_TRUE(run) << run.error().message;
      std::vector<std::string> tactics = run->tactics;
      std::erase(tactics, "view");
      EXPECT_EQ(tactics, (std::vector<std::string>{"nest", "gemm of bytes", "gemm of bytes", "gemm of bytes",
                                                   "attention of bytes", "gemm of bytes"}))
          << name_of(bytes) << (rounded ? ", rounded" : "");
    }
}

/// The CPU has no kernel of these bytes, and runs Dequantize, products and softmax apart. Few weights fall beside a
/// tie.
TEST(CpuCode, AttentionOfBytesAgreesWithItsReferences) {
  for (const DType bytes : {DType::kI8, DType::kF8E4M3}) {
    const auto graph = attention_network(DType::kF32, bytes);
    ASSERT_TRUE(graph) << graph.error().message;
    std::vector<HostTensor> inputs;
    for (int64_t i = 0; i < 3; ++i) {
      std::vector<double> numbers;
      for (int64_t at = 0; at < 2 * 4 * 128 * 64; ++at)
        numbers.push_back(static_cast<double>((at * 37 + i) % 101 - 50));
      inputs.push_back(HostTensor::of(bytes, {2, 4, 128, 64}, numbers));
    }
    const auto backend = cpu_backend();
    ASSERT_TRUE(backend) << backend.error().message;
    const auto run = run_on(*backend, *graph, inputs, {.optimization_level = 1});
    ASSERT_TRUE(run) << run.error().message;
    const auto expected = ir::interpret(*graph, inputs);
    ASSERT_TRUE(expected) << expected.error().message;
    const View got(run->outputs[0]), wanted((*expected)[0]);
    double largest = 0;
    int64_t off = 0;
    for (int64_t i = 0; i < wanted.volume(); ++i) largest = std::max(largest, std::abs(wanted[i]));
    ASSERT_GT(largest, 0);
    for (int64_t i = 0; i < wanted.volume(); ++i) off += !(std::abs(got[i] - wanted[i]) <= 1e-5 * largest);
    EXPECT_LE(off, wanted.volume() / 100) << name_of(bytes);
  }
}

/// Where others see the floats as an output of the network, and where each column has a scale.
TEST_P(CudaCode, QuantizesInAStepOfItsOwnElsewhere) {
  if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  FakeGpu gpu(GetParam().major, GetParam().minor);
  const std::vector<HostTensor> inputs(1, HostTensor::make(DType::kF16, {64, 128}).value().tensor);
  for (const bool is_output : {true, false}) {
    ir::Graph graph;
    const Extents by(1, is_output ? 1 : 128);
    const std::vector<double> scales(static_cast<size_t>(by[0]), 0.25);
    const ir::ValueId x = graph.add_input("x", TensorType(DType::kF16, {64, 128}));
    const auto norm = graph.add_one(ops::Normalization{.axes = {1}}, {x});
    ASSERT_TRUE(norm) << norm.error().message;
    const ir::ValueId scale = graph.add_constant(HostTensor::of(DType::kF32, {1, by[0]}, scales));
    const auto q = graph.add_one(ops::Quantize{DType::kI8}, {*norm, scale});
    ASSERT_TRUE(q) << q.error().message;
    graph.mark_output(*q, "q");
    if (is_output) graph.mark_output(*norm, "norm");
    const auto run = run_on(*gpu.backend, graph, inputs, {.numerics = {.strongly_typed = true}});
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->tactics, (std::vector<std::string>{"normalization", "nest"}));
  }
}

/// Binds in the memory that the engine asks a program for.
TEST_P(CudaCode, BindsEveryShapeOfAProfile) {
  if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  FakeGpu gpu(GetParam().major, GetParam().minor);
  const auto graph = dynamic_network();
  ASSERT_TRUE(graph) << graph.error().message;
  BuildRequest request{.optimization_level = 0};
  request.profiles.resize(1);
  request.profiles[0].extents["x"] = {{1, 1, 96}, {4, 128, 96}, {16, 512, 96}};
  NullLog log;
  const auto built = build_plan(*graph, *gpu.backend, request, log);
  ASSERT_TRUE(built) << built.error().message;
  const std::shared_ptr<const plan::Plan> borrowed(&*built, [](const plan::Plan*) {});
  const auto engine = runtime::Engine::load(borrowed, *gpu.device, log);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto memory = gpu.device->allocate((*engine)->memory_bytes(0));
  ASSERT_TRUE(memory) << memory.error().message;
  for (const int64_t batch : {1, 2, 3, 4, 7, 16})
    for (const int64_t length : {1, 2, 7, 64, 127, 128, 197, 512}) {
      const auto context = runtime::Context::create(*engine, runtime::Context::Memory::kGiven);
      ASSERT_TRUE(context) << context.error().message;
      ASSERT_TRUE((*context)->set_memory(memory->data(), memory->size_bytes()));
      ASSERT_TRUE((*context)->set_input_extents(0, Extents{batch, length, 96}));
      const Status bound = (*context)->bind();
      EXPECT_TRUE(bound) << batch << " x " << length << ": " << bound.error().message;
    }
}
INSTANTIATE_TEST_SUITE_P(Gpus, CudaCode, ::testing::Values(Capability{8, 0}, Capability{9, 0}, Capability{10, 0}),
                         [](const auto& info) {
                           return "sm_" + std::to_string(10 * info.param.major + info.param.minor);
                         });

}  // namespace
}  // namespace kiln
