#include "output_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/files.h"
#include "cli/layer_profile.h"
#include "cli/new_file.h"
#include "cli/text.h"

namespace kiln::cli::trtexec {
namespace {

namespace fs = std::filesystem;

/// The beginning of each kind of export, and a key of its own, without spaces.
struct Export {
  std::string_view flag;
  std::string ReportOptions::*path;
  std::string_view beginning, key;
};
constexpr Export kExports[] = {
    {"--exportTimes", &ReportOptions::export_times, "[{\"startEnqMs\":", "\"endEnqMs\":"},
    {"--exportOutput", &ReportOptions::export_output, "[{\"name\":", "\"dimensions\":"},
    {"--exportProfile", &ReportOptions::export_profile, LayerProfile::kJsonBegins, LayerProfile::kJsonHas},
    {"--exportLayerInfo", &ReportOptions::export_layers, "{\"Layers\":[", "\"Bindings\":["},
};

struct NamedFile {
  std::string flag, path;
};

bool are_same(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (!is_regular_or_new(a)) return false;  // any number of flags may write to /dev/stdout
  const auto place = [&](const std::string& path) { return fs::weakly_canonical(followed(path), ignored); };
  return fs::equivalent(a, b, ignored) || place(a) == place(b);
}

std::vector<NamedFile> files_read(const Options& options) {
  std::vector<NamedFile> files{{"--onnx", options.build.onnx},
                               {"--loadEngine", options.build.load},
                               {"--calib", options.build.precision.calibration_cache}};
  for (const auto& [name, path] : options.inference.inputs) files.push_back({"--loadInputs", path});
  std::erase_if(files, [](const NamedFile& file) { return file.path.empty(); });
  return files;
}

std::vector<NamedFile> files_written(const Options& options) {
  std::vector<NamedFile> files{{"--saveEngine", options.build.save}, {"--timingCacheFile", options.build.timing_cache}};
  for (const Export& row : kExports) files.push_back({std::string(row.flag), options.report.*row.path});
  for (const auto& [name, path] : options.inference.debug_tensors.files) files.push_back({"--saveDebugTensors", path});
  std::erase_if(files, [](const NamedFile& file) { return file.path.empty(); });
  return files;
}

void require_folder(const NamedFile& file) {
  const fs::path folder = fs::path(followed(file.path)).parent_path();
  const std::string name = folder.empty() ? "." : folder.string();
  require(::access(name.c_str(), W_OK | X_OK) == 0, file.flag, ": cannot write ", file.path, ": ",
          std::strerror(errno));
}

}  // namespace

void check_output_files(const Options& options) {
  std::vector<NamedFile> others = files_read(options);
  for (const NamedFile& file : files_written(options)) {
    for (const NamedFile& other : others)
      require(!are_same(file.path, other.path), file.flag, " and ", other.flag, " name the same file, ", file.path);
    if (is_regular_or_new(file.path)) require_folder(file);
    others.push_back(file);
  }
  for (const Export& row : kExports) {
    const std::string& path = options.report.*row.path;
    if (!path.empty()) require_replaceable(path, row.beginning, row.key, row.flag);
  }
}

}  // namespace kiln::cli::trtexec
