// Depthwise convolution of bytes, of pictures, channels last, with a kernel and strides known to the compiler. A thread
// makes four channels, a word, of some neighbouring pixels of some neighbouring rows. It turns what it reads so that a
// word has four neighbouring pixels of one channel, which one instruction multiplies by four taps of a row. Such words
// begin at even pixels: an output whose first pixel is odd takes the word before, and taps that are moved by one.
// Weights as [row of taps][moved by 0 or 1][word][channel] of words of four taps, with zeros where there is none.
#include "backend/cuda/kernels/depthwise/arguments.h"
#include "conv/arguments.cuh"
#include "ptx/integers.cuh"

namespace kiln {

constexpr int kRows = kTile.rows, kColumns = kTile.columns;
constexpr int kMoves = cuda::tap_moves(kColumns, kTile.stride), kWords = cuda::tap_words(kTile.kernel_w, kMoves);
constexpr int kLinesRead = (kRows - 1) * kTile.stride_h + kTile.kernel_h;  ///< rows of x that a thread reads
/// Pixels of such a row that words have; those behind the last that a tap meets are multiplied by 0.
constexpr int kLast = (kColumns - 1) * kTile.stride / 2 * 2;  ///< the first pixel of the last output's words
constexpr int kPixels = kLast + 4 * kWords;
constexpr int kSpan = (kColumns - 1) * kTile.stride + kTile.kernel_w;  ///< pixels that taps meet
static_assert(kPixels >= kSpan && kPixels % 2 == 0, "words have all pixels");

/// The bytes of a row: words of four pixels of a channel, from each even pixel on.
struct Line {
  unsigned low[kPixels / 2], high[kPixels / 2];  ///< two pixels of channels 0 and 1, and of 2 and 3

  __device__ __forceinline__ explicit Line(const unsigned (&pixels)[kPixels]) {
#pragma unroll
    for (int i = 0; i < kPixels / 2; ++i) {
      low[i] = __byte_perm(pixels[2 * i], pixels[2 * i + 1], 0x5140);
      high[i] = __byte_perm(pixels[2 * i], pixels[2 * i + 1], 0x7362);
    }
  }
  /// Pixels `first`, an even number, to first + 3 of a channel.
  __device__ __forceinline__ unsigned word(int first, int channel) const {
    const unsigned(&pairs)[kPixels / 2] = channel < 2 ? low : high;
    return __byte_perm(pairs[first / 2], pairs[first / 2 + 1], channel % 2 ? 0x7632 : 0x5410);
  }
};

/// What a thread makes.
struct Place {
  int channel, column, y, n;
  __device__ __forceinline__ explicit Place(const ConvArguments& args) {
    const unsigned vectors = args.groups / 4, strips = (args.window.out[2] + kColumns - 1) / kColumns,
                   bands = (args.window.out[1] + kRows - 1) / kRows;
    // Some neighbouring channels of a pixel, then the rows below it: a power of two of vectors, where there is one.
    const unsigned power = vectors & -vectors, lanes = power >= 32 ? 32 : power >= 8 ? power : vectors;
    unsigned rest = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned lane = rest % lanes;
    rest /= lanes;
    y = rest % bands * kRows;
    rest /= bands;
    column = rest % strips * kColumns;
    rest /= strips;
    const unsigned sections = vectors / lanes;
    channel = (rest % sections * lanes + lane) * 4;
    n = rest / sections;
  }
};

/// The pixels of a row of x that a thread reads. One outside of x is read from the nearest one inside, and x's zero
/// point takes its place.
struct Pixels {
  int places[kSpan];
  bool inside[kSpan];
  unsigned outside;  ///< four times x's zero point

  __device__ __forceinline__ Pixels(const ConvArguments& args, int first) : outside((args.x_zero & 255) * 0x01010101u) {
#pragma unroll
    for (int i = 0; i < kSpan; ++i) {
      const int column = first + i, near = min(max(column, 0), args.window.in[2] - 1);
      places[i] = near * int(args.x_strides.at[2]);
      inside[i] = column == near;
    }
  }
  __device__ __forceinline__ Line read(const Element* row, bool is_row) const {
    unsigned pixels[kPixels] = {};
#pragma unroll
    for (int i = 0; i < kSpan; ++i) {
      const unsigned loaded = *reinterpret_cast<const unsigned*>(row + places[i]);
      pixels[i] = is_row && inside[i] ? loaded : outside;
    }
    return Line(pixels);
  }
};

/// Adds the products of a row of x by a row of taps, which begin at `w`, to the sums of a row of y.
__device__ __forceinline__ void add_line(int (&sums)[kColumns][4], const Line& line, const uint4* w, int vectors) {
#pragma unroll
  for (int word = 0; word < kWords; ++word) {
    uint4 taps[kMoves];
#pragma unroll
    for (int move = 0; move < kMoves; ++move) taps[move] = w[(move * kWords + word) * vectors];
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int first = i * kTile.stride / 2 * 2 + 4 * word;
      const uint4& moved = taps[i * kTile.stride % 2];
      sums[i][0] = multiply_bytes(line.word(first, 0), moved.x, sums[i][0], Element());
      sums[i][1] = multiply_bytes(line.word(first, 1), moved.y, sums[i][1], Element());
      sums[i][2] = multiply_bytes(line.word(first, 2), moved.z, sums[i][2], Element());
      sums[i][3] = multiply_bytes(line.word(first, 3), moved.w, sums[i][3], Element());
    }
  }
}

/// Applies the epilogue to what a thread made, and writes what y has of it.
__device__ __forceinline__ void finish(const ConvArguments& args, const Place& at,
                                       const int (&sums)[kRows][kColumns][4]) {
  Epilogue::Channels<4> channels;
  channels.fetch(args.epilogue, at.channel);
  Epilogue::Scalars scalars;
  scalars.fetch(args.epilogue);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (at.y + r >= args.window.out[1]) continue;
    float numbers[kColumns][4];
#pragma unroll
    for (int i = 0; i < kColumns; ++i)
#pragma unroll
      for (int v = 0; v < 4; ++v) numbers[i][v] = __int_as_float(sums[r][i][v]);
    make_floats<Element, kTile.narrow_sums>(numbers);
    const long long first = at.n * args.y_strides.n + (at.y + r) * args.y_strides.at[1] + at.channel;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      if (at.column + i >= args.window.out[2]) continue;
      const long long index = first + (at.column + i) * args.y_strides.at[2];
      Epilogue::Whole<4> whole;
      whole.fetch(args.epilogue, index);
      Epilogue::apply(numbers[i], whole, channels, scalars);
      store_vector(args.y + index, numbers[i]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(128) depthwise_bytes(const __grid_constant__ ConvArguments args) {
  pdl_launch();
  const Window& window = args.window;
  const Place at(args);
  if (at.n >= args.images) return;
  const int first_y = at.y * window.stride[1] - window.pad[1];
  const Pixels pixels(args, at.column * kTile.stride - window.pad[2]);
  const Element* x = args.x + at.n * args.x_strides.n + at.channel;
  const int vectors = args.groups / 4;
  const uint4* w = reinterpret_cast<const uint4*>(args.w) + at.channel / 4;
  int sums[kRows][kColumns][4] = {};
  pdl_wait();
#pragma unroll
  for (int read = 0; read < kLinesRead; ++read) {
    const int in_y = first_y + read, near = min(max(in_y, 0), window.in[1] - 1);
    const Line line = pixels.read(x + near * args.x_strides.at[1], in_y == near);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int ky = read - r * kTile.stride_h;
      if (ky >= 0 && ky < kTile.kernel_h) add_line(sums[r], line, w + ky * kMoves * kWords * vectors, vectors);
    }
  }
  finish(args, at, sums);
}

}  // namespace kiln
