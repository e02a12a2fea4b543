/// A plan between its builder and its runtime.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "options.h"

namespace kiln::cli::trtexec {

/// A nameless file on a disk, which is gone with this object.
class ScratchFile {
 public:
  /// In the first of `folders` that is on a disk and takes files; null if there is none, and `why` then says so of
  /// each. A folder in memory (tmpfs) would take what the file is there to save.
  static std::unique_ptr<ScratchFile> make(const std::deque<std::string>& folders, std::string& why);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// Adds bytes at its end. False: the disk is full.
  bool write(const char* from, int64_t size_bytes);
  /// Bytes at a position; fewer at the end.
  int64_t read(char* to, int64_t size_bytes, int64_t position) const;
  /// A path that opens it, in this process and while it lives.
  const std::string& path() const { return path_; }
  /// The folder that it is in.
  const std::string& folder() const { return folder_; }

 private:
  ScratchFile(int file, std::string folder);
  int file_;
  std::string path_, folder_;
};

/// Bytes in the order in which they come: in memory, each piece of which goes back to the system as soon as it has been
/// read, or, of a large plan, in a scratch file, of which an engine reads what it needs where it is. So a plan and
/// the engine that is made of it are never both in memory as a whole.
class PlanPieces {
 public:
  static constexpr int64_t kMostInMemory = int64_t{64} << 20;

  /// `folders` may have a scratch file of what exceeds `most_in_memory`; none: all stays in memory.
  explicit PlanPieces(std::deque<std::string> folders = {}, int64_t most_in_memory = kMostInMemory)
      : folders_(std::move(folders)), most_in_memory_(most_in_memory) {}

  int64_t size_bytes() const { return written_; }
  /// False: no memory.
  bool write(const char* from, int64_t size_bytes);
  /// Takes the next bytes out, as many as there are.
  int64_t read(char* to, int64_t size_bytes);
  /// A file that holds the bytes, while this object lives; null where they are in memory.
  const char* path() const { return file_ ? file_->path().c_str() : nullptr; }
  /// In words, where the bytes of a large plan are, or why they are in memory; empty of a small one.
  std::string place() const;

 private:
  static constexpr int64_t kPiece = int64_t{1} << 20;
  struct Unmap {
    void operator()(char* pages) const;
  };
  bool add_pieces(const char* from, int64_t size_bytes);
  void move_to_file();
  bool move_to_memory();

  std::deque<std::string> folders_;
  int64_t most_in_memory_;
  std::deque<std::unique_ptr<char[], Unmap>> pieces_;
  std::unique_ptr<ScratchFile> file_;  ///< null: the pieces have the bytes
  std::string refusal_;                ///< why a large plan has no file
  int64_t written_ = 0, read_ = 0;
};

/// Where a scratch file may be: in the folder of --tempdir, or else in the system's; nowhere if the user wants none.
std::deque<std::string> scratch_folders(const RuntimeOptions& options);

}  // namespace kiln::cli::trtexec
