// The seeds of fuzz_plan: documents of metadata that a reader of plans accepts, each with the byte behind it that says
// what it is. A change of the plan's format that leaves a seed behind fails CTest's fuzz.plan_seeds.
//   plan_seeds check FOLDER     all of them are accepted, and metadata.cbor is the sample plan of today
//   plan_seeds write FOLDER     writes them anew
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/tactics/backend.h"
#include "builder/build.h"
#include "onnx/test_nest.h"
#include "ops/plugin.h"
#include "plan/testing/sample_plan.h"
#include "plan_metadata.h"
#include "plan_plugins.h"
#include "steps/plugin.h"
#include "steps/plugin_kernel.h"
#include "sym/table.h"

namespace kiln {
namespace {

constexpr std::byte kIsMetadata{2};  ///< fuzz_plan's choice by the last byte
constexpr const char* kSample = "metadata.cbor";
constexpr const char* kPlugin = "plugin.cbor";
constexpr const char* kKernel = "plugin_kernel.cbor";
constexpr int32_t kNumFields = 7;  ///< of its plugin

Result<Bytes> seed_of(const plan::Plan& plan) {
  Bytes bytes = TRY(plan::to_cbor(plan::to_record(plan)));
  bytes.push_back(kIsMetadata);
  return bytes;
}

/// The plan of a graph for the CPU.
Result<plan::Plan> build(const ir::Graph& graph) {
  BuildRequest request;
  request.optimization_level = 0;
  request.profiles.emplace_back().extents["x"] = {{1, 3}, {2, 3}, {4, 3}};
  const auto device = TRY(cpu::CpuDevice::create(2));
  device->set_executor(std::make_unique<cpu::CpuExecutor>(device->team()));
  cpu::CpuBackend backend(*device);
  NullLog log;
  plan::Plan plan = TRY(build_plan(graph, backend, request, log));
  plan.device_identity = "a machine, 2 threads";
  return plan;
}

/// Levels of Ifs or Loops.
Result<plan::Plan> build(const std::vector<onnx::test::Level>& levels) {
  const onnx::test::Imported imported =
      onnx::test::import_proto(onnx::test::nested_model(static_cast<int>(levels.size()), {.levels = levels}));
  TRY(Status(imported.status));
  return build(imported.graph);
}

/// Takes some rows of x, and tells how many. Its fields have types of each size.
class SeedPlugin final : public PluginObject {
 public:
  const PluginIdentity& identity() const override { return identity_; }
  int num_outputs() const override { return 2; }
  Status infer(InferContext& cx, int) const override {
    const TensorType& x = TRY(cx.input(0));
    const sym::Expr size = cx.decided_size("rows", x.shape[0]);
    TRY(cx.set_output(0, TensorType(x.dtype, {size, x.shape[1]})));
    return cx.set_output(1, TensorType(DType::kI32, {}, {size}));
  }
  const std::vector<int>& size_outputs() const override { return size_outputs_; }
  bool supports(std::span<const PluginTensor>, int, int) const override { return true; }
  int most_combinations() const override { return 1; }
  Result<Configured> configure(std::span<const PluginTensor>, std::span<const PluginTensor>) const override {
    return Configured{.object = std::make_shared<SeedPlugin>(), .tactics = {3}, .workspace_bytes = 512};
  }
  Result<std::vector<PluginField>> fields() const override {
    using Type = PluginFieldType;
    std::vector<PluginField> result;
    for (const Type type : {Type::kI4, Type::kI8, Type::kF16, Type::kF32, Type::kI64, Type::kDims, Type::kUnknown}) {
      constexpr int64_t kCount = 3;
      result.push_back({.name = str(type),
                        .type = type,
                        .count = kCount,
                        .data = Bytes(static_cast<size_t>(size_bytes(type, kCount)))});
    }
    return result;
  }
  Result<std::unique_ptr<PluginInstance>> attach(int) const override {
    return error(Code::kUnsupported, "plugins of seeds do not run");
  }

 private:
  const PluginIdentity identity_{"Seed", "1", "of seeds"};
  const std::vector<int> size_outputs_{1};
};

/// A plugin whose runs decide a size.
Result<plan::Plan> build_plugin() {
  ir::Graph graph;
  const sym::Expr rows = graph.table().symbol("n", {1, 2, 4});
  const ir::ValueId x = graph.add_input("x", TensorType(DType::kF32, {rows, sym::Expr(3)}));
  const auto object = std::make_shared<const SeedPlugin>();
  ops::Plugin plugin{.plugin = object->identity(), .fields = {}, .num_tensors = 1, .object = object};
  graph.mark_output(TRY(graph.add(std::move(plugin), std::span(&x, 1), "seed"))[0], "y");
  return build(graph);
}

/// The same, as if the plugin were a kernel that it compiled ahead of time: its launch follows the rows of x.
Result<plan::Plan> build_kernel() {
  plan::Plan plan = TRY(build_plugin());
  for (plan::Profile& profile : plan.profiles)
    for (plan::Step& step : profile.steps) {
      if (!step.step.as<steps::Plugin>()) continue;
      step.step = steps::PluginKernel{.plugin = {"Seed", "1", "of seeds"},
                                      .entry = "take_rows",
                                      .tactic = 3,
                                      .scalar_bytes = {1, 2, 4},
                                      .size_outputs = {1},
                                      .metadata = "rows"};
      step.executor = "cuda";
      sym::Table table;
      const sym::Expr rows = table.symbol("n", {1, 2, 4});
      for (const sym::Expr param : {sym::ceil_div(rows, 32), sym::Expr(1), sym::Expr(1), sym::Expr(32), sym::Expr(1),
                                    sym::Expr(1), rows * 4, sym::Expr(-7), rows, rows * 3})
        step.params.push_back(sym::Program::compile(param));
    }
  return plan;
}

Result<std::map<std::string, Bytes>> make_seeds() {
  using enum onnx::test::Level;
  std::map<std::string, Bytes> seeds;
  seeds[kSample] = TRY(seed_of(plan::sample_plan()));
  seeds["branches.cbor"] = TRY(seed_of(TRY(build({kIfOfData, kIfOfRanks, kIfOfData}))));
  seeds["loops.cbor"] = TRY(seed_of(TRY(build({kCuttingLoop, kLoopOfData, kGrowingLoop}))));
  seeds[kPlugin] = TRY(seed_of(TRY(build_plugin())));
  seeds[kKernel] = TRY(seed_of(TRY(build_kernel())));
  return seeds;
}

Bytes contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Status check_seed(const std::filesystem::path& path) {
  const Bytes seed = contents(path);
  TRY(require(!seed.empty() && seed.back() == kIsMetadata, "it does not end in the byte of metadata"));
  const Record record = TRY(plan::from_cbor(std::span(seed).first(seed.size() - 1)));
  const plan::Plan plan = TRY(plan::plan_of_metadata(record));
  if (path.filename() == kPlugin)
    return require(plan::read_plugin_fields(plan) == kNumFields, "its plugin's creator is not given its fields");
  if (path.filename() != kSample) return {};
  return require(seed == TRY(seed_of(plan::sample_plan())), "it is not the sample plan of today");
}

Status check(const std::filesystem::path& folder) {
  int64_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    TRY(in_context(check_seed(entry.path()), [&] { return entry.path().string(); }));
    ++count;
  }
  return require(count > 0, folder.string(), " has no seeds");
}

Status write(const std::filesystem::path& folder) {
  for (const auto& [name, seed] : TRY(make_seeds())) {
    std::ofstream file(folder / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
    TRY(require(file.good(), "cannot write ", (folder / name).string()));
  }
  return {};
}

int run(int argc, char** argv) {
  const std::string_view action = argc == 3 ? argv[1] : "";
  if (action != "check" && action != "write") return std::fputs("plan_seeds check|write FOLDER\n", stderr), 2;
  const Status done = action == "check" ? check(argv[2]) : write(argv[2]);
  if (done) return 0;
  std::fprintf(stderr, "%s\nplan_seeds write %s makes the seeds anew\n", done.error().message.c_str(), argv[2]);
  return 1;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::run(argc, argv); }
