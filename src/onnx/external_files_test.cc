#include "onnx/external_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "onnx/reader.h"
#include "onnx/tensor_data.h"
#include "onnx/test_model.h"

namespace kiln::onnx {
namespace {

namespace fs = std::filesystem;
using test::Proto;

/// ROOT/model/model.onnx beside ROOT/secret, both gone afterwards.
class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kiln_external_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = fs::canonical(pattern);
    folder_ = root_ / "model";
    fs::create_directories(folder_ / "sub");
    write(root_ / "secret", "outside!");
    write(folder_ / "weights", "0123abcdEFGH");
  }
  void TearDown() override { fs::remove_all(root_); }

  static void write(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

  static Proto external(std::string_view name, std::string_view location, std::string_view offset = {},
                        std::string_view length = {}) {
    Proto out = test::tensor(name, 2, {4}).message(field::tensor::kExternalData, test::entry("location", location));
    if (!offset.empty()) out.message(field::tensor::kExternalData, test::entry("offset", offset));
    if (!length.empty()) out.message(field::tensor::kExternalData, test::entry("length", length));
    return out.integer(field::tensor::kDataLocation, 1);
  }

  /// The contents of a tensor of four bytes, or the error, the test's folder shown as ROOT.
  std::string content(const Proto& tensor) {
    write(folder_ / "model.onnx", test::model(test::graph({.initializers = {tensor}})).bytes);
    const auto model = read_model_file((folder_ / "model.onnx").string());
    if (!model) return shorten(model.error().message);
    const auto data = tensor_data(**model, (*model)->graph.initializers.at(0));
    if (!data) return shorten(data.error().message);
    return {reinterpret_cast<const char*>(data->bytes.data()), data->bytes.size()};
  }
  std::string shorten(std::string text) const {
    const std::string root = root_.string();
    for (size_t at; (at = text.find(root)) != std::string::npos;) text.replace(at, root.size(), "ROOT");
    return text;
  }

  fs::path root_, folder_;
};

TEST_F(ExternalData, ReadsAtItsOffset) {
  EXPECT_EQ(content(external("w", "weights")), "0123");
  EXPECT_EQ(content(external("w", "weights", "4")), "abcd");
  EXPECT_EQ(content(external("w", "./sub/../weights", "8", "4")), "EFGH");
}

TEST_F(ExternalData, EachFileIsMappedOnceAndOutlivesTheModel) {
  const Proto graph = test::graph({.initializers = {external("a", "weights"), external("b", "weights", "4")}});
  write(folder_ / "model.onnx", test::model(graph).bytes);
  auto model = *read_model_file((folder_ / "model.onnx").string());
  const auto a = tensor_data(*model, model->graph.initializers.at(0));
  const auto b = tensor_data(*model, model->graph.initializers.at(1));
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->bytes.data() + 4, b->bytes.data());
  EXPECT_EQ(a->owner, b->owner);
  model.reset();
  EXPECT_EQ(b->bytes[0], std::byte{'a'});
}

TEST_F(ExternalData, StaysInTheFolder) {
  EXPECT_EQ(content(external("w", "../secret")),
            "tensor 'w': external data '../secret' leads out of the model's folder 'ROOT/model'; it must lie inside");
  EXPECT_EQ(
      content(external("w", "sub/../../secret")),
      "tensor 'w': external data 'sub/../../secret' leads out of the model's folder 'ROOT/model'; it must lie inside");
  const std::string absolute = content(external("w", (root_ / "secret").string()));
  EXPECT_EQ(absolute,
            "tensor 'w': external data 'ROOT/secret' is an absolute path; a path relative to the model's "
            "folder is needed");
  fs::create_symlink(root_ / "secret", folder_ / "link");
  EXPECT_EQ(content(external("w", "link")),
            "tensor 'w': external data 'link' is a link out of the model's folder 'ROOT/model'; it must lie inside");
  fs::create_directory_symlink(root_, folder_ / "up");
  EXPECT_EQ(
      content(external("w", "up/secret")),
      "tensor 'w': external data 'up/secret' is a link out of the model's folder 'ROOT/model'; it must lie inside");
  // A folder whose name begins like the model's is outside too.
  fs::create_directories(root_ / "model2");
  write(root_ / "model2" / "secret", "outside!");
  fs::create_symlink(root_ / "model2" / "secret", folder_ / "near");
  EXPECT_EQ(content(external("w", "near")),
            "tensor 'w': external data 'near' is a link out of the model's folder 'ROOT/model'; it must lie inside");
  fs::create_symlink(folder_ / "weights", folder_ / "inside");
  EXPECT_EQ(content(external("w", "inside")), "0123");
}

TEST_F(ExternalData, ErrorsNameTensorAndFile) {
  EXPECT_EQ(content(external("w", "gone")),
            "tensor 'w': external data 'gone' in the model's folder 'ROOT/model': No such file or directory");
  EXPECT_EQ(
      content(external("w", "weights", "10")),
      "tensor 'w': external data 'weights': offset 10 + length 4 exceeds the file's 12 bytes; it is truncated, or "
      "belongs to another model");
  EXPECT_EQ(
      content(external("w", "weights", "9223372036854775807")),
      "tensor 'w': external data 'weights': offset 9223372036854775807 + length 4 exceeds the file's 12 bytes; it "
      "is truncated, or belongs to another model");
  EXPECT_EQ(content(external("w", "weights", "0", "8")),
            "tensor 'w': external data 'weights' holds 8 bytes; dims [4] of UINT8 need 4");
  EXPECT_EQ(content(external("w", "")), "tensor 'w': external data has an empty location");
  EXPECT_EQ(content(external("w", "sub")),
            "tensor 'w': external data 'sub': cannot read 'ROOT/model/sub': it is a folder");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(content(external("w", "pipe")),
            "tensor 'w': external data 'pipe': cannot read 'ROOT/model/pipe': it is not a file");
  EXPECT_TRUE(content(external("w", "weights", "-4")).ends_with("offset is '-4'; a number of bytes is needed"));
  EXPECT_TRUE(content(external("w", "weights", "4x")).ends_with("offset is '4x'; a number of bytes is needed"));
}

TEST_F(ExternalData, AModelFromMemoryNeedsItsFolder) {
  const Proto proto = test::model(test::graph({.initializers = {external("w", "weights")}}));
  const auto without = read_model(test::bytes_of(proto));
  ASSERT_TRUE(without);
  EXPECT_EQ(tensor_data(**without, (*without)->graph.initializers.at(0)).error().message,
            "tensor 'w': external data 'weights': the model came from memory, without a folder; give the model's path");
  const auto with = read_model(test::bytes_of(proto), {.folder = folder_.string(), .owner = nullptr});
  EXPECT_TRUE(tensor_data(**with, (*with)->graph.initializers.at(0)));
}

TEST_F(ExternalData, LargerThan4GiB) {
  const fs::path big = folder_ / "big";
  write(big, "");
  fs::resize_file(big, (uint64_t{5} << 30));  // a hole: takes no room
  {
    std::fstream file(big, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((int64_t{5} << 30) - 4);
    file << "last";
  }
  EXPECT_EQ(content(external("w", "big", std::to_string((int64_t{5} << 30) - 4))), "last");
}

TEST(MappedFile, ErrorsNameThePath) {
  EXPECT_EQ(MappedFile::open("/nowhere/model.onnx").error().message,
            "cannot open '/nowhere/model.onnx': No such file or directory");
  EXPECT_EQ(read_model_file("/").error().message, "cannot read '/': it is a folder");
  EXPECT_EQ(folder_of("m.onnx"), ".");
  EXPECT_EQ(folder_of("/m.onnx"), "/");
  EXPECT_EQ(folder_of("a/b/m.onnx"), "a/b");
}

}  // namespace
}  // namespace kiln::onnx
