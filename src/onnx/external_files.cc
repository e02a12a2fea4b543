#include "onnx/external_files.h"

#include <filesystem>
#include <system_error>

namespace kiln::onnx {
namespace {

namespace fs = std::filesystem;

/// Whether `path` is `folder` or lies below it; both without "." and "..".
bool lies_within(const fs::path& path, const fs::path& folder) {
  auto part = path.begin();
  for (const fs::path& step : folder) {
    if (step.empty()) continue;  // what a trailing slash leaves
    if (part == path.end() || *part != step) return false;
    ++part;
  }
  return true;
}

std::unexpected<Error> outside(std::string_view location, const std::string& folder, std::string_view how) {
  return error(Code::kInvalidArgument, "external data '", location, "' ", how, " the model's folder '", folder,
               "'; it must lie inside");
}

Result<std::shared_ptr<const MappedFile>> open_within(const std::string& folder, std::string_view location) {
  if (folder.empty())
    return error(Code::kInvalidArgument, "external data '", location,
                 "': the model came from memory, without a folder; give the model's path");
  if (location.empty()) return error(Code::kCorrupt, "external data has an empty location");
  if (location.find('\0') != std::string_view::npos)
    return error(Code::kCorrupt, "external data has a location with a zero byte");
  const fs::path relative(location);
  if (relative.is_absolute())
    return error(Code::kInvalidArgument, "external data '", location,
                 "' is an absolute path; a path relative to the model's folder is needed");
  if (const fs::path plain = relative.lexically_normal(); !plain.empty() && *plain.begin() == "..")
    return outside(location, folder, "leads out of");

  // Links are followed before the check, and the file that was checked is the one that is opened.
  std::error_code reason;
  const fs::path root = fs::canonical(folder, reason);
  if (reason) return error(Code::kNotFound, "the model's folder '", folder, "': ", reason.message());
  const fs::path target = fs::canonical(root / relative, reason);
  if (reason) {
    const bool missing = reason == std::errc::no_such_file_or_directory || reason == std::errc::not_a_directory;
    return error(missing ? Code::kNotFound : Code::kIo, "external data '", location, "' in the model's folder '",
                 folder, "': ", reason.message());
  }
  if (!lies_within(target, root)) return outside(location, folder, "is a link out of");
  return in_context(MappedFile::open(target.string()), [&] { return str("external data '", location, "'"); });
}

}  // namespace

void ExternalFiles::open(std::string_view location) {
  if (files_.find(location) != files_.end()) return;
  files_.emplace(std::string(location), open_within(folder_, location));
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::file(std::string_view location) const {
  const auto found = files_.find(location);
  if (found == files_.end()) return error(Code::kInternal, "external data '", location, "' was never opened");
  return found->second;
}

}  // namespace kiln::onnx
