// Copying and setting memory, in the order of a stream or waited for.
#include <cstring>
#include <memory>
#include <vector>

#include "allocations.h"
#include "call.h"
#include "stream_of.h"

using namespace kiln::cudart;
using kiln::cuda::Driver;

namespace {

// Rows of `width` bytes, a pitch apart; one row for the plain calls.
struct Copy {
  std::byte* dst;
  size_t dst_pitch;
  const std::byte* src;
  size_t src_pitch, width, height;
  std::vector<std::byte> staged;  // what the source held at the call, where the program may change it afterwards

  bool is_empty() const { return width == 0 || height == 0; }
  void run() const {
    if (dst_pitch == width && src_pitch == width) {
      std::memmove(dst, src, width * height);
      return;
    }
    for (size_t row = 0; row < height; ++row) std::memmove(dst + row * dst_pitch, src + row * src_pitch, width);
  }
};
struct Fill {
  std::byte* dst;
  size_t pitch;
  int value;
  size_t width, height;

  bool is_empty() const { return width == 0 || height == 0; }
  void run() const {
    for (size_t row = 0; row < height; ++row) std::memset(dst + row * pitch, value, width);
  }
};

enum class Wait : bool { kNo, kYes };

// A pageable source of at most this is copied aside; a larger one waits for the stream instead.
constexpr size_t kLargestStage = 64 << 10;

/// Whether `height` rows from `at` lie within memory: any that is not ours is taken to be right.
bool fits(const void* at, size_t pitch, size_t width, size_t height) {
  size_t span = 0;
  if (__builtin_mul_overflow(pitch, height - 1, &span) || __builtin_add_overflow(span, width, &span)) return false;
  const auto block = Allocations::instance().find(at);
  return !block || block->covers(at, span);
}

bool is_pageable(const void* at) { return !Allocations::instance().find(at); }

cudaError_t check(const Copy& copy, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (copy.is_empty()) return cudaSuccess;
  if (copy.height > 1 && (copy.width > copy.dst_pitch || copy.width > copy.src_pitch))
    return cudaErrorInvalidPitchValue;
  if (!copy.dst || !copy.src) return cudaErrorInvalidValue;
  const bool fit = fits(copy.dst, copy.dst_pitch, copy.width, copy.height) &&
                   fits(copy.src, copy.src_pitch, copy.width, copy.height);
  return fit ? cudaSuccess : cudaErrorInvalidValue;
}

template <class Job>
cudaError_t queue(const KilnPrivateEntry& kiln, Job job, cudaStream_t stream, Wait wait) {
  auto kept = std::make_unique<Job>(std::move(job));
  const KilnStatus queued = kiln.stream.launch_kept(
      stream,
      [](void* argument, int32_t failed) {
        if (!failed) static_cast<const Job*>(argument)->run();
      },
      kept.get(), [](void* argument) { delete static_cast<Job*>(argument); });
  if (queued != kKilnOk) return to_cuda(queued, cudaErrorStreamCaptureImplicit);
  kept.release();
  if (wait == Wait::kNo) return cudaSuccess;
  return to_cuda(kiln.stream.synchronize(stream), cudaErrorStreamCaptureUnsupported);
}

/// CUDA's rule for pageable memory: the call returns when the source is read, or the destination written.
cudaError_t queue_pageable(const KilnPrivateEntry& kiln, Copy copy, cudaMemcpyKind kind, cudaStream_t stream) {
  KilnCaptureState capture = kKilnCaptureNone;
  if (const KilnStatus known = kiln.stream.capture_state(stream, &capture); known != kKilnOk) return to_cuda(known);
  const bool writes_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost || kind == cudaMemcpyDefault;
  const bool reads_host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost || kind == cudaMemcpyDefault;
  Wait wait = Wait::kNo;
  if (capture == kKilnCaptureNone) {
    if (writes_host && is_pageable(copy.dst)) {
      wait = Wait::kYes;
    } else if (reads_host && is_pageable(copy.src)) {
      if (copy.height == 1 && copy.width <= kLargestStage) {
        copy.staged.assign(copy.src, copy.src + copy.width);
        copy.src = copy.staged.data();
      } else {
        wait = Wait::kYes;
      }
    }
  }
  return queue(kiln, std::move(copy), stream, wait);
}

/// The driver knows from addresses where memory is, and keeps CUDA's rules for pageable memory.
int copy_on_gpu(const Driver& gpu, const Copy& copy, cudaStream_t stream, Wait wait) {
  int queued = 0;
  if (copy.height == 1) {
    if (wait == Wait::kYes && !stream) return gpu.memcpy(on(copy.dst), on(copy.src), copy.width);
    queued = gpu.memcpy_async(on(copy.dst), on(copy.src), copy.width, on(stream));
  } else {
    kiln::cuda::Copy2d rows{};
    rows.from_type = rows.to_type = kiln::cuda::kMemoryUnified;
    rows.from_device = on(copy.src), rows.from_pitch = copy.src_pitch;
    rows.to_device = on(copy.dst), rows.to_pitch = copy.dst_pitch;
    rows.width_bytes = copy.width, rows.height = copy.height;
    queued = gpu.memcpy_2d_async(&rows, on(stream));
  }
  return queued == 0 && wait == Wait::kYes ? gpu.stream_synchronize(on(stream)) : queued;
}

cudaError_t copy_rows(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                      cudaMemcpyKind kind, cudaStream_t stream, Wait wait) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    const Copy copy{
        static_cast<std::byte*>(dst), dpitch, static_cast<const std::byte*>(src), spitch, width, height, {}};
    if (const cudaError_t bad = check(copy, kind); bad != cudaSuccess || copy.is_empty()) return bad;
    return copy_on_gpu(gpu, copy, stream, wait);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    Copy copy{static_cast<std::byte*>(dst), dpitch, static_cast<const std::byte*>(src), spitch, width, height, {}};
    if (const cudaError_t bad = check(copy, kind); bad != cudaSuccess) return bad;
    if (copy.is_empty()) {
      uint32_t flags = 0;
      return to_cuda(kiln.stream.flags(stream, &flags));  // is it a stream?
    }
    if (wait == Wait::kYes) return queue(kiln, std::move(copy), stream, wait);
    return queue_pageable(kiln, std::move(copy), kind, stream);
  });
}

cudaError_t copy_bytes(void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream, Wait wait) {
  return copy_rows(dst, count, src, count, count, 1, kind, stream, wait);
}

cudaError_t fill_rows(void* dst, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream, Wait wait) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && width > pitch) return cudaErrorInvalidPitchValue;
    if (!dst) return cudaErrorInvalidValue;
    const auto byte = static_cast<unsigned char>(value);
    if (height == 1) return gpu.memset_d8_async(on(dst), byte, width, on(stream));
    return gpu.memset_d2d8_async(on(dst), pitch, byte, width, height, on(stream));
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    const Fill fill{static_cast<std::byte*>(dst), pitch, value, width, height};
    if (fill.is_empty()) return cudaSuccess;
    if (height > 1 && width > pitch) return cudaErrorInvalidPitchValue;
    if (!dst || !fits(dst, pitch, width, height)) return cudaErrorInvalidValue;
    return queue(kiln, fill, stream, wait);
  });
}

}  // namespace

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return copy_bytes(dst, src, count, kind, nullptr, Wait::kYes);
}
cudaError_t cudaMemcpy_ptds(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return copy_bytes(dst, src, count, kind, cudaStreamPerThread, Wait::kYes);
}
cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes(dst, src, count, kind, stream, Wait::kNo);
}
cudaError_t cudaMemcpyAsync_ptsz(void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes(dst, src, count, kind, per_thread(stream), Wait::kNo);
}
cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return copy_rows(dst, dpitch, src, spitch, width, height, kind, nullptr, Wait::kYes);
}
cudaError_t cudaMemcpy2D_ptds(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                              cudaMemcpyKind kind) {
  return copy_rows(dst, dpitch, src, spitch, width, height, kind, cudaStreamPerThread, Wait::kYes);
}
cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(dst, dpitch, src, spitch, width, height, kind, stream, Wait::kNo);
}
cudaError_t cudaMemcpy2DAsync_ptsz(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                                   size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(dst, dpitch, src, spitch, width, height, kind, per_thread(stream), Wait::kNo);
}
cudaError_t cudaMemset(void* memory, int value, size_t count) {
  return fill_rows(memory, count, value, count, 1, nullptr, Wait::kYes);
}
cudaError_t cudaMemset_ptds(void* memory, int value, size_t count) {
  return fill_rows(memory, count, value, count, 1, cudaStreamPerThread, Wait::kYes);
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t count, cudaStream_t stream) {
  return fill_rows(memory, count, value, count, 1, stream, Wait::kNo);
}
cudaError_t cudaMemsetAsync_ptsz(void* memory, int value, size_t count, cudaStream_t stream) {
  return fill_rows(memory, count, value, count, 1, per_thread(stream), Wait::kNo);
}
cudaError_t cudaMemset2D(void* memory, size_t pitch, int value, size_t width, size_t height) {
  return fill_rows(memory, pitch, value, width, height, nullptr, Wait::kYes);
}
cudaError_t cudaMemset2D_ptds(void* memory, size_t pitch, int value, size_t width, size_t height) {
  return fill_rows(memory, pitch, value, width, height, cudaStreamPerThread, Wait::kYes);
}
