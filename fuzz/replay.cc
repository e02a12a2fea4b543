// Runs a fuzz target once on each file of the folders that are named, in a build without libFuzzer: what the seeds
// alone show is then seen by every build and sanitizer.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  int num_files = 0;
  for (int i = 1; i < argc; ++i)
    for (const auto& file : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!file.is_regular_file()) continue;
      std::ifstream stream(file.path(), std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
      std::printf("%s: %zu bytes\n", file.path().c_str(), bytes.size());
      std::fflush(stdout);  // the last line names the file at which the process ends
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      ++num_files;
    }
  if (num_files == 0) std::puts("no seed in the folders named");
  return num_files > 0 ? 0 : 1;
}
