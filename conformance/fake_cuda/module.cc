// Modules and kernels: an image is a cubin or the text of an assembler, of which only the names of kernels count, or
// "FAKE name name ...".
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "state.h"

using namespace kiln;
using namespace kiln::fake_cuda;
using kiln::cuda::FunctionHandle;
using kiln::cuda::ModuleHandle;

/// Whether an image is an assembler's text; NVRTC's begins with comments.
static bool is_assembler(std::string_view image) { return image.starts_with(".version") || image.starts_with("//"); }

bool kiln::fake_cuda::has_kernel(const std::string& image, std::string_view name) {
  if (image.starts_with("FAKE")) return (image + ' ').find(' ' + std::string(name) + ' ') != image.npos;
  if (is_assembler(image)) return image.find(".entry " + std::string(name) + '(') != image.npos;
  return image.find(".text." + std::string(name) + '\0') != image.npos;
}

/// The bytes of each parameter of a kernel in an assembler's text: ".param .u64 name" and its like.
static std::vector<size_t> parameters_of(std::string_view image, const std::string& name) {
  std::vector<size_t> result;
  const size_t start = image.find(".entry " + name + '(');
  if (start == image.npos) return result;
  std::string_view list = image.substr(start);
  list = list.substr(0, list.find(')'));
  constexpr std::string_view kParameter = ".param .";
  for (size_t at = 0; (at = list.find(kParameter, at)) != list.npos;) {
    at += kParameter.size();
    result.push_back(static_cast<size_t>(std::atoi(list.data() + at + 1)) / 8);  // u64: 8 bytes
  }
  return result;
}

FunctionHandle kiln::fake_cuda::find_function(cuda::CudaModuleObject& module, const std::string& name) {
  if (!has_kernel(module.image, name)) return nullptr;
  auto& made = module.functions[name];
  if (!made) made = std::make_unique<cuda::CudaFunctionObject>(name, &module.image);
  return made.get();
}

int kiln::fake_cuda::make_launch(const cuda::LaunchConfig& config, FunctionHandle function, void** arguments,
                                 std::shared_ptr<cuda::FakeLaunch>& launch, Work& work) {
  const auto allowed = function->attributes.find(cuda::kFunctionMaxDynamicSharedBytes);
  const auto most = allowed == function->attributes.end() ? 48u << 10 : static_cast<unsigned>(allowed->second);
  constexpr unsigned kMostBlocks[] = {(1u << 31) - 1, 65535, 65535};
  for (int axis = 0; axis < 3; ++axis)
    if (config.grid[axis] < 1 || config.grid[axis] > kMostBlocks[axis] || config.block[axis] < 1)
      return cuda::kInvalidValue;
  for (unsigned i = 0; i < config.num_attributes; ++i)
    if (config.attributes[i].id == cuda::kLaunchCluster && config.grid[0] % config.attributes[i].cluster.x != 0)
      return cuda::kInvalidValue;
  if (config.shared_bytes > most || config.block[0] * config.block[1] * config.block[2] > 1024)
    return cuda::kInvalidValue;
  launch = std::make_shared<cuda::FakeLaunch>(config, function);
  if (is_strict()) refuse_host_addresses(*launch, arguments);
  launch->config.attributes = nullptr;  // gone when it runs
  if (Launched wrong = misbehave(function->name); wrong.result != 0 || wrong.work)
    return work = std::move(wrong.work), wrong.result;
  if ((work = conditional_kernel(function->name, arguments))) return 0;
  State::DefinedKernel kernel;
  {
    const std::lock_guard lock(state().mutex);
    for (const auto& [start, defined] : state().kernels)
      if (function->name.starts_with(start)) kernel = defined;
  }
  const auto words = static_cast<size_t>(kernel.argument_bytes + 7) / 8;  // of an argument
  launch->values.resize(static_cast<size_t>(kernel.num_arguments) * words);
  for (size_t i = 0; i < static_cast<size_t>(kernel.num_arguments); ++i) {
    std::memcpy(&launch->values[i * words], arguments[i], static_cast<size_t>(kernel.argument_bytes));
    launch->pointers.push_back(&launch->values[i * words]);
  }
  for (const uint64_t value : launch->values) note_memory(*launch, value);
  work = [launch, run = kernel.run] {
    refuse_freed_memory(*launch);
    if (run) run(launch->config, launch->pointers.data());
    return 0;
  };
  return 0;
}

extern "C" {

int cuModuleLoadData(ModuleHandle* module, const void* image) {
  if (const int early = enter("cuModuleLoadData")) return early;
  std::string copy;
  const auto starts_with = [&](std::string_view start) { return std::memcmp(image, start.data(), start.size()) == 0; };
  if (starts_with("FAKE") || starts_with(".version") || starts_with("//")) {
    copy = static_cast<const char*>(image);
  } else if (std::memcmp(image, ELFMAG, SELFMAG) == 0) {
    Elf64_Ehdr header;
    std::memcpy(&header, image, sizeof header);
    copy.assign(static_cast<const char*>(image), header.e_shoff + size_t{header.e_shnum} * header.e_shentsize);
  } else {
    return cuda::kInvalidImage;
  }
  *module = new cuda::CudaModuleObject{std::move(copy), {}};
  const std::lock_guard lock(state().mutex);
  ++state().live_objects;
  return 0;
}
int cuModuleUnload(ModuleHandle module) {
  if (const int early = enter("cuModuleUnload")) return early;
  wait_for("cuModuleUnload");
  delete module;
  const std::lock_guard lock(state().mutex);
  --state().live_objects;
  return 0;
}
int cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  if (const int early = enter("cuModuleGetFunction")) return early;
  *function = find_function(*module, name);
  return *function ? 0 : static_cast<int>(cuda::kNameNotFound);
}
int cuFuncGetAttribute(int* value, int which, FunctionHandle function) {
  if (const int early = enter("cuFuncGetAttribute")) return early;
  *value = which == cuda::kFunctionMaxThreads ? 1024 : which == cuda::kFunctionRegisters ? 32 : 0;
  if (const auto set = function->attributes.find(which); set != function->attributes.end()) *value = set->second;
  return 0;
}
int cuFuncSetAttribute(FunctionHandle function, int which, int value) {
  if (const int early = enter("cuFuncSetAttribute")) return early;
  if (which == cuda::kFunctionMaxDynamicSharedBytes && value > 227 << 10) return cuda::kInvalidValue;
  function->attributes[which] = value;
  return 0;
}
/// Answers for kernels that are PTX, whose text lists their parameters; those of other kernels are unknown here.
int cuFuncGetParamInfo(FunctionHandle function, size_t index, size_t* offset, size_t* bytes) {
  if (const int early = enter("cuFuncGetParamInfo")) return early;
  const std::vector<size_t> all = parameters_of(*function->image, function->name);
  if (!is_assembler(*function->image)) return cuda::kNotSupported;
  if (index >= all.size()) return cuda::kInvalidValue;
  *bytes = all[index], *offset = 8 * index;
  return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle, int threads, size_t) {
  if (const int early = enter("cuOccupancyMaxActiveBlocksPerMultiprocessor")) return early;
  *blocks = threads > 0 ? 2048 / threads : 0;
  return 0;
}
int cuOccupancyMaxActiveClusters(int* clusters, FunctionHandle, const cuda::LaunchConfig*) {
  if (const int early = enter("cuOccupancyMaxActiveClusters")) return early;
  *clusters = 7;
  return 0;
}
int cuLaunchKernelEx(const cuda::LaunchConfig* config, FunctionHandle function, void** arguments, void**) {
  if (const int early = enter("cuLaunchKernelEx")) return early;
  std::shared_ptr<cuda::FakeLaunch> launch;
  Work work;
  if (const int refused = make_launch(*config, function, arguments, launch, work)) return refused;
  return submit(config->stream, std::move(work), std::move(launch));
}
int cuTensorMapEncodeTiled(cuda::TensorMap* map, int, unsigned, void* address, const uint64_t*, const uint64_t*,
                           const unsigned*, const unsigned*, int, int, int, int) {
  if (const int early = enter("cuTensorMapEncodeTiled", Needs::kNothing)) return early;
  *map = {};
  map->opaque[0] = reinterpret_cast<uint64_t>(address);
  return 0;
}
int cuTensorMapEncodeIm2col(cuda::TensorMap* map, int, unsigned, void* address, const uint64_t*, const uint64_t*,
                            const int*, const int*, unsigned, unsigned, const unsigned*, int, int, int, int) {
  if (const int early = enter("cuTensorMapEncodeIm2col", Needs::kNothing)) return early;
  *map = {};
  map->opaque[0] = reinterpret_cast<uint64_t>(address);
  return 0;
}

}  // extern "C"
