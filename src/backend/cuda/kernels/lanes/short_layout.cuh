// How rows of few elements are spread over threads: what kernels and, on the host, tests know of them.
#pragma once

namespace kiln {

/// A team of `team` neighbouring threads has a row, and its pieces in turns: piece p is that of thread p % team. Rows
/// of whole vectors of 16 bytes are in pieces of these, and come and go as such where a team is several threads;
/// others go through shared memory, where a block's rows lie as in memory (those of whole vectors with a gap).
struct ShortLayout {
  int cols, bytes;    ///< elements of a row; bytes of an element
  int team, threads;  ///< of a row; of a block

  static constexpr int kVector = 16, kWord = 4, kWarp = 32;

  constexpr bool is_whole() const { return cols * bytes % kVector == 0; }
  constexpr bool is_staged() const { return !is_whole() || team == 1; }
  /// Of halves: every other row begins in the middle of a word. Its pieces are all words that have a part of it.
  constexpr bool is_odd() const { return cols * bytes % kWord != 0; }
  constexpr int piece_bytes() const { return is_whole() ? kVector : cols * bytes % 8 == 0 ? 8 : kWord; }
  constexpr int piece() const { return piece_bytes() / bytes; }
  constexpr int pieces() const { return (cols + piece() - 1) / piece(); }
  constexpr int steps() const { return (pieces() + team - 1) / team; }
  constexpr int rows() const { return threads / team; }  ///< of a block

  /// Elements from row to row in shared memory. An odd number of pieces, so that threads which have a row each read
  /// from different banks.
  constexpr int pitch() const { return is_whole() && pieces() % 2 == 0 ? cols + piece() : cols; }
  /// The teams of a warp have every so many-th row: then their pieces are in different banks, as many as a block's
  /// warps can take turns. Of odd rows those of a warp begin alike.
  constexpr int apart() const {
    const int wanted = is_odd() ? 2 * team : is_staged() ? team : 1, warps = threads / kWarp;
    return wanted < warps ? wanted : warps;
  }
  /// The row, of a block's, that a thread has a part of.
  constexpr int row(unsigned thread) const {
    const unsigned turns = apart(), size = team, warp = thread / kWarp, lane = thread % kWarp;
    return static_cast<int>(warp / turns * (kWarp / size * turns) + lane / size * turns + warp % turns);
  }
};

}  // namespace kiln
