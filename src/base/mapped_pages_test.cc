#include "base/mapped_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/mapped_file.h"
#include "base/str.h"

namespace kiln {
namespace {

constexpr size_t kBytes = size_t{3} << 20;

class MappedPages : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + str("mapped_pages_", ::getpid());
    std::ofstream(path_, std::ios::binary) << std::string(kBytes, 'k');
  }
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_;
};

/// Pages of `bytes`, which begin at a page, that are in this process's page tables.
size_t num_present(std::span<const std::byte> bytes) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<uint64_t> entries(bytes.size() / page);
  const int map = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const auto at = static_cast<off_t>(reinterpret_cast<uintptr_t>(bytes.data()) / page * sizeof(uint64_t));
  const ssize_t got = ::pread(map, entries.data(), entries.size() * sizeof(uint64_t), at);
  ::close(map);
  if (got != static_cast<ssize_t>(entries.size() * sizeof(uint64_t))) return 0;
  return static_cast<size_t>(std::ranges::count_if(entries, [](uint64_t entry) { return (entry >> 63) != 0; }));
}

size_t count(std::span<const std::byte> bytes, char c) {
  return static_cast<size_t>(std::ranges::count(bytes, static_cast<std::byte>(c)));
}

TEST_F(MappedPages, ReleasedPagesComeAgain) {
  const auto file = MappedFile::open(path_);
  ASSERT_TRUE(file);
  const auto bytes = (*file)->bytes();
  EXPECT_EQ(count(bytes, 'k'), kBytes);
  const size_t all = num_present(bytes);
  EXPECT_GT(all, 0u);
  release_pages(bytes.subspan(100, kBytes - 200));  // the pages at both ends are not whole
  EXPECT_LE(num_present(bytes), 2u);
  EXPECT_EQ(count(bytes, 'k'), kBytes);
  release_pages(bytes.subspan(0, 4096));  // too few
  EXPECT_EQ(num_present(bytes), all);
}

TEST_F(MappedPages, OtherMemoryKeepsWhatItHolds) {
  const std::vector<std::byte> heap(kBytes, std::byte{'h'});
  release_pages(heap);
  EXPECT_EQ(count(heap, 'h'), kBytes);
  void* const pages = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const std::span<std::byte> own(static_cast<std::byte*>(pages), kBytes);
  std::ranges::fill(own, std::byte{'o'});
  release_pages(own);
  EXPECT_EQ(count(own, 'o'), kBytes);
  ::munmap(pages, kBytes);
}

TEST_F(MappedPages, AnAddressThatWasAFilesIsForgotten) {
  std::byte* at = nullptr;
  {
    const auto file = MappedFile::open(path_);
    ASSERT_TRUE(file);
    at = const_cast<std::byte*>((*file)->bytes().data());
  }
  void* const pages =
      ::mmap(at, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (pages == MAP_FAILED) GTEST_SKIP() << "somebody else has the addresses of the file by now";
  const std::span<std::byte> own(static_cast<std::byte*>(pages), kBytes);
  std::ranges::fill(own, std::byte{'o'});
  release_pages(own);
  EXPECT_EQ(count(own, 'o'), kBytes);
  ::munmap(pages, kBytes);
}

}  // namespace
}  // namespace kiln
