#include "plan_pieces.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "NvInferRuntime.h"
#include "cli/text.h"

namespace kiln::cli::trtexec {
namespace {

bool is_on_disk(int file) {
  struct statfs facts {};
  return ::fstatfs(file, &facts) == 0 && facts.f_type != TMPFS_MAGIC && facts.f_type != RAMFS_MAGIC;
}

}  // namespace

ScratchFile::ScratchFile(int file, std::string folder)
    : file_(file), path_("/proc/self/fd/" + std::to_string(file)), folder_(std::move(folder)) {}
ScratchFile::~ScratchFile() { ::close(file_); }

std::unique_ptr<ScratchFile> ScratchFile::make(const std::deque<std::string>& folders, std::string& why) {
  for (const std::string& folder : folders) {
    if (!why.empty()) why += ", ";
    const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) {
      why += str(folder, ": ", std::strerror(errno));
      continue;
    }
    std::unique_ptr<ScratchFile> made(new ScratchFile(file, folder));
    if (!is_on_disk(file)) {
      why += str(folder, ": it is in memory");
    } else if (::access(made->path().c_str(), R_OK) != 0) {
      why += str(folder, ": ", made->path(), ": ", std::strerror(errno));
    } else {
      return made;
    }
  }
  return nullptr;
}

bool ScratchFile::write(const char* from, int64_t size_bytes) {
  while (size_bytes > 0) {
    const ssize_t count = ::write(file_, from, static_cast<size_t>(size_bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    from += count, size_bytes -= count;
  }
  return true;
}

int64_t ScratchFile::read(char* to, int64_t size_bytes, int64_t position) const {
  int64_t done = 0;
  while (done < size_bytes) {
    const ssize_t count = ::pread(file_, to + done, static_cast<size_t>(size_bytes - done), position + done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += count;
  }
  return done;
}

void PlanPieces::Unmap::operator()(char* pages) const { ::munmap(pages, kPiece); }

bool PlanPieces::write(const char* from, int64_t size_bytes) {
  if (!file_ && !folders_.empty() && written_ + size_bytes > most_in_memory_) move_to_file();
  if (file_) {
    if (file_->write(from, size_bytes)) return written_ += size_bytes, true;
    refusal_ = str(file_->folder(), ": ", std::strerror(errno));
    if (!move_to_memory()) return false;
  }
  return add_pieces(from, size_bytes);
}

bool PlanPieces::add_pieces(const char* from, int64_t size_bytes) {
  while (size_bytes > 0) {
    const int64_t at = written_ % kPiece, count = std::min(size_bytes, kPiece - at);
    if (at == 0) {
      void* const pages = ::mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (pages == MAP_FAILED) return false;
      pieces_.emplace_back(static_cast<char*>(pages));
    }
    std::memcpy(pieces_.back().get() + at, from, static_cast<size_t>(count));
    written_ += count, from += count, size_bytes -= count;
  }
  return true;
}

int64_t PlanPieces::read(char* to, int64_t size_bytes) {
  if (file_) {
    const int64_t count = file_->read(to, std::min(size_bytes, written_ - read_), read_);
    return read_ += count, count;
  }
  int64_t done = 0;
  while (done < size_bytes && read_ < written_) {
    const int64_t at = read_ % kPiece;
    const int64_t count = std::min({size_bytes - done, kPiece - at, written_ - read_});
    std::memcpy(to + done, pieces_.front().get() + at, static_cast<size_t>(count));
    read_ += count, done += count;
    if (read_ % kPiece == 0) pieces_.pop_front();
  }
  return done;
}

std::string PlanPieces::place() const {
  if (file_) return str("a temporary file in ", file_->folder());
  return refusal_.empty() ? "" : str("memory, since no folder takes it (", refusal_, ")");
}

/// Is tried once. Where no folder takes a file, or a disk is too small for it, the bytes stay in memory.
void PlanPieces::move_to_file() {
  std::unique_ptr<ScratchFile> file = ScratchFile::make(folders_, refusal_);
  folders_.clear();
  if (!file) return;
  for (int64_t at = 0; at < written_; at += kPiece) {
    if (file->write(pieces_[static_cast<size_t>(at / kPiece)].get(), std::min(kPiece, written_ - at))) continue;
    refusal_ = str(file->folder(), ": ", std::strerror(errno));
    return;
  }
  file_ = std::move(file);
  pieces_.clear();
}

/// Takes the first `written_` bytes back out of the file, whose disk is full. The file may end in a part of more, which
/// is written anew.
bool PlanPieces::move_to_memory() {
  const std::unique_ptr<ScratchFile> file = std::move(file_);
  const std::unique_ptr<char[]> piece(new char[kPiece]);
  const int64_t size_bytes = written_;
  written_ = 0;
  while (written_ < size_bytes) {
    const int64_t count = file->read(piece.get(), std::min(kPiece, size_bytes - written_), written_);
    if (count == 0 || !add_pieces(piece.get(), count)) return false;
  }
  return true;
}

std::deque<std::string> scratch_folders(const RuntimeOptions& options) {
  constexpr auto kFiles = static_cast<int>(nvinfer1::TempfileControlFlag::kALLOW_TEMPORARY_FILES);
  if (options.by_stream || (options.temporary_files >> kFiles & 1U) == 0) return {};
  if (!options.temporary_directory.empty()) return {options.temporary_directory};
  const char* const given = std::getenv("TMPDIR");
  if (given && *given) return {given};
  return {"/tmp", "/var/tmp"};
}

}  // namespace kiln::cli::trtexec
