#include "backend/cuda/device/fault_word.h"

#include <atomic>
#include <bitset>

namespace kiln::cuda {

/// Page-locked memory is given by whole pages (pinned_memory.h): words share one.
struct FaultWord::Page {
  static constexpr size_t kWords = 512;

  explicit Page(Buffer pinned) : memory(std::move(pinned)), words(reinterpret_cast<int64_t*>(memory.data())) {}

  const Buffer memory;
  int64_t* const words;
  std::mutex mutex;
  std::bitset<kWords> used;
};

/// Keeps the page that has words left for as long as somebody uses one of its words.
struct FaultWord::Pages {
  static Result<std::shared_ptr<Pages>> create(CudaDevice&) { return std::make_shared<Pages>(); }
  std::mutex mutex;
  std::weak_ptr<Page> last;
};

Result<FaultWord> FaultWord::create(CudaDevice& device) {
  Pages& pages = TRY(device.companion<Pages>());
  const std::lock_guard lock(pages.mutex);
  std::shared_ptr<Page> page = pages.last.lock();
  if (page) {
    const std::lock_guard words(page->mutex);
    if (page->used.all()) page.reset();
  }
  if (!page) {
    page = std::make_shared<Page>(TRY(device.allocate_pinned(Page::kWords * sizeof(int64_t))));
    pages.last = page;
  }
  const std::lock_guard words(page->mutex);
  size_t at = 0;
  while (page->used.test(at)) ++at;
  page->used.set(at);
  std::atomic_ref(page->words[at]).store(0, std::memory_order_relaxed);
  int64_t* const word = page->words + at;
  return FaultWord(std::move(page), word);
}

FaultWord::~FaultWord() {
  if (!page_) return;
  const std::lock_guard lock(page_->mutex);
  page_->used.reset(static_cast<size_t>(word_ - page_->words));
}

std::optional<int64_t> FaultWord::take() const {
  const std::atomic_ref word(*word_);
  if (word.load(std::memory_order_acquire) == 0) [[likely]]
    return {};
  return word.exchange(0, std::memory_order_acquire) >> 1;
}

}  // namespace kiln::cuda
