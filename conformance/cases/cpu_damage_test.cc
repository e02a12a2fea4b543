// Steps of CPU plans, damaged by the thousand: loading, binding and running them gives an error or stays within the
// tensors that the step names, each of which ends (or begins) at memory that nobody may touch. Every case's steps as
// they are built; KILN_DAMAGE sets how many times each is damaged. The address sanitizer sees the rest.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <new>

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/tactics/backend.h"
#include "built_case.h"
#include "damage.h"

namespace kiln {
namespace {

constexpr size_t kMostBytes = 1 << 20, kPage = 4096;  // of a tensor that is run

/// Memory between two pages that nobody may touch.
class Guarded {
 public:
  Guarded() {
    auto* all = static_cast<std::byte*>(
        mmap(nullptr, kMostBytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    CHECK(all != MAP_FAILED);
    begin_ = all + kPage;
    CHECK(mprotect(begin_, kMostBytes, PROT_READ | PROT_WRITE) == 0);
  }
  /// A piece of memory of `bytes` bytes, at the end or at the beginning.
  std::byte* give(size_t bytes, bool at_end) const { return at_end ? begin_ + kMostBytes - bytes : begin_; }

 private:
  std::byte* begin_;
};

/// A signal within `run_guarded` ends it. Everything runs on one thread.
sigjmp_buf back;
volatile sig_atomic_t is_guarded = 0;
void on_signal(int number) {
  if (is_guarded) siglongjmp(back, number);
  std::signal(number, SIG_DFL);
  raise(number);
}

/// Calls `work` of `argument`; the signal that ended it, or 0.
int run_guarded(FunctionRef<void()> work) {
  if (const int number = sigsetjmp(back, 1)) {
    is_guarded = 0;
    alarm(0);
    return number;
  }
  is_guarded = 1;
  alarm(10);  // a loop that has no end in sight
  work();
  alarm(0);
  is_guarded = 0;
  return 0;
}

class CpuDamage : public ::testing::Test {
 protected:
  enum class Reached : uint8_t { kNothing, kLoaded, kBound, kRun };

  void SetUp() override {
    device = cpu::CpuDevice::create(1).value();
    device->set_executor(std::make_unique<cpu::CpuExecutor>(device->team()));
    backend = std::make_unique<cpu::CpuBackend>(*device);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGALRM}) before_[number] = std::signal(number, on_signal);
#ifndef __SANITIZE_ADDRESS__
    getrlimit(RLIMIT_AS, &memory_);
    rlimit less = memory_;
    less.rlim_cur = rlim_t{8} << 30;  // want of memory is an error, and no end of the process
    setrlimit(RLIMIT_AS, &less);
#endif
  }
  void TearDown() override {
    for (const auto& [number, handler] : before_) std::signal(number, handler);
#ifndef __SANITIZE_ADDRESS__
    setrlimit(RLIMIT_AS, &memory_);
#endif
  }

  /// Memory of a tensor, filled; null where it is too large to be run.
  std::byte* place(size_t slot, const StepTensor& type, const Extents& extents, int fill) {
    const int64_t bytes = size_bytes(type.dtype, type.format.storage_volume(extents));
    if (bytes < 0 || static_cast<size_t>(bytes) > kMostBytes) return nullptr;
    while (slots_.size() <= slot) slots_.emplace_back();
    std::byte* memory = slots_[slot].give(static_cast<size_t>(bytes), fill % 4 < 3);
    std::memset(memory, fill % 2, static_cast<size_t>(bytes));
    return memory;
  }

  Result<Reached> use(const Sample& s, int fill) {
    if (!s.is_read) return Reached::kNothing;
    size_t slot = 0;
    std::vector<HostTensor> held(s.constants.size());
    std::vector<const HostTensor*> constants(s.constants.size());
    for (size_t i = 0; i < s.constants.size(); ++i) {
      if (!s.is_constant[i]) continue;
      const std::span<const std::byte> bytes = s.constants[i].bytes();
      constants[i] = &s.constants[i];
      if (bytes.size() > kMostBytes) continue;
      while (slots_.size() <= slot) slots_.emplace_back();
      std::byte* memory = slots_[slot++].give(bytes.size(), true);
      if (!bytes.empty()) std::memcpy(memory, bytes.data(), bytes.size());
      held[i] = HostTensor(s.constants[i].dtype(), s.constants[i].extents(), {memory, bytes.size()}, nullptr);
      constants[i] = &held[i];
    }
    const auto loaded = TRY(device->executor("cpu")).get().load(s.spec, constants);
    if (!loaded) return Reached::kNothing;
    const auto bound = (*loaded)->bind({s.inputs, s.outputs, s.params});
    if (!bound) return Reached::kLoaded;
    const int64_t workspace = (*bound)->workspace_bytes();
    TRY(require(workspace >= 0, "a workspace of ", workspace, " bytes"));
    if (static_cast<size_t>(workspace) > kMostBytes) return Reached::kBound;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      const bool given = !constants[i] && s.spec.inputs[i].present;
      inputs.push_back(constants[i] ? constants[i]->bytes().data() : nullptr);
      if (given && !(inputs.back() = place(slot++, s.spec.inputs[i], s.inputs[i], fill))) return Reached::kBound;
    }
    for (size_t i = 0; i < s.outputs.size(); ++i) {
      outputs.push_back(place(slot++, s.spec.outputs[i], s.outputs[i], fill));
      if (!outputs.back()) return Reached::kBound;
    }
    while (slots_.size() <= slot) slots_.emplace_back();
    std::byte* scratch = slots_[slot].give((static_cast<size_t>(workspace) + 255) / 256 * 256, true);
    std::vector<int64_t> sizes(static_cast<size_t>(s.spec.num_sizes));
    static_cast<void>((*bound)->run({inputs.data(), outputs.data(), scratch, nullptr, sizes.data()}));
    return Reached::kRun;
  }

  /// Every damage that goes wrong is told with what it takes to find it again.
  void damage(const std::vector<Sample>& samples, size_t i, int n, std::map<std::string, std::array<int, 4>>& reached) {
    Damage damage(static_cast<uint32_t>(i * 1000003 + static_cast<size_t>(n)), samples, true);
    Sample damaged = samples[i];
    for (int changes = 1 + n % 3; changes-- > 0 && !damaged.spec.outputs.empty();) damage.change(damaged);
    const auto what = [&] {
      std::string text = str("damage ", n, " of step ", i, ": ", damaged.spec.step);
      for (size_t k = 0; k < damaged.inputs.size(); ++k)
        text += str(k ? ", " : "; ", damaged.spec.inputs[k].dtype, damaged.inputs[k], damaged.spec.inputs[k].format,
                    damaged.spec.inputs[k].present ? "" : " absent", damaged.is_constant[k] ? " constant" : "");
      for (size_t k = 0; k < damaged.outputs.size(); ++k)
        text += str(" -> ", damaged.spec.outputs[k].dtype, damaged.outputs[k], damaged.spec.outputs[k].format);
      return text + str("; params ", Extents(damaged.params.begin(), damaged.params.end()));
    };
    const int signal = run_guarded([&] {
      try {
        const auto ran = use(damaged, n);
        if (ran)
          ++reached[std::string(damaged.spec.step.name())][static_cast<size_t>(*ran)];
        else
          ADD_FAILURE() << ran.error().message << ": " << what();
      } catch (const std::bad_alloc&) {  // as good as an error: the API says so
      } catch (const std::length_error&) {
      } catch (const CheckFailed& failed) {
        ADD_FAILURE() << failed.message << ": " << what();
      }
    });
    if (signal != 0) ADD_FAILURE() << strsignal(signal) << ": " << what();
  }

  std::unique_ptr<cpu::CpuDevice> device;
  std::unique_ptr<cpu::CpuBackend> backend;

 private:
  std::vector<Guarded> slots_;
  std::map<int, void (*)(int)> before_;
  rlimit memory_{};
};

TEST_F(CpuDamage, StepsGiveErrors) {
  std::vector<std::shared_ptr<plan::Plan>> plans;
  std::vector<Sample> samples;
  const BuildRequest request{.optimization_level = 0};
  for (const Case& c : all_cases()) {
    const auto built = build_case(c);
    ASSERT_TRUE(built) << built.error().message;
    const Status added = add_samples(built->graph, *backend, request, plans, samples);
    ASSERT_TRUE(added) << c.name << ": " << added.error().message;
  }
  const auto attention = attention_network(DType::kF32);
  ASSERT_TRUE(attention) << attention.error().message;
  ASSERT_TRUE(add_samples(*attention, *backend, request, plans, samples));
  const char* wanted = std::getenv("KILN_DAMAGE");
  const int times = wanted ? std::atoi(wanted) : 40;
  std::map<std::string, std::array<int, 4>> reached;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto whole = use(samples[i], 1);
    ASSERT_TRUE(whole) << samples[i].spec.step.name() << ": " << whole.error().message;
    ASSERT_GE(*whole, Reached::kBound) << samples[i].spec.step.name();
    for (int n = 0; n < times; ++n) damage(samples, i, n, reached);
  }
  for (const auto& [kernel, counts] : reached) {
    std::cout << kernel << ": " << counts[0] << " do not load, " << counts[1] << " do not bind, " << counts[2]
              << " bind, " << counts[3] << " run\n";
    EXPECT_GT(counts[0] + counts[1], (counts[2] + counts[3]) / 20) << kernel;
  }
}

}  // namespace
}  // namespace kiln
