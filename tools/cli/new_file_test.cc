#include "new_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <optional>

#include "expect_failure.h"
#include "temporary_folder.h"

namespace kiln::cli {
namespace {

using NewFiles = TemporaryFolder;

TEST_F(NewFiles, KeepsTheOldFileUntilTheNewOneIsWhole) {
  write_file(at("a"), "old", "plan");
  {
    NewFile file(at("a"), "plan");
    file.write("half of the new");
    EXPECT_EQ(text(at("a")), "old");
  }
  EXPECT_EQ(text(at("a")), "old");
  EXPECT_EQ(num_files(), 1);
}

TEST_F(NewFiles, FileThatMayNotGrowLeavesNothingBehind) {
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

TEST_F(NewFiles, FollowsLinksAndKeepsTheMode) {
  write_file(at("a"), "old", "plan");
  ASSERT_EQ(::chmod(at("a").c_str(), 0600), 0);
  std::filesystem::create_symlink("a", at("link"));
  write_file(at("link"), "new", "plan");
  EXPECT_TRUE(std::filesystem::is_symlink(at("link")));
  EXPECT_EQ(text(at("a")), "new");
  EXPECT_EQ(std::filesystem::status(at("a")).permissions(), std::filesystem::perms{0600});
}

TEST_F(NewFiles, WritesWhereALinkLeadsThoughNothingIsThere) {
  std::filesystem::create_directory(at("folder"));
  std::filesystem::create_symlink("second", at("first"));
  std::filesystem::create_symlink("folder/a", at("second"));
  write_file(at("first"), "new", "plan");
  EXPECT_TRUE(std::filesystem::is_symlink(at("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(at("second")));
  EXPECT_FALSE(std::filesystem::is_symlink(at("folder/a")));
  EXPECT_EQ(text(at("folder/a")), "new");
  EXPECT_EQ(num_files(), 3);
}

TEST_F(NewFiles, LinksInACircleStay) {
  std::filesystem::create_symlink("b", at("a"));
  std::filesystem::create_symlink("a", at("b"));
  EXPECT_EQ(failure_of([&] { write_file(at("a"), "new", "plan"); }),
            str("cannot write plan ", at("a"), ": Too many levels of symbolic links"));
  EXPECT_TRUE(std::filesystem::is_symlink(at("a")));
  EXPECT_EQ(num_files(), 2);
}

TEST_F(NewFiles, KilledSaveIsClearedByTheNext) {
  const pid_t child = ::fork();
  if (child == 0) {
    NewFile file(at("a"), "plan");
    file.write("half");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(num_files(), 1) << "the killed process left nothing to clear";
  write_file(at("other"), "x", "plan");
  EXPECT_EQ(num_files(), 2) << "the save of another file is none of its business";
  write_file(at("a"), "whole", "plan");
  EXPECT_EQ(text(at("a")), "whole");
  EXPECT_EQ(num_files(), 2);
}

TEST_F(NewFiles, PipeWithoutAReaderIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(failure_of([&] { write_file(at("pipe"), "x", "times"); }),
            str("cannot write times ", at("pipe"), ": No such device or address"));
  const int reader = ::open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  write_file(at("pipe"), "hello", "times");
  char read[8] = {};
  EXPECT_EQ(::read(reader, read, sizeof read), 5);
  EXPECT_STREQ(read, "hello");
  ::close(reader);
}

// As a shell's `| cat` and `>(...)` have it: a link whose text is no path.
TEST_F(NewFiles, WhatIsOpenIsWrittenThroughItsName) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  write_file(str("/dev/fd/", ends[1]), "hello", "times");
  char read[8] = {};
  EXPECT_EQ(::read(ends[0], read, sizeof read), 5);
  EXPECT_STREQ(read, "hello");
  ::close(ends[0]);
  ::close(ends[1]);
  const int file = ::open(at("log").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::write(file, "before ", 7), 7);
  write_file(str("/dev/fd/", file), "after", "times");
  ::close(file);
  EXPECT_EQ(text(at("log")), "before after");
  EXPECT_EQ(num_files(), 1);
}

TEST_F(NewFiles, UnfinishedFilesOfTheLivingStay) {
  std::optional<NewFile> first(std::in_place, at("a"), "plan");
  first->write("first");
  write_file(at("a"), "second", "plan");
  EXPECT_EQ(num_files(), 2);
  first->commit();
  first.reset();
  EXPECT_EQ(text(at("a")), "first");
  EXPECT_EQ(num_files(), 1);
}

TEST_F(NewFiles, FilesThatOnlyLookAlikeStay) {
  for (const char* name : {"a.tmp", "a.notes.tmp", "a..tmp", "a.-1.tmp", "b.12.tmp", "a.12.tmp.x", "a.12"})
    std::ofstream(at(name)) << "mine";
  std::ofstream(at("a.12.tmp")) << "as older versions called them";
  write_file(at("a"), "new", "plan");
  EXPECT_EQ(num_files(), 8);
  EXPECT_FALSE(file_exists(at("a.12.tmp")));
}

}  // namespace
}  // namespace kiln::cli
