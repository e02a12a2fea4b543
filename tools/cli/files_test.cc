#include "files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "expect_failure.h"
#include "temporary_folder.h"

namespace kiln::cli {
namespace {

using Files = TemporaryFolder;

TEST_F(Files, ReadsWhatWasWritten) {
  write_file(at("a"), "hello", "plan");
  EXPECT_EQ(text(at("a")), "hello");
  EXPECT_EQ(num_files(), 1);
}

TEST_F(Files, FullDiskIsReported) {
  EXPECT_EQ(failure_of([] { write_file("/dev/full", "x", "plan"); }),
            "cannot write plan /dev/full: No space left on device (after 0 bytes)");
}

TEST_F(Files, AFullStandardOutputIsReported) {
  const int kept = ::dup(STDOUT_FILENO), full = ::open("/dev/full", O_WRONLY);
  std::fflush(stdout);
  ::dup2(full, STDOUT_FILENO);
  const std::string failure = failure_of([] { write_stdout("x", "report"); });
  std::clearerr(stdout);
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept), ::close(full);
  EXPECT_EQ(failure, "cannot write the report to the standard output: No space left on device");
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

TEST_F(Files, PipesAreNotWaitedFor) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(is_pipe(at("pipe")));
  EXPECT_FALSE(is_pipe(at("none")));
  const std::string refused = str(" ", at("pipe"), ": it is a pipe, whose size is not known");
  EXPECT_EQ(failure_of([&] { read_file(at("pipe"), "plan"); }), "cannot read plan" + refused);
  char data[8];
  EXPECT_EQ(failure_of([&] { read_exactly(at("pipe"), data, 8, "input 'x'"); }), "cannot read input 'x'" + refused);
}

TEST_F(Files, OnlyItsOwnKindIsReplaced) {
  const auto check = [&](const char* name) {
    require_replaceable(at(name), "{\"Layers\":[", "\"LayerType\"", "--exportLayerInfo");
  };
  check("new");
  write_file(at("own"), "{\n  \"Layers\": [{\"LayerType\": 1}]}", "layers");
  check("own");
  write_file(at("empty"), "", "layers");
  check("empty");
  require_replaceable("/dev/null", "x", "", "--exportLayerInfo");
  write_file(at("notes"), "{\"Layers\": [\"mine\"]}", "layers");
  EXPECT_EQ(failure_of([&] { check("notes"); }),
            str("--exportLayerInfo: ", at("notes"),
                " exists and is not a file of this kind; it was left as it is. Name another file, or remove that one"));
}

}  // namespace
}  // namespace kiln::cli
