// What kernels are given: in strict mode an address of the host's memory among it ends the process, for a GPU would
// read what is not there. So does, when a graph runs, the address of memory that is gone.
#include <elf.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "state.h"

namespace kiln::fake_cuda {
namespace {

constexpr std::string_view kInfo = ".nv.info.";
constexpr unsigned char kSizedValue = 4, kParameterInfo = 0x17;  // EIFMT_SVAL, EIATTR_KPARAM_INFO

template <class T>
T read(const std::string& bytes, size_t at) {
  T value{};
  if (at <= bytes.size() && sizeof(T) <= bytes.size() - at) std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// The section of that name of a cubin; empty if there is none.
std::string section(const std::string& cubin, const std::string& name) {
  const auto header = read<Elf64_Ehdr>(cubin, 0);
  const auto at = [&](size_t index) { return read<Elf64_Shdr>(cubin, header.e_shoff + index * sizeof(Elf64_Shdr)); };
  const Elf64_Shdr names = at(header.e_shstrndx);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr found = at(i);
    if (cubin.c_str() + names.sh_offset + found.sh_name == name) return cubin.substr(found.sh_offset, found.sh_size);
  }
  return "";
}

/// The ordinal and the size of each parameter of a kernel. None of what is no cubin.
std::vector<std::pair<size_t, size_t>> parameters(const std::string& image, const std::string& kernel) {
  std::vector<std::pair<size_t, size_t>> found;
  if (!image.starts_with(ELFMAG)) return found;
  const std::string info = section(image, std::string(kInfo) + kernel);
  for (size_t at = 0; at + 4 <= info.size();) {
    const auto format = read<unsigned char>(info, at), attribute = read<unsigned char>(info, at + 1);
    if (format == kSizedValue && attribute == kParameterInfo)
      found.emplace_back(read<uint16_t>(info, at + 8), read<uint32_t>(info, at + 12) >> 18);
    at += 4 + (format == kSizedValue ? read<uint16_t>(info, at + 2) : 0);
  }
  return found;
}

/// Whether something of the process may be written at the address: its heap, its stacks, its variables.
bool is_writable(uint64_t address) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  if (!maps) return false;
  char line[512];
  bool found = false;
  while (!found && std::fgets(line, sizeof line, maps)) {
    unsigned long long first = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line, "%llx-%llx %4s", &first, &end, rights) == 3)
      found = address >= first && address < end && rights[1] == 'w';
  }
  std::fclose(maps);
  return found;
}

}  // namespace

bool is_strict() {
  static const bool strict = [] {
    const char* text = std::getenv("KILN_FAKE_CUDA");
    return text && std::string_view(text) == "strict";
  }();
  return strict;
}

void note_memory(cuda::FakeLaunch& launch, uint64_t address) {
  if (find_allocation(reinterpret_cast<const void*>(address))) launch.memory.push_back(address);
}

void refuse_freed_memory(const cuda::FakeLaunch& launch) {
  for (const uint64_t address : launch.memory) {
    if (find_allocation(reinterpret_cast<const void*>(address))) continue;
    std::fprintf(stderr, "kernel %s runs with memory that was freed: %p\n", launch.function->name.c_str(),
                 reinterpret_cast<const void*>(address));
    std::abort();
  }
}

void refuse_host_addresses(cuda::FakeLaunch& launch, void** arguments) {
  const cuda::CudaFunctionObject& function = *launch.function;
  for (const auto& [ordinal, size] : parameters(*function.image, function.name))
    for (size_t at = 0; at + 8 <= size; at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, static_cast<const std::byte*>(arguments[ordinal]) + at, 8);
      const void* pointer = reinterpret_cast<const void*>(word);
      note_memory(launch, word);
      if (find_allocation(pointer, 0) || !is_writable(word)) continue;
      std::fprintf(stderr, "kernel %s is given an address of the host: %p, at byte %zu of parameter %zu\n",
                   function.name.c_str(), pointer, at, ordinal);
      std::abort();
    }
}

}  // namespace kiln::fake_cuda
