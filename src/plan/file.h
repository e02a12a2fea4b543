/// Files that are either written whole or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "plan/plan.h"
#include "plan/writer.h"

namespace kiln::plan {

/// Writes beside `path` and renames at `commit`; without one, `path` is as it was and nothing is left behind. What is
/// no regular file (/dev/stdout, a FIFO) is written directly. Errors name the path and the system's reason.
class FileSink final : public Sink {
 public:
  static Result<std::unique_ptr<FileSink>> create(const std::string& path);
  ~FileSink() override;
  Status write(std::span<const std::byte> bytes) override;
  /// Waits until the bytes are on the disk, then gives the file its name. Called once, last.
  Status commit();

 private:
  FileSink() = default;
  std::unexpected<Error> failed(std::string_view action, int reason) const;

  int descriptor_ = -1;
  std::string path_;       // as given
  std::string target_;     // with symbolic links followed
  std::string temporary_;  // empty where the file is written directly, and after `commit`
};

Status write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
Status write_plan_file(const Plan& plan, const std::string& path);

}  // namespace kiln::plan
