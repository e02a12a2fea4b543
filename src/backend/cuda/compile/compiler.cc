#include "backend/cuda/compile/compiler.h"

#include <exception>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include "backend/cuda/compile/nvrtc.h"
#include "backend/cuda/device/cuda_device.h"

namespace kiln::cuda {
namespace {

constexpr std::string_view kOptionsVersion = "1";  // counts changes of the options below
constexpr const char* kOptions[] = {"-std=c++20", "-default-device"};

/// Ends a program whichever way the function around is left.
struct Program {
  const Nvrtc& nvrtc;
  NvrtcProgram* handle = nullptr;
  explicit Program(const Nvrtc& nvrtc) : nvrtc(nvrtc) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (handle) nvrtc.destroy_program(&handle);
  }
};

std::string log_of(const Program& program) {
  size_t size = 0;
  if (program.nvrtc.log_size(program.handle, &size) != 0 || size <= 1) return {};
  std::string log(size, '\0');
  if (program.nvrtc.log(program.handle, log.data()) != 0) return {};
  log.resize(size - 1);  // its end is a 0
  while (log.ends_with('\n')) log.pop_back();
  return log;
}

std::string configuration_of(const KernelSource& source) {
  std::string text = str(source.file.empty() ? "-" : source.file, ' ', source.entry);
  for (const auto& [name, value] : source.choices.entries()) text += str(' ', name, '=', value);
  if (!source.prelude.empty()) text += str(" prelude=", str(hash128(std::string_view(source.prelude))).substr(0, 16));
  return text;
}

std::string name_in_messages(const KernelSource& source) {
  return source.file.empty() ? str(source.entry, ".cu") : std::string(source.file);
}

}  // namespace

Compiler::Compiler(std::string arch, std::string cache_folder)
    : arch_(std::move(arch)), disk_(std::move(cache_folder), notices_) {}

Result<std::shared_ptr<Compiler>> Compiler::create(CudaDevice& device) {
  return std::make_shared<Compiler>(device.properties().arch);
}
Compiler& compiler_of(CudaDevice& device) { return device.companion<Compiler>().value(); }

const std::string& Compiler::nvrtc_version() const {
  std::call_once(version_known_, [&] {
    const auto nvrtc = Nvrtc::instance();
    version_ = nvrtc ? str(nvrtc->get().major, '.', nvrtc->get().minor) : disk_.compiler();
  });
  return version_;
}

Hash128 Compiler::key_of(const KernelSource& source, const KernelText& text) const {
  std::string facts = str(kOptionsVersion, '/', arch_, '/', nvrtc_version());
  if (source.quick) facts += "\nquick";
  Hash128 key = combine(hash128(std::string_view(facts)), hash128(std::string_view(text.main)));
  for (const auto& [name, header] : text.headers)
    key = combine(combine(key, hash128(std::string_view(name))), hash128(header));
  return key;
}

Result<Hash128> Compiler::key_of(const KernelSource& source) const {
  const KernelText text = TRY(text_of(source));
  return key_of(source, text);
}

/// A kernel that this thread compiles while others wait; they are woken whichever way that ends.
class Compiler::Claim {
 public:
  Claim(Compiler& compiler, const Hash128& key) : compiler_(compiler), key_(key) {}
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  void keep(std::shared_ptr<const Bytes> cubin) { cubin_ = std::move(cubin); }
  ~Claim() {
    const std::lock_guard lock(compiler_.mutex_);
    const auto at = compiler_.cubins_.find(key_);
    if (cubin_)
      at->second = std::move(cubin_);
    else
      compiler_.cubins_.erase(at);
    compiler_.done_.notify_all();
  }

 private:
  Compiler& compiler_;
  const Hash128 key_;
  std::shared_ptr<const Bytes> cubin_;
};

namespace {

thread_local std::vector<KernelSource>* noted = nullptr;

struct Noting {
  explicit Noting(std::vector<KernelSource>& into) { noted = &into; }
  ~Noting() { noted = nullptr; }
  Noting(const Noting&) = delete;
  Noting& operator=(const Noting&) = delete;
};

}  // namespace

void Compiler::note_configurations(std::set<std::string>* into) {
  const std::lock_guard lock(mutex_);
  configurations_ = into;
}

void Compiler::compile_ahead(FunctionRef<void()> ask) {
  std::vector<KernelSource> wanted;
  {
    const Noting noting(wanted);
    ask();
  }
  std::atomic<size_t> next = 0;
  const auto work = [&]() noexcept {
    for (size_t i = next++; i < wanted.size(); i = next++) try {
        static_cast<void>(compile(wanted[i]));
      } catch (const std::exception&) {  // no memory: whoever asks again is told
      }
  };
  std::vector<std::jthread> threads;
  const size_t most = std::min<size_t>(std::thread::hardware_concurrency(), wanted.size());
  try {
    for (size_t i = 1; i < most; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {  // fewer threads, then
  }
  work();
}

Result<std::shared_ptr<const Bytes>> Compiler::compile(const KernelSource& source) {
  if (noted) {
    noted->push_back(source);
    return error(Code::kState, "the kernel is noted, to be compiled together with others");
  }
  const KernelText text = TRY(text_of(source));
  const Hash128 key = key_of(source, text);
  {
    std::unique_lock lock(mutex_);
    for (auto [at, is_mine] = cubins_.try_emplace(key); !is_mine; std::tie(at, is_mine) = cubins_.try_emplace(key)) {
      if (at->second) {
        if (configurations_) configurations_->insert(configuration_of(source));
        return at->second;
      }
      done_.wait(lock);  // if the other thread fails, the entry is gone and it is this one's turn
    }
  }
  Claim claim(*this, key);
  auto cubin = TRY(find_or_compile(key, source, text));
  claim.keep(cubin);
  const std::lock_guard lock(mutex_);
  if (configurations_) configurations_->insert(configuration_of(source));
  return cubin;
}

Result<std::shared_ptr<const Bytes>> Compiler::find_or_compile(const Hash128& key, const KernelSource& source,
                                                               const KernelText& text) {
  if (auto cubin = disk_.find(key)) {
    if (num_from_disk_.fetch_add(1, std::memory_order_relaxed) == 0) disk_.note_compiler(nvrtc_version());
    return cubin;
  }
  auto cubin = std::make_shared<const Bytes>(TRY(in_context(
      run_nvrtc(source, text), [&] { return str("kernel ", source.entry, " of '", name_in_messages(source), "'"); })));
  disk_.store(key, *cubin);
  if (num_compiled_.fetch_add(1, std::memory_order_relaxed) == 0) disk_.note_compiler(nvrtc_version());
  return cubin;
}

Result<Bytes> Compiler::run_nvrtc(const KernelSource& source, const KernelText& text) const {
  const Nvrtc& nvrtc = TRY(Nvrtc::instance());
  std::vector<const char*> headers, names;
  std::vector<std::string> copies;  // an embedded text need not end with a 0
  copies.reserve(text.headers.size());
  for (const auto& [name, header] : text.headers) {
    names.push_back(name.c_str());
    headers.push_back(copies.emplace_back(header).c_str());
  }
  Program program(nvrtc);
  const auto check = [&](int result, const char* what) -> Status {
    if (result == 0) return {};
    return error(Code::kInternal, "NVRTC ", nvrtc.major, ".", nvrtc.minor, ": ", what, ": ",
                 nvrtc.error_string(result));
  };
  TRY(check(nvrtc.create_program(&program.handle, text.main.c_str(), name_in_messages(source).c_str(),
                                 static_cast<int>(names.size()), headers.data(), names.data()),
            "create program"));
  std::vector<std::string> options{str("-arch=", arch_)};
  for (const char* option : kOptions) options.emplace_back(option);
  if (source.quick) {
    options.emplace_back("-prec-div=false");
    options.emplace_back("-DKILN_QUICK_FUNCTIONS");
  }
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  if (const int result = nvrtc.compile_program(program.handle, static_cast<int>(pointers.size()), pointers.data()))
    return error(Code::kInternal, "NVRTC ", nvrtc.major, ".", nvrtc.minor, " for ", arch_, ": ",
                 nvrtc.error_string(result), "\n", log_of(program));
  size_t size = 0;
  TRY(check(nvrtc.cubin_size(program.handle, &size), "size of the cubin"));
  if (size == 0)
    return error(Code::kInternal, "NVRTC made an empty cubin for '", arch_, "'; is it a real architecture?");
  Bytes cubin(size);
  TRY(check(nvrtc.cubin(program.handle, reinterpret_cast<char*>(cubin.data())), "cubin"));
  return cubin;
}

}  // namespace kiln::cuda
