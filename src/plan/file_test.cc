#include "plan/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "plan/reader.h"
#include "plan/source.h"
#include "plan/testing/sample_plan.h"

namespace kiln::plan {
namespace {

namespace fs = std::filesystem;

class PlanFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kiln_plan_XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(pattern.data()));
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(std::string_view name) const { return folder_ / name; }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
  size_t num_files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(PlanFile, RoundTripThroughAFile) {
  const Plan plan = sample_plan();
  const Status written = write_plan_file(plan, path("a.plan"));
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(num_files(), 1u);
  std::shared_ptr<const Plan> read;
  {
    const auto source = open_file(path("a.plan"));
    ASSERT_TRUE(source) << source.error().message;
    read = *read_plan(**source);
  }
  fs::remove(path("a.plan"));  // the mapping holds its pages
  EXPECT_TRUE(same(plan, *read));
}

TEST_F(PlanFile, ReplacesWholeAndKeepsTheMode) {
  ASSERT_TRUE(write_file_atomically(path("f"), bytes("old and longer")));
  ASSERT_EQ(::chmod(path("f").c_str(), 0640), 0);
  fs::create_symlink("f", path("link"));
  ASSERT_TRUE(write_file_atomically(path("link"), bytes("new")));
  EXPECT_EQ(content(path("f")), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(fs::status(path("f")).permissions(), fs::perms(0640));
  EXPECT_EQ(num_files(), 2u);
}

TEST_F(PlanFile, WithoutCommitNothingChanges) {
  ASSERT_TRUE(write_file_atomically(path("f"), bytes("old")));
  {
    const auto sink = FileSink::create(path("f"));
    ASSERT_TRUE((*sink)->write(bytes("half of the n")));
    EXPECT_EQ(num_files(), 2u);
  }
  EXPECT_EQ(content(path("f")), "old");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(PlanFile, AFullDiskIsReported) {
  const Status status = write_file_atomically("/dev/full", bytes("text"));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kIo);
  EXPECT_EQ(status.error().message, "cannot write '/dev/full': No space left on device");
  EXPECT_TRUE(write_file_atomically("/dev/null", bytes("text")));
}

TEST_F(PlanFile, AWriteThatFailsHalfwayLeavesTheOldFile) {
  ASSERT_TRUE(write_file_atomically(path("f"), bytes("old")));
  // A limit on file sizes stands in for a full disk: the first bytes can be written, the rest cannot.
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Status status = write_file_atomically(path("f"), std::vector<std::byte>(10'000));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, str("cannot write '", path("f"), "': File too large"));
  EXPECT_EQ(content(path("f")), "old");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(PlanFile, ErrorsNameThePath) {
  EXPECT_EQ(write_file_atomically(path("no/f"), {}).error().message,
            str("cannot create '", path("no/f"), "': No such file or directory"));
  EXPECT_EQ(write_file_atomically(folder_.string(), {}).error().message,
            str("cannot write '", folder_.string(), "': Is a directory"));
  EXPECT_FALSE(write_file_atomically("", {}));
  EXPECT_EQ(open_file(path("none")).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace kiln::plan
