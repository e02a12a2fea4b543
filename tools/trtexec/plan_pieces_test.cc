#include "plan_pieces.h"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include <csignal>
#include <filesystem>
#include <vector>

#include "cli/temporary_folder.h"

namespace kiln::cli::trtexec {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

std::string numbers(int64_t size_bytes) {
  std::string text(static_cast<size_t>(size_bytes), '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7919 >> 3);
  return text;
}

/// What `pieces` gives, taken out in pieces of an odd size.
std::string taken_out(PlanPieces& pieces) {
  std::string text;
  std::vector<char> piece(777'777);
  while (const int64_t count = pieces.read(piece.data(), static_cast<int64_t>(piece.size())))
    text.append(piece.data(), static_cast<size_t>(count));
  return text;
}

bool write_in_parts(PlanPieces& pieces, const std::string& text) {
  for (size_t at = 0; at < text.size(); at += 300'001)
    if (!pieces.write(text.data() + at, static_cast<int64_t>(std::min<size_t>(300'001, text.size() - at))))
      return false;
  return true;
}

/// Tests that need a folder on a disk.
class PlanPiecesTest : public TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    std::string why;
    const auto file = ScratchFile::make({folder_, "/var/tmp", std::filesystem::current_path()}, why);
    if (!file) GTEST_SKIP() << why;
    disk_ = file->folder();
  }

  std::string disk_;
};

TEST(PlanPieces, SmallOnesStayInMemory) {
  PlanPieces pieces({"/tmp", "/var/tmp", std::filesystem::current_path()}, 2 * kMiB);
  const std::string text = numbers(2 * kMiB);
  ASSERT_TRUE(write_in_parts(pieces, text));
  EXPECT_EQ(pieces.path(), nullptr);
  EXPECT_EQ(pieces.place(), "");
  EXPECT_EQ(pieces.size_bytes(), 2 * kMiB);
  EXPECT_EQ(taken_out(pieces), text);
}

TEST_F(PlanPiecesTest, LargeOnesAreAFile) {
  PlanPieces pieces({"/nowhere", "/proc", "/dev/shm", disk_}, 2 * kMiB);
  const std::string bytes = numbers(5 * kMiB + 5);
  ASSERT_TRUE(write_in_parts(pieces, bytes));
  ASSERT_NE(pieces.path(), nullptr);
  EXPECT_EQ(pieces.place(), "a temporary file in " + disk_);
  EXPECT_EQ(text(pieces.path()), bytes);
  EXPECT_EQ(num_files(), 0) << "it has no name";
  EXPECT_EQ(taken_out(pieces), bytes);
}

TEST(PlanPieces, StayInMemoryWhereNoDiskTakesThem) {
  const std::pair<std::deque<std::string>, std::string> kCases[] = {
      {{}, ""},
      {{"/nowhere"}, "memory, since no folder takes it (/nowhere: No such file or directory)"},
      {{"/nowhere", "/dev/null"},
       "memory, since no folder takes it (/nowhere: No such file or directory, /dev/null: Not a directory)"}};
  for (const auto& [folders, place] : kCases) {
    PlanPieces pieces(folders, kMiB);
    const std::string text = numbers(3 * kMiB);
    ASSERT_TRUE(write_in_parts(pieces, text));
    EXPECT_EQ(pieces.path(), nullptr);
    EXPECT_EQ(pieces.place(), place);
    EXPECT_EQ(taken_out(pieces), text);
  }
}

TEST(PlanPieces, AFolderInMemoryIsNone) {
  struct statfs facts {};
  if (::statfs("/dev/shm", &facts) != 0 || facts.f_type != TMPFS_MAGIC) GTEST_SKIP() << "/dev/shm is not in memory";
  PlanPieces pieces({"/dev/shm"}, kMiB);
  ASSERT_TRUE(write_in_parts(pieces, numbers(3 * kMiB)));
  EXPECT_EQ(pieces.place(), "memory, since no folder takes it (/dev/shm: it is in memory)");
}

/// A limit of files' sizes stands for a full disk.
TEST_F(PlanPiecesTest, ReturnToMemoryFromAFullDisk) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  for (const int64_t room : {kMiB / 2, 3 * kMiB + 100}) {  // less than was in memory, and more
    const rlimit tight{static_cast<rlim_t>(room), before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
    PlanPieces pieces({disk_}, 2 * kMiB);
    const std::string bytes = numbers(6 * kMiB);
    EXPECT_TRUE(write_in_parts(pieces, bytes)) << room;
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(pieces.path(), nullptr) << room;
    EXPECT_EQ(pieces.place(), "memory, since no folder takes it (" + disk_ + ": File too large)");
    EXPECT_EQ(pieces.size_bytes(), 6 * kMiB) << room;
    EXPECT_TRUE(taken_out(pieces) == bytes) << room;
  }
}

TEST(ScratchFolders, AreWhereTheUserWantsThem) {
  RuntimeOptions options;
  EXPECT_FALSE(scratch_folders(options).empty());
  options.temporary_directory = "/elsewhere";
  EXPECT_EQ(scratch_folders(options), std::deque<std::string>{"/elsewhere"});
  options.by_stream = true;
  EXPECT_TRUE(scratch_folders(options).empty()) << "the plan is to be read in pieces";
  options.by_stream = false;
  options.temporary_files = RuntimeOptions::kAllOfThem & ~(1U << 1);
  EXPECT_TRUE(scratch_folders(options).empty()) << "no temporary files";
}

}  // namespace
}  // namespace kiln::cli::trtexec
