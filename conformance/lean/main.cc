// Runs a saved plan of the digits (samples/digits) with what runs plans and nothing else: no builder, no tactics, no
// compiler, no graph. Prints how large it is beside the whole library.
//
//   lean_runtime cpu|cuda PLAN FOLDER RIGHT LIBRARY
//
// RIGHT of the digits in FOLDER are what any correct runtime reads right. The driver that stands in for NVIDIA's
// (conformance/fake_cuda) computes nothing: there what counts is that kernels are launched. Exits with 77 where there
// is no GPU, or no kernel in the plan.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "backend/cpu/device/cpu_device.h"
#include "backend/cpu/exec/executor.h"
#include "backend/cuda/device/testing/fake_cuda.h"
#include "backend/cuda/exec/executor.h"
#include "base/mapped_file.h"
#include "device/staging.h"
#include "plan/reader.h"
#include "runtime/context.h"

namespace kiln {
namespace {

constexpr int kSkipped = 77;
constexpr int64_t kClasses = 10;

Result<std::unique_ptr<Device>> make_device(std::string_view name) {
  if (name == "cpu") {
    auto device = TRY(cpu::CpuDevice::create());
    device->set_executor(std::make_unique<cpu::CpuExecutor>(device->team()));
    return device;
  }
  auto device = TRY(cuda::CudaDevice::create(0));
  device->set_executor(std::make_unique<cuda::CudaExecutor>(*device));
  return device;
}

/// The controls of the driver, if that is the one that stands in.
const fake_cuda::Control* stand_in() {
  const char* path = std::getenv("KILN_CUDA_DRIVER");
  void* library = path ? dlopen(path, RTLD_NOW) : nullptr;
  const auto find = library ? reinterpret_cast<decltype(&kiln_fake_cuda)>(dlsym(library, "kiln_fake_cuda")) : nullptr;
  return find ? find() : nullptr;
}

/// One run over all images of `file`; the classes' probabilities.
Result<std::vector<float>> run(const runtime::Engine& engine, runtime::Context& context,
                               std::span<const std::byte> images) {
  Device& device = engine.device();
  const auto stream = TRY(device.create_stream());
  const int64_t count = std::ssize(images) / int64_t{64 * sizeof(float)};
  std::vector<float> probabilities(static_cast<size_t>(count * kClasses));
  const Staging input = TRY(Staging::of(device, *stream, images));
  const Staging output = TRY(Staging::of(device, *stream, std::as_writable_bytes(std::span(probabilities))));
  TRY(context.set_input_extents(0, Extents{count, 1, 8, 8}));
  context.set_input_address(0, input.address());
  context.set_output_address(0, output.address());
  TRY(context.enqueue(*stream));
  TRY(stream->synchronize());
  TRY(output.fetch(device, *stream));
  return probabilities;
}

int64_t count_right(std::span<const float> probabilities, std::span<const std::byte> labels) {
  int64_t right = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto of_image = probabilities.subspan(i * kClasses, kClasses);
    right += std::ranges::max_element(of_image) - of_image.begin() == static_cast<int64_t>(labels[i]);
  }
  return right;
}

Result<int> test(char** arguments) {
  const auto mebibytes = [](const char* path) {
    return static_cast<double>(std::filesystem::file_size(path)) / (1 << 20);
  };
  std::printf("this program has %.1f MiB, the whole library %.1f\n", mebibytes("/proc/self/exe"),
              mebibytes(arguments[5]));
  auto made = make_device(arguments[1]);
  if (!made && made.error().code == Code::kNotFound)
    return std::printf("skipped: %s\n", made.error().message.c_str()), kSkipped;
  const std::unique_ptr<Device> device = TRY(std::move(made));
  const auto file = TRY(MappedFile::open(arguments[2]));
  const auto plan = TRY(plan::read_plan(file->bytes(), file));
  NullLog log;
  const auto engine = TRY(runtime::Engine::load(plan, *device, log));
  const auto context = TRY(runtime::Context::create(engine, runtime::Context::Memory::kOwn));
  const std::string folder = arguments[3];
  const auto images = TRY(MappedFile::open(folder + "/heldout.bin")),
             labels = TRY(MappedFile::open(folder + "/heldout.labels"));
  const std::vector<float> probabilities = TRY(run(*engine, *context, images->bytes()));
  if (const fake_cuda::Control* control = stand_in()) {
    const int64_t launches = control->num_calls("cuLaunchKernelEx"),
                  kernels =
                      std::ranges::count_if(plan->profiles[0].steps, [](const auto&step) { return step.binary >= 0; });
    std::printf("%ld launches of %ld steps' kernels\n", launches, kernels);
    if (kernels == 0) return std::printf("skipped: the plan has no kernels, for want of NVRTC\n"), kSkipped;
    return launches >= kernels ? 0 : 1;
  }
  const int64_t right = count_right(probabilities, labels->bytes());
  std::printf("%ld of %zu digits are right, %s of them expected\n", right, labels->bytes().size(), arguments[4]);
  return right == std::atol(arguments[4]) ? 0 : 1;
}

}  // namespace
}  // namespace kiln

int main(int count, char** arguments) {
  if (count != 6) return std::fprintf(stderr, "usage: lean_runtime cpu|cuda PLAN FOLDER RIGHT LIBRARY\n"), 2;
  const kiln::Result<int> result = kiln::test(arguments);
  if (!result) std::fprintf(stderr, "%s\n", result.error().message.c_str());
  return result.value_or(1);
}
