#include "files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "expect_failure.h"

namespace kiln::trtexec {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / str("kiln_trtexec_files_", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const char* name) const { return folder_ / name; }
  int64_t num_files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }
  static std::string text(const std::string& path) {
    const auto content = read_file(path, "file");
    return {content.begin(), content.end()};
  }

  fs::path folder_;
};

TEST_F(Files, ReadsWhatWasWritten) {
  write_file(at("a"), "hello", "plan");
  EXPECT_EQ(text(at("a")), "hello");
  EXPECT_EQ(num_files(), 1);
}

TEST_F(Files, KeepsTheOldFileUntilTheNewOneIsWhole) {
  write_file(at("a"), "old", "plan");
  {
    NewFile file(at("a"), "plan");
    file.write("half of the new");
    EXPECT_EQ(text(at("a")), "old");
  }
  EXPECT_EQ(text(at("a")), "old");
  EXPECT_EQ(num_files(), 1);
}

TEST_F(Files, FullDiskIsReported) {
  EXPECT_EQ(failure_of([] { write_file("/dev/full", "x", "plan"); }),
            "cannot write plan /dev/full: No space left on device (after 0 bytes)");
}

TEST_F(Files, FileThatMayNotGrowLeavesNothingBehind) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string failure = failure_of([&] { write_file(at("a"), "123456", "plan"); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(failure, str("cannot write plan ", at("a"), ": File too large (after 4 bytes)"));
  EXPECT_EQ(num_files(), 0);
}

TEST_F(Files, SaysWhatIsWrong) {
  EXPECT_EQ(failure_of([&] { read_file(at("none"), "plan"); }),
            str("cannot open plan ", at("none"), ": No such file or directory"));
  EXPECT_EQ(failure_of([&] { read_file(folder_, "plan"); }),
            str("cannot read plan ", folder_.string(), ": it is a folder"));
  EXPECT_EQ(failure_of([&] { write_file(at("none/a"), "x", "plan"); }),
            str("cannot write plan ", at("none/a"), ": No such file or directory"));
  write_file(at("a"), "12345", "input");
  char data[8];
  EXPECT_EQ(failure_of([&] { read_exactly(at("a"), data, 8, "input 'x'"); }),
            str("input 'x': file ", at("a"), " has 5 bytes; 8 are needed"));
}

}  // namespace
}  // namespace kiln::trtexec
