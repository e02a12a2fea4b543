// Networks that compute a part in f64, as exporters write positions and their angles, or products of integers: no step
// runs by its reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backend/cuda/compile/nvrtc.h"
#include "device_run.h"
#include "fake_gpu.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "tensor/view.h"

namespace kiln {
namespace {

struct Network {
  const char* name;
  const char* text;
  std::vector<Extents> inputs;  ///< of f32
  double scale = 1;             ///< of their numbers: where a result is to be within a half's range
};

/// A position of 12,345 is an angle of that many radians: a float has three digits of it, and of its sine, behind the
/// point.
const Network kNetworks[] = {
    {"rotary embeddings of an image, as flux has them",
     "ids: f32[21, 3]; p = Slice{starts=[0, 1], sizes=[21, 1]}(ids); w = Cast{to=f64}(p); "
     "f = Constant{value=f64[1, 3](1, 0.0316227766016838, 0.001)}(); a = ElementWise{kind=prod}(w, f); "
     "c = Unary{kind=cos}(a); s = Unary{kind=sin}(a); "
     "cu = Unsqueeze{axes=[2]}(c); ce = Expand{dims=[21, 3, 2]}(cu); cr = Reshape{dims=[21, 6]}(ce); "
     "su = Unsqueeze{axes=[2]}(s); se = Expand{dims=[21, 3, 2]}(su); sr = Reshape{dims=[21, 6]}(se); "
     "cos = Cast{to=f32}(cr); sin = Cast{to=f32}(sr); return cos, sin",
     {{21, 3}}},
    {"frequencies of a power, an outer product",
     "ids: f32[2, 21]; w = Cast{to=f64}(ids); r = Fill{operation=linspace, dims=[4], alpha=0, beta=2, to=f64}(); "
     "d = Constant{value=f64[1](8)}(); e = ElementWise{kind=div}(r, d); t = Constant{value=f64[1](10000)}(); "
     "o = ElementWise{kind=pow}(t, e); f = Unary{kind=recip}(o); "
     "u = Unsqueeze{axes=[2]}(w); g = Unsqueeze{axes=[0, 1]}(f); a = MatrixMultiply(u, g); "
     "c = Unary{kind=cos}(a); s = Unary{kind=sin}(a); k = Unsqueeze{axes=[3]}(c); l = Unsqueeze{axes=[3]}(s); "
     "j = Concatenation{axis=3}(k, l); y = Cast{to=f32}(j); return y",
     {{2, 21}}},
    {"a product, sums and choices",
     "a: f32[2, 5, 7]; b: f32[2, 7, 4]; p = Cast{to=f64}(a); q = Cast{to=f64}(b); m = MatrixMultiply(p, q); "
     "t = Transpose{perm=[0, 2, 1]}(m); v = Reduce{kind=avg, axes=[2], keep=true}(t); "
     "c = ElementWise{kind=greater}(t, v); x = ElementWise{kind=sub}(t, v); z = Select(c, x, v); "
     "k = Constant{value=f64[1, 1, 1](1e-9)}(); l = ElementWise{kind=prod}(z, k); s = Softmax{axis=2}(l); "
     "r = Cumulative{operation=sum, axis=1}(s); y = Cast{to=f32}(z); w = Cast{to=f32}(r); return y, w",
     {{2, 5, 7}, {2, 7, 4}},
     1.0 / 256},
    {"bounds that floats have not: logits of probabilities",
     "x: f32[21]; s = Constant{value=f64[1](1e-4)}(); w = Cast{to=f64}(x); u = ElementWise{kind=prod}(w, s); "
     "p = Activation{kind=clip, alpha=1e-60, beta=0.999999999999}(u); o = Constant{value=f64[1](1)}(); "
     "q = ElementWise{kind=sub}(o, p); l = Unary{kind=log}(p); k = Unary{kind=log}(q); "
     "d = ElementWise{kind=sub}(l, k); y = Cast{to=f32}(d); z = Cast{to=f32}(l); return y, z",
     {{21}}},
    {"products of matrices and vectors",
     "a: f32[2, 7, 5]; b: f32[2, 4, 7]; c: f32[2, 7]; p = Cast{to=f64}(a); q = Cast{to=f64}(b); v = Cast{to=f64}(c); "
     "m = MatrixMultiply{a=transpose, b=transpose}(p, q); n = MatrixMultiply{a=vector}(v, p); "
     "o = MatrixMultiply{b=vector}(q, v); r = MatrixMultiply{a=vector, b=vector}(v, v); "
     "s = Cast{to=f32}(m); t = Cast{to=f32}(n); u = Cast{to=f32}(o); w = Cast{to=f32}(r); return s, t, u, w",
     {{2, 7, 5}, {2, 4, 7}, {2, 7}},
     1.0 / 256},
    {"products of integers",
     "a: f32[5, 7]; b: f32[7, 4]; p = Cast{to=i64}(a); q = Cast{to=i64}(b); m = MatrixMultiply(p, q); "
     "r = Cast{to=i32}(a); s = Cast{to=i32}(b); n = MatrixMultiply(r, s); "
     "y = Cast{to=f32}(m); z = Cast{to=f32}(n); return y, z",
     {{5, 7}, {7, 4}},
     1.0 / 256},
};

std::vector<HostTensor> inputs_of(const Network& network) {
  std::vector<HostTensor> result;
  for (const Extents& extents : network.inputs) {
    std::vector<double> values(static_cast<size_t>(volume(extents)));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = network.scale * static_cast<double>((i * 7919 + 12345) % 16384);
    result.push_back(HostTensor::of(DType::kF32, extents, values));
  }
  return result;
}

Result<DeviceRun> run_network(Backend& backend, const Network& network, const Numerics& numerics) {
  const ir::Graph graph = TRY(ir::parse(network.text));
  return run_on(backend, graph, inputs_of(network), {.numerics = numerics, .optimization_level = 0});
}

void expect_right(const Network& network, const DeviceRun& run, double tolerance) {
  const auto graph = ir::parse(network.text);
  ASSERT_TRUE(graph) << graph.error().message;
  const auto want = ir::interpret(*graph, inputs_of(network));
  ASSERT_TRUE(want) << want.error().message;
  for (size_t i = 0; i < want->size(); ++i) {
    const View x(run.outputs[i]), y((*want)[i]);
    double largest = 0;
    for (int64_t at = 0; at < y.volume(); ++at) largest = std::max(largest, std::abs(y[at]));
    for (int64_t at = 0; at < y.volume(); ++at)
      ASSERT_NEAR(x[at], y[at], tolerance * largest) << network.name << ": element " << at << " of output " << i;
  }
}

void expect_no_reference(const Network& network, const Result<DeviceRun>& run) {
  ASSERT_TRUE(run) << network.name << ": " << run.error().message;
  EXPECT_FALSE(run->tactics.empty());
  EXPECT_EQ(std::ranges::count(run->tactics, "reference"), 0) << network.name;
}

TEST(Doubles, OnTheCpu) {
  for (const Network& network : kNetworks)
    for (const Numerics& numerics : {Numerics{.tf32 = false}, Numerics{.tf32 = true, .fp16 = true, .bf16 = true}}) {
      const auto run = run_network(cpu_backend().value(), network, numerics);
      ASSERT_NO_FATAL_FAILURE(expect_no_reference(network, run));
      expect_right(network, *run, 1e-7);  // a float's rounding, once
    }
}
TEST(Doubles, CompileForAGpu) {
  if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  FakeGpu gpu(9, 0);
  for (const Network& network : kNetworks)
    for (const Numerics& numerics :
         {Numerics{.tf32 = false, .cublas_lt = false}, Numerics{.tf32 = true, .fp16 = true, .cublas_lt = false},
          Numerics{.tf32 = true, .bf16 = true, .cublas_lt = false}})
      expect_no_reference(network, run_network(*gpu.backend, network, numerics));
}
TEST(CudaDoubles, OnAGpu) {
  const auto backend = cuda_backend();
  if (!backend) GTEST_SKIP() << backend.error().message;
  for (const Network& network : kNetworks)
    for (const Numerics& numerics : {Numerics{.tf32 = false}, Numerics{.tf32 = true, .fp16 = true}}) {
      const auto run = run_network(*backend, network, numerics);
      ASSERT_NO_FATAL_FAILURE(expect_no_reference(network, run));
      expect_right(network, *run, numerics.fp16 ? 1e-3 : 1e-7);
    }
}

}  // namespace
}  // namespace kiln
