// The kernels that networks select on a described GPU are those of the checked-in list, and compile. Level 0 selects,
// by estimates: no time of a machine decides. Needs NVRTC and KILN_MODELS_DIR; KILN_ZOO_DIR adds the large networks,
// whose weights are made up here.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backend/cuda/compile/compiler.h"
#include "backend/cuda/compile/nvrtc.h"
#include "base/mapped_file.h"
#include "builder/build.h"
#include "fake_gpu.h"
#include "instance_list.h"
#include "onnx/importer.h"
#include "onnx/reader.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

struct Network {
  std::string name, path;
  bool is_large = false;
};

constexpr const char* kModels[] = {"mnist",  "squeezenet", "ultraface", "yolox-nano",  "kws",
                                   "magika", "superres",   "vittrack",  "basic-pitch", "squeezenet-fp16"};
// bert_large selects as bert_base does.
constexpr const char* kLargeOnes[] = {"resnet50", "mobilenet_v3_large", "vit_b_16",      "bert_base",
                                      "gpt2",     "efficientnet_b0",    "convnext_tiny", "unet_256"};

/// The large networks beside a file of weights that are small and of no meaning.
class Zoo {
 public:
  explicit Zoo(const char* folder) : folder_(fs::temp_directory_path() / str("kiln_zoo_", getpid())) {
    fs::create_directories(folder_);
    for (const char* name : kLargeOnes) {
      const std::string file = str(name, ".onnx");
      fs::copy_file(fs::path(folder) / file, folder_ / file);
      networks_.push_back({name, (folder_ / file).string(), true});
    }
    constexpr size_t kMostBytes = 512 << 20;  // gpt2's are 497 MB
    std::vector<float> some(4 << 20);
    uint32_t state = 1;
    for (float& value : some) {
      state = state * 1664525 + 1013904223;
      value = 0.01f + 0.01f * static_cast<float>(state >> 8) / (1 << 24);
    }
    std::ofstream file(folder_ / "weights.bin", std::ios::binary);
    for (size_t at = 0; at < kMostBytes; at += some.size() * sizeof(float))
      file.write(reinterpret_cast<const char*>(some.data()), static_cast<std::streamsize>(some.size() * sizeof(float)));
  }
  ~Zoo() { fs::remove_all(folder_); }
  Zoo(const Zoo&) = delete;
  Zoo& operator=(const Zoo&) = delete;
  const std::vector<Network>& networks() const { return networks_; }

 private:
  fs::path folder_;
  std::vector<Network> networks_;
};

/// The first dynamic axis of an input is the batch, a second the sequence.
ProfileRequest profile_of(const ir::Graph& graph) {
  ProfileRequest profile;
  for (const ir::ValueId input : graph.inputs()) {
    plan::InputRange range;
    int dynamic = 0;
    for (const sym::Expr& extent : graph.type(input).shape) {
      const auto known = extent.constant();
      const bool is_batch = !known && dynamic++ == 0;
      range.min.push_back(known ? *known : 1);
      range.opt.push_back(known ? *known : is_batch ? 1 : 128);
      range.max.push_back(known ? *known : is_batch ? 8 : 128);
    }
    profile.extents[graph.value(input).name] = range;
  }
  return profile;
}

/// Builds the network and returns the configurations of the kernels that it asked for.
Result<std::set<std::string>> kernels_of(const Network& network, const Numerics& numerics, FakeGpu& gpu) {
  ir::Graph graph;
  onnx::ImportReport report;
  TRY(onnx::import_model(TRY(onnx::read_model_file(network.path)), graph, {}, report));
  BuildRequest request{.numerics = numerics, .optimization_level = 0};
  request.profiles.push_back(profile_of(graph));
  std::set<std::string> noted;
  cuda::compiler_of(*gpu.device).note_configurations(&noted);
  NullLog log;
  const auto plan = build_plan(graph, *gpu.backend, request, log);
  cuda::compiler_of(*gpu.device).note_configurations(nullptr);
  TRY(require(plan.has_value(), plan ? "" : plan.error().message));
  return noted;
}

struct Config {
  const char* name;
  Numerics numerics;
};
constexpr Numerics kOurs{.tf32 = false, .cublas_lt = false};  // no list may depend on what a machine has
/// All of sm_90a; of others, to bound the time, the large networks in FP16 and the small ones without BF16.
std::vector<Config> configs_of(const Network& network, int capability) {
  Numerics fp16 = kOurs, bf16 = kOurs;
  fp16.tf32 = fp16.fp16 = bf16.tf32 = bf16.bf16 = true;
  if (network.is_large && capability != 90) return {{"fp16", fp16}};
  if (network.is_large || capability != 90) return {{"f32", kOurs}, {"fp16", fp16}};
  return {{"f32", kOurs}, {"fp16", fp16}, {"bf16", bf16}};
}

class CudaNetworks : public ::testing::TestWithParam<int> {};

TEST_P(CudaNetworks, SelectWhatIsListed) {
  const char *models = std::getenv("KILN_MODELS_DIR"), *skeletons = std::getenv("KILN_ZOO_DIR");
  if (!models) GTEST_SKIP() << "KILN_MODELS_DIR is not set";
  if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  std::vector<Network> networks;
  for (const char* name : kModels) networks.push_back({name, str(models, '/', name, "/model.onnx")});
  static const auto zoo = skeletons ? std::make_unique<Zoo>(skeletons) : nullptr;
  if (zoo) networks.insert(networks.end(), zoo->networks().begin(), zoo->networks().end());
  FakeGpu gpu(GetParam() / 10, GetParam() % 10);
  std::set<std::string> users;
  InstanceUsers found;
  for (const Network& network : networks)
    for (const Config& config : configs_of(network, GetParam())) {
      const std::string user = str(network.name, '.', config.name);
      const auto kernels = kernels_of(network, config.numerics, gpu);
      ASSERT_TRUE(kernels) << user << ": " << kernels.error().message;
      EXPECT_FALSE(kernels->empty()) << user;
      users.insert(user);
      for (const std::string& kernel : *kernels) found[kernel].insert(user);
    }
  std::cout << cuda::compiler_of(*gpu.device).arch() << ": " << found.size() << " instances of " << networks.size()
            << " networks, " << cuda::compiler_of(*gpu.device).num_compiled() << " compiled, "
            << cuda::compiler_of(*gpu.device).num_from_disk() << " from the disk\n";
  const Status same = check_instances(cuda::compiler_of(*gpu.device).arch(), users, found);
  EXPECT_TRUE(same) << same.error().message;
}
INSTANTIATE_TEST_SUITE_P(Gpus, CudaNetworks, ::testing::Values(80, 90, 100),
                         [](const auto& info) { return "sm_" + std::to_string(info.param); });

}  // namespace
}  // namespace kiln
