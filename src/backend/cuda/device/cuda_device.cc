#include "backend/cuda/device/cuda_device.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/device/graph_clock.h"
#include "backend/cuda/device/pinned_memory.h"
#include "steps/executor.h"

namespace kiln::cuda {
namespace {

DevicePointer pointer(const void* memory) { return reinterpret_cast<DevicePointer>(memory); }

void free_memory(void* owner, void* data, int64_t) {
  const auto& device = *static_cast<const CudaDevice*>(owner);
  if (device.given_up()) return;
  const CurrentContext current(device);
  const OutsideCaptures outside(device.driver());
  device.driver().mem_free(pointer(data));  // fails only after a fault of the context, which everybody has heard of
}

/// The name of the architecture that has everything this GPU can do.
std::string arch_of(int major, int minor) { return str("sm_", major, minor, major >= 9 ? "a" : ""); }

Result<Properties> query(const Driver& driver, int device) {
  Properties p;
  char name[256] = {};
  size_t memory = 0;
  TRY(driver.check(driver.device_get_name(name, sizeof name, device), "name of the GPU"));
  TRY(driver.check(driver.device_total_mem(&memory, device), "memory of the GPU"));
  const auto get = [&](DeviceAttribute which) -> Result<int> {
    int value = 0;
    TRY(driver.check(driver.device_get_attribute(&value, which, device), "attribute ", static_cast<int>(which),
                     " of the GPU"));
    return value;
  };
  p.name = name;
  p.memory_bytes = static_cast<int64_t>(memory);
  p.compute_major = TRY(get(kComputeMajor));
  p.compute_minor = TRY(get(kComputeMinor));
  p.arch = arch_of(p.compute_major, p.compute_minor);
  p.num_multiprocessors = TRY(get(kNumMultiprocessors));
  p.max_threads_per_block = TRY(get(kMaxThreadsPerBlock));
  p.max_threads_per_multiprocessor = TRY(get(kThreadsPerMultiprocessor));
  p.max_blocks_per_multiprocessor = TRY(get(kBlocksPerMultiprocessor));
  p.shared_bytes_per_block = TRY(get(kSharedBytesPerBlockOptin));
  p.shared_bytes_per_multiprocessor = TRY(get(kSharedBytesPerMultiprocessor));
  p.registers_per_multiprocessor = TRY(get(kRegistersPerMultiprocessor));
  p.l2_bytes = TRY(get(kL2Bytes));
  const double memory_hz = get(kMemoryClockKhz).value_or(0) * 1e3, width_bits = get(kMemoryBusBits).value_or(0);
  p.memory_bytes_per_second = 2 * memory_hz * width_bits / 8;  // two transfers a clock
  p.clock_hz = get(kClockKhz).value_or(0) * 1e3;
  p.driver_version = driver.version;
  return p;
}

/// Fails for GPUs before compute capability 8.0, and says what the user can do.
Status check_compute(const Properties& p) {
  if (p.compute_major >= 8) return {};
  return error(Code::kUnsupported, "GPU '", p.name, "' has compute capability ", p.compute_major, ".", p.compute_minor,
               "; Kiln needs 8.0 or later: use KILN_DEVICE=cpu");
}

}  // namespace

CurrentContext::CurrentContext(const CudaDevice& device) : driver_(device.driver()) {
  if (driver_.ctx_get_current(&before_) == 0 && before_ == device.context()) [[likely]]
    return;
  changed_ = driver_.ctx_set_current(device.context()) == 0;  // if not, what follows fails and says why
}

CurrentContext::~CurrentContext() {
  // A thread without a current context keeps ours, as it would with the CUDA runtime.
  if (changed_ && before_) driver_.ctx_set_current(before_);
}

OutsideCaptures::OutsideCaptures(const Driver& driver) : driver_(driver), mode_(kCaptureRelaxed) {
  known_ = driver_.thread_exchange_stream_capture_mode(&mode_) == 0;
}

OutsideCaptures::~OutsideCaptures() {
  if (known_) driver_.thread_exchange_stream_capture_mode(&mode_);
}

InsideCapture::InsideCapture(const Driver& driver) : driver_(driver), mode_(kCaptureThreadLocal) {
  known_ = driver_.thread_exchange_stream_capture_mode(&mode_) == 0;
}

InsideCapture::~InsideCapture() {
  if (known_) driver_.thread_exchange_stream_capture_mode(&mode_);
}

CudaDevice::CudaDevice(const Driver& driver, int ordinal, ContextHandle context, Properties properties)
    : driver_(driver), ordinal_(ordinal), context_(context), properties_(std::move(properties)) {}

CudaDevice::~CudaDevice() {
  if (given_up()) {  // its context stays, and companions may wait for it
    for (auto& [tag, made] : companions_) static_cast<void>(new Result<std::shared_ptr<void>>(std::move(made)));
    return;
  }
  if (!companions_.empty()) {
    const CurrentContext current(*this);
    companions_.clear();
  }
  copies_.reset();
  executor_.reset();
  driver_.device_primary_ctx_release(ordinal_);
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::create(int ordinal) {
  const Driver& driver = TRY(Driver::instance());
  return create(ordinal, driver);
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::create(int ordinal, const Driver& driver) {
  int count = 0, device = 0;
  TRY(driver.check(driver.device_get_count(&count), "number of GPUs"));
  if (ordinal < 0 || ordinal >= count)
    return error(Code::kNotFound, "there is no CUDA device ", ordinal, "; the driver has ", count);
  TRY(driver.check(driver.device_get(&device, ordinal), "CUDA device ", ordinal));
  Properties properties = TRY(query(driver, device));
  TRY(check_compute(properties));
  ContextHandle context = nullptr;
  TRY(driver.check(driver.device_primary_ctx_retain(&context, device), "primary context of CUDA device ", ordinal));
  return std::unique_ptr<CudaDevice>(new CudaDevice(driver, ordinal, context, std::move(properties)));
}

std::string CudaDevice::identity() const {
  return str("cuda ", properties_.name, " sm_", properties_.compute_major, properties_.compute_minor, ", ",
             properties_.num_multiprocessors, " SMs, driver ", properties_.driver_version / 1000, ".",
             properties_.driver_version % 1000 / 10);
}

Result<Buffer> CudaDevice::allocate(int64_t size_bytes) {
  if (size_bytes < 0) return error(Code::kOutOfMemory, "cannot allocate ", size_bytes, " bytes");
  TRY(check_given_up());
  const CurrentContext current(*this);
  const OutsideCaptures outside(driver_);
  DevicePointer memory = 0;
  const size_t size = size_bytes == 0 ? 1 : static_cast<size_t>(size_bytes);  // 0 bytes are an address too
  TRY(driver_.check(driver_.mem_alloc(&memory, size), "allocating ", size_bytes, " bytes on '", properties_.name, "'"));
  return Buffer(reinterpret_cast<void*>(memory), size_bytes, this, &free_memory);
}

Result<Buffer> CudaDevice::allocate_pinned(int64_t size_bytes) {
  TRY(check_given_up());
  PinnedMemory& pinned = TRY(companion<PinnedMemory>());
  return pinned.allocate(size_bytes);
}

Result<std::unique_ptr<Stream>> CudaDevice::create_stream() { return CudaStream::create(*this); }

Status CudaDevice::copy_to_host(void* host, const void* device, int64_t size_bytes, Stream& stream) {
  const CurrentContext current(*this);
  const OutsideCaptures outside(driver_);
  if (size_bytes > 0)
    TRY(driver_.check(driver_.memcpy_dtoh_async(host, pointer(device), static_cast<size_t>(size_bytes),
                                                static_cast<CudaStream&>(stream).handle()),
                      "copying ", size_bytes, " bytes from the GPU"));
  return stream.synchronize();
}

Status CudaDevice::copy_from_host(void* device, const void* host, int64_t size_bytes, Stream& stream) {
  const CurrentContext current(*this);
  const OutsideCaptures outside(driver_);
  if (size_bytes > 0)
    TRY(driver_.check(driver_.memcpy_htod_async(pointer(device), host, static_cast<size_t>(size_bytes),
                                                static_cast<CudaStream&>(stream).handle()),
                      "copying ", size_bytes, " bytes to the GPU"));
  return stream.synchronize();
}

Status CudaDevice::copy(void* to, const void* from, int64_t size_bytes, Stream& stream) {
  const CurrentContext current(*this);
  if (size_bytes == 0) return {};
  return driver_.check(driver_.memcpy_async(pointer(to), pointer(from), static_cast<size_t>(size_bytes),
                                            static_cast<CudaStream&>(stream).handle()),
                       "copying ", size_bytes, " bytes within the GPU");
}

void CudaDevice::set_executor(std::unique_ptr<Executor> executor) { executor_ = std::move(executor); }

Result<Ref<Executor>> CudaDevice::executor(std::string_view name) {
  if (!executor_ || name != executor_->name())
    return error(Code::kVersion, "the plan needs executor '", name,
                 "'; this device has 'cuda': build the engine on this device, or use KILN_DEVICE=cpu");
  return std::ref(*executor_);
}

Result<std::unique_ptr<Measurement>> CudaDevice::measure(TimedWork work, void* argument, double limit_us) {
  return GraphClock::create(*this, work, argument, limit_us);
}

void CudaDevice::give_up(std::string why) {
  const std::lock_guard lock(why_mutex_);
  if (why_given_up_.empty()) why_given_up_ = std::move(why);
  given_up_.store(true, std::memory_order_release);
}

Status CudaDevice::check_given_up() {
  if (!given_up()) [[likely]]
    return {};
  const std::lock_guard lock(why_mutex_);
  return error(Code::kDevice, "this process can use CUDA device ", ordinal_, " no more, since ", why_given_up_,
               ": start it again");
}

bool CudaDevice::reaches(const void* address) const {
  const CurrentContext current(*this);
  int pageable = 0;  // some systems let kernels read whatever the host has
  if (driver_.device_get_attribute(&pageable, kPageableMemoryAccess, ordinal_) == kSuccess && pageable != 0)
    return true;
  int attribute = kPointerMemoryType;
  unsigned type = 0;  // stays 0 for memory that CUDA does not know
  void* value = &type;
  return driver_.pointer_get_attributes(1, &attribute, &value, pointer(address)) != kSuccess || type != 0;
}

Status CudaDevice::usable() {
  TRY(check_given_up());
  const CurrentContext current(*this);
  const OutsideCaptures outside(driver_);
  size_t left = 0, all = 0;  // any call will do: after a kernel's fault each one returns the fault
  return driver_.check(driver_.mem_get_info(&left, &all), "this process can use CUDA device ", ordinal_,
                       " no more, start it again: a kernel broke its context");
}

/// The stream on which `upload` copies; made at the first call.
Result<Ref<CudaStream>> CudaDevice::copies() {
  const std::lock_guard lock(mutex_);
  if (!copies_) copies_ = TRY(CudaStream::create(*this));
  return Ref<CudaStream>(*copies_);
}

/// The buffer on the device that holds these bytes; null if there is none. The caller holds `mutex_`.
std::shared_ptr<const Buffer> CudaDevice::uploaded(const ConstantKey& key, int64_t size_bytes) const {
  const auto at = constants_.find(key);
  std::shared_ptr<const Buffer> there = at != constants_.end() ? at->second.lock() : nullptr;
  return there && there->size_bytes() == size_bytes ? there : nullptr;
}

Result<std::shared_ptr<const Buffer>> CudaDevice::upload(std::span<const std::byte> bytes, Allocator* memory) {
  TRY(check_given_up());
  const ConstantKey key(hash128(bytes), memory ? memory->source() : nullptr);
  {
    const std::lock_guard lock(mutex_);
    if (auto there = uploaded(key, std::ssize(bytes))) return there;
  }
  const bool asks_program = memory && !bytes.empty();  // a program's allocator is never asked for 0 bytes
  auto made = std::make_shared<const Buffer>(
      TRY(asks_program ? memory->allocate(std::ssize(bytes)) : allocate(std::ssize(bytes))));
  TRY(copy_from_host(made->data(), bytes.data(), std::ssize(bytes), TRY(copies())));
  const std::lock_guard lock(mutex_);
  if (auto there = uploaded(key, std::ssize(bytes))) return there;  // another thread was faster
  std::erase_if(constants_, [](const auto& entry) { return entry.second.expired(); });
  constants_[key] = made;
  return made;
}

/// The driver is given an address and no size: it trusts what a cubin's headers say of its length.
static Status check_image(std::span<const std::byte> image) {
  const auto within = [&](uint64_t offset, uint64_t size) {
    return offset <= image.size() && size <= image.size() - offset;
  };
  if (image.size() < SELFMAG || std::memcmp(image.data(), ELFMAG, SELFMAG) != 0) {  // text, to its first 0
    if (std::ranges::find(image, std::byte{0}) != image.end()) return {};
    return error(Code::kCorrupt, "kernels of ", image.size(), " bytes are not a cubin");
  }
  Elf64_Ehdr header{};
  bool whole = image.size() >= sizeof header;
  if (whole) std::memcpy(&header, image.data(), sizeof header);
  whole = whole && header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
          header.e_shentsize == sizeof(Elf64_Shdr) &&
          (header.e_phnum == 0 || header.e_phentsize == sizeof(Elf64_Phdr)) &&
          within(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)) &&
          within(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr)) && header.e_shstrndx < header.e_shnum;
  for (uint64_t i = 0; whole && i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof section, sizeof section);
    whole = section.sh_type == SHT_NOBITS || within(section.sh_offset, section.sh_size);
  }
  for (uint64_t i = 0; whole && i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    whole = within(segment.p_offset, segment.p_filesz);
  }
  if (whole) return {};
  return error(Code::kCorrupt, "kernels of ", image.size(), " bytes are not a whole cubin");
}

/// The names of a whole image's sections; empty where it is no ELF file.
static std::string section_names(std::span<const std::byte> image) {
  Elf64_Ehdr header;
  if (image.size() < sizeof header || std::memcmp(image.data(), ELFMAG, SELFMAG) != 0) return {};
  std::memcpy(&header, image.data(), sizeof header);
  Elf64_Shdr names;
  std::memcpy(&names, image.data() + header.e_shoff + header.e_shstrndx * sizeof names, sizeof names);
  if (names.sh_type != SHT_STRTAB) return {};
  return {reinterpret_cast<const char*>(image.data()) + names.sh_offset, names.sh_size};
}

Result<std::shared_ptr<const Module>> CudaDevice::load(std::span<const std::byte> cubin) {
  TRY(check_given_up());
  const Hash128 key = hash128(cubin);
  const std::lock_guard lock(mutex_);
  if (const auto at = modules_.find(key); at != modules_.end())
    if (auto there = at->second.lock()) return there;
  TRY(check_image(cubin));
  const CurrentContext current(*this);
  const OutsideCaptures outside(driver_);
  ModuleHandle handle = nullptr;
  const int result = driver_.module_load_data(&handle, cubin.data());
  if (result == kNoBinaryForGpu || result == kInvalidImage || result == kUnsupportedPtxVersion)
    return error(Code::kVersion, "the kernels are for another GPU or a newer driver than '", identity(), "' (",
                 driver_.failure(result, "loading").message, "); build the engine on this device");
  TRY(driver_.check(result, "loading a module of ", cubin.size(), " bytes"));
  auto made = std::make_shared<const Module>(*this, handle, section_names(cubin));
  std::erase_if(modules_, [](const auto& entry) { return entry.second.expired(); });
  modules_[key] = made;
  return made;
}

}  // namespace kiln::cuda
