#include "backend/cuda/compile/compiler.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <thread>

#include "backend/cuda/compile/embedded.h"
#include "backend/cuda/compile/nvrtc.h"

namespace kiln::cuda {
namespace {

using namespace std::string_view_literals;

#define SKIP_WITHOUT_NVRTC() \
  if (const auto found = Nvrtc::instance(); !found) GTEST_SKIP() << found.error().message

/// Multiplies by `factor`.
KernelSource twice(int factor = 2) {
  return {.entry = "twice",
          .choices = Record().set("factor", factor),
          .end = "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= kiln::kTile.factor; }"};
}

/// A folder that goes with the test.
struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "kiln-compiler-XXXXXX").string();
  Folder() { EXPECT_NE(mkdtemp(path.data()), nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.path().extension() == ".cubin") result.push_back(entry.path());
    return result;
  }
};

struct Lines final : Log {
  std::vector<std::string> lines;
  void write(Severity, std::string_view message) override { lines.emplace_back(message); }
};

class EachArch : public ::testing::TestWithParam<const char*> {};

TEST_P(EachArch, MakesACubinWithTheKernel) {
  SKIP_WITHOUT_NVRTC();
  Compiler compiler(GetParam(), "");
  const auto cubin = compiler.compile(twice());
  ASSERT_TRUE(cubin) << cubin.error().message;
  const std::string_view bytes(reinterpret_cast<const char*>((*cubin)->data()), (*cubin)->size());
  EXPECT_TRUE(
      bytes.starts_with("\x7f"
                        "ELF"));
  EXPECT_NE(bytes.find(".text.twice"), bytes.npos);
  EXPECT_EQ(*compiler.compile(twice()), *cubin);  // from memory
  EXPECT_EQ(compiler.num_compiled(), 1);
}
INSTANTIATE_TEST_SUITE_P(Compiler, EachArch, ::testing::Values("sm_80", "sm_90a", "sm_100a"));

TEST(Compiler, SaysWhereAKernelIsWrong) {
  SKIP_WITHOUT_NVRTC();
  Compiler compiler("sm_80", "");
  KernelSource wrong = twice();
  wrong.choices = {};
  const auto failed = compiler.compile(wrong);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("kernel twice of 'twice.cu'"), std::string::npos) << failed.error().message;
  EXPECT_NE(failed.error().message.find("twice.cu(1): error:"), std::string::npos) << failed.error().message;
  EXPECT_FALSE(compiler.compile(wrong));  // again, not a wait for what never comes
  EXPECT_FALSE(Compiler("sm_12", "").compile(twice()));
}

TEST(Compiler, KeyHasAllThatDecidesTheCode) {
  const Compiler compiler("sm_80", "");
  const auto key = *compiler.key_of(twice());
  EXPECT_EQ(*compiler.key_of(twice()), key);
  EXPECT_NE(*Compiler("sm_90a", "").key_of(twice()), key);
  KernelSource other = twice(3);
  EXPECT_NE(*compiler.key_of(other), key);
  other = twice();
  other.prelude += "\n";
  EXPECT_NE(*compiler.key_of(other), key);
}

TEST(Compiler, KeepsCubinsOnDisk) {
  SKIP_WITHOUT_NVRTC();
  const Folder folder;
  Bytes first;
  {
    Compiler compiler("sm_80", folder.path + "/new/below");
    first = **compiler.compile(twice());
    EXPECT_EQ(compiler.num_compiled(), 1);
  }
  ASSERT_EQ(folder.files().size(), 1u);
  Compiler again("sm_80", folder.path + "/new/below");
  EXPECT_EQ(**again.compile(twice()), first);
  EXPECT_EQ(again.num_compiled(), 0);
  EXPECT_EQ(again.num_from_disk(), 1);
  // A damaged file is as if it were not there, and is replaced.
  std::filesystem::resize_file(folder.files()[0], first.size() / 2);
  Compiler third("sm_80", folder.path + "/new/below");
  EXPECT_EQ(**third.compile(twice()), first);
  EXPECT_EQ(third.num_compiled(), 1);
  std::fstream(folder.files()[0], std::ios::in | std::ios::out).seekp(200).put('x').put('y').put('z');
  EXPECT_EQ(**Compiler("sm_80", folder.path + "/new/below").compile(twice()), first);
}

/// Loads no NVRTC, asks for two kernels, and prints what comes.
[[noreturn]] void compile_without_nvrtc(const std::string& folder) {
  setenv("KILN_NVRTC", "/no/such/libnvrtc.so", 1);
  Compiler compiler("sm_80", folder);
  const auto known = compiler.compile(twice());
  const auto unknown = compiler.compile(twice(6));
  std::cerr << (known ? "found" : known.error().message) << "; " << (unknown ? "found" : unknown.error().message);
  std::_Exit(0);
}

TEST(Compiler, NeedsNoNvrtcForWhatTheDiskHas) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");       // in processes of their own, which look for NVRTC anew
  const char* given = std::getenv("KILN_TEST_FOLDER");  // of such a process
  std::optional<Folder> folder;
  if (!given) {
    SKIP_WITHOUT_NVRTC();
    folder.emplace();
    ASSERT_TRUE(Compiler("sm_80", folder->path).compile(twice()));
    setenv("KILN_TEST_FOLDER", folder->path.c_str(), 1);
    given = std::getenv("KILN_TEST_FOLDER");
  }
  EXPECT_EXIT(compile_without_nvrtc(given), ::testing::ExitedWithCode(0),
              "found; kernel .*: NVRTC, which compiles kernels, was not found \\(/no/such/libnvrtc.so.*install CUDA's "
              "run-time compiler");
  EXPECT_EXIT(compile_without_nvrtc(""), ::testing::ExitedWithCode(0), "NVRTC, which .*; kernel .*: NVRTC, which ");
  unsetenv("KILN_TEST_FOLDER");
}

TEST(Compiler, WorksWithoutADisk) {
  SKIP_WITHOUT_NVRTC();
  const Folder folder;
  std::ofstream(folder.path + "/file") << "no folder";
  Compiler compiler("sm_80", folder.path + "/file/below");
  EXPECT_TRUE(compiler.compile(twice()));
  EXPECT_TRUE(compiler.compile(twice(5)));
  Lines log;
  compiler.notices().say(log);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_NE(log.lines[0].find("compiled kernels are not kept for later builds: cannot make folder"), std::string::npos);
  compiler.notices().say(log);
  EXPECT_EQ(log.lines.size(), 1u);
}

TEST(Compiler, WorksWithoutAPlaceForKernels) {
  SKIP_WITHOUT_NVRTC();
  Compiler compiler("sm_80", "");
  EXPECT_TRUE(compiler.compile(twice()));
  Lines log;
  compiler.notices().say(log);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_NE(log.lines[0].find("are not kept for later builds: there is neither KILN_CACHE_DIR nor HOME"),
            std::string::npos);
}

TEST(Compiler, WorksWithAFullDisk) {
  SKIP_WITHOUT_NVRTC();
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  // A kernel folder in which files can be made but not written cannot be had without privileges; a link in the place of
  // the folder to a device that is always full is refused in the same way, by one warning.
  const Folder folder;
  std::filesystem::create_symlink("/dev/full", folder.path + "/kernels");
  Compiler compiler("sm_80", folder.path);
  EXPECT_TRUE(compiler.compile(twice()));
  Lines log;
  compiler.notices().say(log);
  EXPECT_EQ(log.lines.size(), 1u);
}

TEST(Compiler, CompilesAKernelOnceForSeveralThreads) {
  SKIP_WITHOUT_NVRTC();
  Compiler compiler("sm_90a", "");
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const Bytes>> cubins(6);
  for (size_t i = 0; i < cubins.size(); ++i)
    threads.emplace_back([&, i] { cubins[i] = *compiler.compile(twice(10 + static_cast<int>(i % 2))); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiler.num_compiled(), 2);
  for (size_t i = 2; i < cubins.size(); ++i) EXPECT_EQ(cubins[i], cubins[i % 2]);
  EXPECT_NE(cubins[0], cubins[1]);
}

TEST(Compiler, CompilesAheadWhatWasAskedFor) {
  SKIP_WITHOUT_NVRTC();
  Compiler compiler("sm_90a", "");
  KernelSource broken = twice();
  broken.prelude = "not C++";
  compiler.compile_ahead([&] {
    EXPECT_FALSE(compiler.compile(twice()));
    EXPECT_FALSE(compiler.compile(broken));
  });
  EXPECT_EQ(compiler.num_compiled(), 1);
  EXPECT_TRUE(compiler.compile(twice()));
  EXPECT_EQ(compiler.num_compiled(), 1);
  const auto why = compiler.compile(broken);
  ASSERT_FALSE(why);
  EXPECT_NE(why.error().message.find("kernel twice"), std::string::npos) << why.error().message;
}

TEST(Compiler, CompilesEmbeddedHeaders) {
  SKIP_WITHOUT_NVRTC();
  Compiler compiler("sm_90a", "");
  const auto cubin =
      compiler.compile({.prelude = "#include \"vocabulary.cuh\"\nextern \"C\" __global__ void k() {}\n", .entry = "k"});
  EXPECT_TRUE(cubin) << cubin.error().message;
}

TEST(KernelSource, FindsEmbeddedFiles) {
  EXPECT_NE(embedded_source("ops/scalar.h").find("enum class ScalarFn"), std::string_view::npos);
  EXPECT_NE(embedded_source("ops/unary-inl.h").find("HWY_NAMESPACE"), std::string_view::npos);
  EXPECT_TRUE(embedded_source("no/such.cu").empty());
  EXPECT_EQ(text_of({.file = "no/such.cu"}).error().message, "there is no kernel file 'no/such.cu'");
  EXPECT_EQ(text_of({.prelude = "  #  include <vector>\n"}).error().message,
            "kernel file 'prelude' includes 'vector', which is not embedded in Kiln");
}

TEST(KernelSource, InstructionsStandInOneFolder) {
  for (const EmbeddedFile& file : embedded_files())
    if (!file.name.starts_with("ptx/")) {
      EXPECT_EQ(file.text.find("asm"), std::string_view::npos) << file.name;
    }
}

/// What a kernel is compiled for are constants and template arguments; the preprocessor knows the architecture alone.
TEST(KernelSource, ValuesAreNoMacros) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name.starts_with("include/") || file.name.starts_with("ops/")) continue;
    std::istringstream lines{std::string(file.text)};
    for (std::string line; std::getline(lines, line);) {
      const bool is_free = !line.starts_with("#define") && !line.starts_with("#if");
      EXPECT_TRUE(is_free || line.find("__CUDA") != line.npos) << file.name << ": " << line;
    }
  }
}
TEST(KernelSource, ChoicesAreTypesAndAConstant) {
  KernelSource source{.file = "gemm/stage.cuh", .prelude = "int a;\n", .end = "int b;\n"};
  const Record tile = Record().set("bm", 64).set("name", "small");
  source.choices.set("Element", "f16");
  add_choices(source, Record().set("tile", tile).set("causal", true).set("splits", 3), std::array{"splits"sv});
  EXPECT_EQ(text_of(source)->main, str(R"(int a;
#include "ptx/floats.cuh"
namespace kiln {
using Element = f16;
constexpr struct {
  int bm = 64;
  bool causal = true;
} kTile;
}  // namespace kiln

#line 1 "gemm/stage.cuh"
)",
                                       embedded_source("gemm/stage.cuh"), "int b;\n"));
}

TEST(KernelSource, FollowsIncludes) {
  const auto text = text_of({.prelude = "#include \"device.cuh\"\n#include \"device.cuh\"\nint a;\n"});
  ASSERT_TRUE(text) << text.error().message;
  ASSERT_EQ(text->headers.size(), 5u);  // and what it includes: our stand-in for the host's header, instructions
  EXPECT_EQ(text->headers[0].first, "device.cuh");
  EXPECT_EQ(text->headers[1].first, "cstdint");
  EXPECT_EQ(text->headers[1].second, embedded_source("include/cstdint"));
  EXPECT_EQ(text->headers[0].second, embedded_source("device.cuh"));
}

}  // namespace
}  // namespace kiln::cuda
