/// The files beside a model that hold its tensors' bytes: each is mapped once, and none outside the model's folder.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/mapped_file.h"

namespace kiln::onnx {

class ExternalFiles {
 public:
  /// `folder`: what locations are relative to. Empty: the model has no folder, so that every location is an error.
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}

  /// Maps the file at `location`, unless that was tried before. A failure is kept: whoever needs the file gets it.
  void open(std::string_view location);

  /// The file of an opened location. The error names the file and says why it cannot be used.
  Result<std::shared_ptr<const MappedFile>> file(std::string_view location) const;

 private:
  std::string folder_;
  std::map<std::string, Result<std::shared_ptr<const MappedFile>>, std::less<>> files_;
};

}  // namespace kiln::onnx
