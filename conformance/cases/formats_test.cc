// Inputs and outputs in all of TensorRT's formats: what stands between tensors in two orders, or in none, is a copy
// that brings the elements from the one to the other.
#include <gtest/gtest.h>

#include "built_case.h"
#include "comparison.h"
#include "device_run.h"
#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/identity.h"
#include "ops/reference_context.h"
#include "ops/slice.h"

namespace kiln {
namespace {

struct Named {
  const char* name;
  Format format;
};
/// kLINEAR, kHWC, kCHW4 ... for rank 4; kDHWC, kCDHW32 ... for rank 5.
std::vector<Named> formats_of(int rank) {
  const Format last = Format::channels_last(rank);
  std::vector<Named> formats{{"linear", {}}, {"last", last}, {"last8", last.blocked(1, 8)}};
  formats.push_back({"first32", Format().blocked(1, 32)});
  if (rank != 4) return formats;
  for (const auto& [name, block] : {std::pair("first2", 2), {"first4", 4}, {"first16", 16}})
    formats.push_back({name, Format().blocked(1, block)});
  formats.push_back({"last16", last.blocked(1, 16)});
  return formats;
}

HostTensor counting(DType dtype, const Extents& extents) {
  std::vector<double> numbers(static_cast<size_t>(volume(extents)));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 100);
  return HostTensor::of(dtype, extents, numbers);
}

/// Networks in which every output is the input x, or the constant.
struct Network {
  const char* name;
  Result<std::vector<ir::ValueId>> (*outputs)(ir::Graph& graph, ir::ValueId x);
};
const Network kNetworks[] = {{"identity",
                              [](ir::Graph& graph, ir::ValueId x) -> Result<std::vector<ir::ValueId>> {
                                return std::vector{TRY(graph.add_one(ops::Identity{}, {x}))};
                              }},
                             {"the input itself",
                              [](ir::Graph&, ir::ValueId x) -> Result<std::vector<ir::ValueId>> {
                                return std::vector{x};
                              }},
                             {"a full slice",
                              [](ir::Graph& graph, ir::ValueId x) -> Result<std::vector<ir::ValueId>> {
                                const Extents sizes = TRY(graph.type(x).extents());
                                const Extents zeros(sizes.size(), 0), ones(sizes.size(), 1);
                                return std::vector{TRY(
                                    graph.add_one(ops::Slice{.starts = zeros, .sizes = sizes, .strides = ones}, {x}))};
                              }},
                             {"a concatenation of one",
                              [](ir::Graph& graph, ir::ValueId x) -> Result<std::vector<ir::ValueId>> {
                                return std::vector{TRY(graph.add_one(ops::Concatenation{1}, {x}))};
                              }},
                             {"a cast that does nothing",
                              [](ir::Graph& graph, ir::ValueId x) -> Result<std::vector<ir::ValueId>> {
                                return std::vector{TRY(graph.add_one(ops::Cast{graph.type(x).dtype}, {x}))};
                              }},
                             {"two outputs of one value",
                              [](ir::Graph& graph, ir::ValueId x) -> Result<std::vector<ir::ValueId>> {
                                const ir::ValueId y = TRY(graph.add_one(ops::Identity{}, {x}));
                                return std::vector{y, y, TRY(graph.add_one(ops::Identity{}, {x}))};
                              }},
                             {"a constant", [](ir::Graph& graph, ir::ValueId x) -> Result<std::vector<ir::ValueId>> {
                                const TensorType type = graph.type(x);
                                return std::vector{graph.add_constant(counting(type.dtype, TRY(type.extents())), "c")};
                              }}};

/// The first output in format `out`; another, where there is one, in the linear one, and the third in `in`.
void run(Backend& backend, const Network& network, const HostTensor& x, const Named& in, const Named& out) {
  const std::string how = str(network.name, " of ", x.dtype(), x.extents(), " from ", in.name, " to ", out.name);
  ir::Graph graph;
  const ir::ValueId input = graph.add_input("x", tensor_type(x.dtype(), x.extents()));
  const auto outputs = network.outputs(graph, input);
  ASSERT_TRUE(outputs) << how << ": " << outputs.error().message;
  for (size_t i = 0; i < outputs->size(); ++i) graph.mark_output((*outputs)[i], str("y", i));
  BuildRequest request{.optimization_level = 0};
  request.surface_formats = {{"x", in.format}, {"y0", out.format}, {"y2", in.format}};
  const auto ran = run_on(backend, graph, {&x, 1}, request);
  ASSERT_TRUE(ran) << how << ": " << ran.error().message;
  for (const HostTensor& y : ran->outputs) EXPECT_EQ(y, x) << how;
}

void run_networks(Backend& backend, std::span<const Network> networks, std::span<const Extents> shapes) {
  for (const Extents& extents : shapes)
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kI8}) {
      const HostTensor x = counting(dtype, extents);
      const std::vector<Named> formats = formats_of(x.rank());
      for (const Network& network : networks)
        for (const Named& in : formats)
          for (const Named& out : formats) run(backend, network, x, in, out);
    }
}

/// Every case with its inputs and outputs in other orders.
class Cases {
 public:
  explicit Cases(Backend& backend) : backend_(backend) {}
  void run_all() {
    size_t index = 0;
    for (const Case& c : all_cases())
      if (!is_left_out(index++)) run(c);
    EXPECT_GT(num_runs_, 0);
    std::cout << num_runs_ << " runs of cases with inputs and outputs in other formats\n";
  }

 private:
  /// Channels last, and blocks: outputs in others than inputs.
  void run(const Case& c) {
    const auto built = build_case(c);
    ASSERT_TRUE(built) << c.name << ": " << built.error().message;
    for (const auto& [in, out] : {std::pair(1, 1), {2, 3}, {3, 1}}) {
      std::map<std::string, Format> formats;
      const auto put = [&](const std::string& name, const TensorType& type, int form) {
        if (type.rank() < 3 || type.rank() > 5 || bits_of(type.dtype) < 8) return;
        formats[name] = formats_of(type.rank())[static_cast<size_t>(form)].format;
      };
      for (const ir::ValueId id : built->graph.inputs()) put(built->graph.value(id).name, built->graph.type(id), in);
      for (const ir::Output& output : built->graph.outputs()) put(output.name, built->graph.type(output.value), out);
      if (!formats.empty()) run_in(c, *built, std::move(formats));
    }
  }

  void run_in(const Case& c, const Built& built, std::map<std::string, Format> formats) {
    std::string how = " in";
    for (const auto& [name, format] : formats) how += str(" ", name, ":", format);
    BuildRequest request{.optimization_level = 0};
    request.numerics.tf32 = false;
    request.surface_formats = std::move(formats);
    const auto got = run_on(backend_, built.graph, built.network_inputs, request);
    ASSERT_TRUE(got) << c.name << how << ": " << got.error().message;
    ++num_runs_;
    if (c.op.has(Trait::kNondeterministic)) return;
    const auto want = run_reference(c.op, built.by_input);
    ASSERT_TRUE(want) << c.name << ": " << want.error().message;
    for (size_t i = 0; i < want->size(); ++i) compare(c, got->outputs[i], (*want)[i], request.numerics, how);
  }

  Backend& backend_;
  int num_runs_ = 0;
};

TEST(Formats, MeetWithNothingBetween) {
  const Extents shapes[] = {{1, 2, 1, 2}, {2, 5, 3, 4}, {1, 17, 2, 3}, {2, 9, 1, 3, 2}};
  run_networks(cpu_backend().value(), kNetworks, shapes);
}
TEST(Formats, OfEveryCase) { Cases(cpu_backend().value()).run_all(); }

TEST(CudaFormats, MeetWithNothingBetween) {
  const auto backend = cuda_backend();
  if (!backend) GTEST_SKIP() << backend.error().message;
  const Extents shapes[] = {{1, 2, 1, 2}, {1, 17, 2, 3}};
  run_networks(*backend, kNetworks, shapes);
}
TEST(CudaFormats, OfEveryCase) {
  const auto backend = cuda_backend();
  if (!backend) GTEST_SKIP() << backend.error().message;
  Cases(*backend).run_all();
}

}  // namespace
}  // namespace kiln
