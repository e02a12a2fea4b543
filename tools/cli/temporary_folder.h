/// For tests: a folder that is gone afterwards.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "files.h"
#include "text.h"

namespace kiln::cli {

class TemporaryFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / str("kiln_trtexec_files_", ::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string at(const char* name) const { return folder_ / name; }
  int64_t num_files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }
  static std::string text(const std::string& path) {
    const auto content = read_file(path, "file");
    return {content.begin(), content.end()};
  }

  std::filesystem::path folder_;
};

}  // namespace kiln::cli
