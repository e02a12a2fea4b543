#include "output_files.h"

#include "cli/expect_failure.h"
#include "cli/temporary_folder.h"
#include "report.h"

namespace kiln::cli::trtexec {
namespace {

class OutputFiles : public TemporaryFolder {
 protected:
  std::string failure(std::vector<std::string> words) {
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    return failure_of([&] { check_output_files(parse_options(pointers)); });
  }
};

TEST_F(OutputFiles, NewOnesAndDevicesPass) {
  EXPECT_EQ(failure({"--onnx=m", "--exportTimes=" + at("t"), "--exportOutput=/dev/null", "--exportProfile=/dev/null"}),
            "it did not fail");
}

TEST_F(OutputFiles, NoTwoFlagsNameTheSameFile) {
  EXPECT_EQ(failure({"--onnx=" + at("m"), "--saveEngine=" + at("./m")}),
            str("--saveEngine and --onnx name the same file, ", at("./m")));
  EXPECT_EQ(failure({"--onnx=m", "--timingCacheFile=" + at("c"), "--exportTimes=" + at("c")}),
            str("--exportTimes and --timingCacheFile name the same file, ", at("c")));
  write_file(at("x"), "data", "input");
  std::filesystem::create_symlink("x", at("link"));
  EXPECT_EQ(failure({"--onnx=m", "--loadInputs=x:" + at("x"), "--exportOutput=" + at("link")}),
            str("--exportOutput and --loadInputs name the same file, ", at("link")));
}

/// A link counts as what it leads to, which need not be there yet.
TEST_F(OutputFiles, LinksToNothingYetAreTheirTargets) {
  std::filesystem::create_symlink("later", at("link"));
  EXPECT_EQ(failure({"--onnx=m", "--exportTimes=" + at("later"), "--exportOutput=" + at("link")}),
            str("--exportOutput and --exportTimes name the same file, ", at("link")));
  std::filesystem::create_symlink("no/t", at("far"));
  EXPECT_EQ(failure({"--onnx=m", "--exportTimes=" + at("far")}),
            str("--exportTimes: cannot write ", at("far"), ": No such file or directory"));
}

TEST_F(OutputFiles, FolderHasToBeThere) {
  EXPECT_EQ(failure({"--onnx=m", "--exportTimes=" + at("no/t")}),
            str("--exportTimes: cannot write ", at("no/t"), ": No such file or directory"));
}

TEST_F(OutputFiles, ExportsReplaceEarlierExportsAlone) {
  write_file(at("t"), times_json({{Trace{}}}), "times");
  EXPECT_EQ(failure({"--onnx=m", "--exportTimes=" + at("t")}), "it did not fail");
  const std::string refused = str(at("t"),
                                  " exists and is not a file of this kind; it was left as it is. Name another file, or "
                                  "remove that one");
  for (const char* flag : {"--exportOutput", "--exportProfile", "--exportLayerInfo"})
    EXPECT_EQ(failure({"--onnx=m", str(flag, "=", at("t"))}), str(flag, ": ", refused));
  // No export is a list of nothing, and none lacks these keys.
  for (const char* other : {"[]", "[{\"name\": \"alice\"}]", "{\"Layers\": [\"mine\"]}"}) {
    write_file(at("t"), other, "notes");
    for (const char* flag : {"--exportTimes", "--exportOutput", "--exportProfile", "--exportLayerInfo"})
      EXPECT_EQ(failure({"--onnx=m", str(flag, "=", at("t"))}), str(flag, ": ", refused)) << other;
    EXPECT_EQ(text(at("t")), other);
  }
}

TEST_F(OutputFiles, KeyOfALongExportMayStandFarFromItsBeginning) {
  write_file(at("t"), str("{\"Layers\": [\"", std::string(9000, 'l'), "\"],\n\"Bindings\": [\"x\"]\n}\n"), "layers");
  EXPECT_EQ(failure({"--onnx=m", "--exportLayerInfo=" + at("t")}), "it did not fail");
}

}  // namespace
}  // namespace kiln::cli::trtexec
