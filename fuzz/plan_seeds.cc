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
#include "plan/testing/sample_plan.h"
#include "plan_metadata.h"

namespace kiln {
namespace {

constexpr std::byte kIsMetadata{2};  ///< fuzz_plan's choice by the last byte
constexpr const char* kSample = "metadata.cbor";

Result<Bytes> seed_of(const plan::Plan& plan) {
  Bytes bytes = TRY(plan::to_cbor(plan::to_record(plan)));
  bytes.push_back(kIsMetadata);
  return bytes;
}

/// A plan for the CPU of levels of Ifs or Loops.
Result<plan::Plan> build(const std::vector<onnx::test::Level>& levels) {
  const onnx::test::Imported imported =
      onnx::test::import_proto(onnx::test::nested_model(static_cast<int>(levels.size()), {.levels = levels}));
  TRY(Status(imported.status));
  BuildRequest request;
  request.optimization_level = 0;
  request.profiles.emplace_back().extents["x"] = {{1, 3}, {2, 3}, {4, 3}};
  const auto device = TRY(cpu::CpuDevice::create(2));
  device->set_executor(std::make_unique<cpu::CpuExecutor>(device->team()));
  cpu::CpuBackend backend(*device);
  NullLog log;
  plan::Plan plan = TRY(build_plan(imported.graph, backend, request, log));
  plan.device_identity = "a machine, 2 threads";
  return plan;
}

Result<std::map<std::string, Bytes>> make_seeds() {
  using enum onnx::test::Level;
  std::map<std::string, Bytes> seeds;
  seeds[kSample] = TRY(seed_of(plan::sample_plan()));
  seeds["branches.cbor"] = TRY(seed_of(TRY(build({kIfOfData, kIfOfRanks, kIfOfData}))));
  seeds["loops.cbor"] = TRY(seed_of(TRY(build({kCuttingLoop, kLoopOfData, kGrowingLoop}))));
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
  TRY(plan::plan_of_metadata(record));
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
