/// A plan in memory, between its builder and its runtime.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>

#include "NvInferRuntime.h"

namespace kiln::cli::trtexec {

/// Bytes in the order in which they come. Each piece goes back to the system as soon as it has been read, so that a
/// plan and the engine that is made of it are never both there as a whole.
class PlanPieces {
 public:
  int64_t size_bytes() const { return written_; }

  /// False: no memory.
  bool write(const char* from, int64_t size_bytes) {
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

  /// Takes the next bytes out, as many as there are.
  int64_t read(char* to, int64_t size_bytes) {
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

 private:
  static constexpr int64_t kPiece = int64_t{1} << 20;
  struct Unmap {
    void operator()(char* pages) const { ::munmap(pages, kPiece); }
  };
  std::deque<std::unique_ptr<char[], Unmap>> pieces_;
  int64_t written_ = 0, read_ = 0;
};

}  // namespace kiln::cli::trtexec
