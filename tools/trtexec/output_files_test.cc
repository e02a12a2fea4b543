#include "output_files.h"

#include "expect_failure.h"
#include "report.h"
#include "temporary_folder.h"

namespace kiln::trtexec {
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
  write_file(at("t"), times_json({}), "times");
  EXPECT_EQ(failure({"--onnx=m", "--exportProfile=" + at("t")}), "it did not fail") << "a list of nothing is anybody's";
}

}  // namespace
}  // namespace kiln::trtexec
