#include "backend/cpu/device/standby.h"

#include <algorithm>
#include <chrono>

#include "backend/cpu/device/host_queue.h"

namespace kiln::cpu {
namespace {

using std::chrono::microseconds;

// The standby runs work that nobody has waited for after this time. Waking a thread up takes about a third of it.
constexpr microseconds kPatience{200};
constexpr microseconds kLongestPause{4000};  // 250 looks a second cost less than 0.3 % of a core
constexpr microseconds kAlertness{100'000};  // without work for this long, the watch ends
constexpr size_t kMaxThreads = 64;           // streams beyond that wait for one another

}  // namespace

Standby::~Standby() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    called_up_.notify_all();
    urged_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void Standby::join(HostQueue& queue) {
  const std::lock_guard lock(mutex_);
  members_.push_back(std::make_unique<Member>(Member{&queue}));
}

void Standby::leave(HostQueue& queue) {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return !member(queue)->running; });
  std::erase_if(members_, [&](const auto& m) { return m->queue == &queue; });
}

Standby::Member* Standby::member(const HostQueue& queue) {
  const auto at = std::ranges::find_if(members_, [&](const auto& m) { return m->queue == &queue; });
  return at == members_.end() ? nullptr : at->get();
}

void Standby::urge(HostQueue& queue) {
  std::unique_lock lock(mutex_);
  Member* asked = member(queue);
  if (!asked || asked->urgent || asked->running) return;
  asked->urgent = urgent_ = true;
  if (watching_.load(std::memory_order_relaxed))
    urged_.notify_one();
  else
    call(lock);
}

void Standby::call() {
  std::unique_lock lock(mutex_);
  call(lock);
}

/// Puts a thread on watch, unless one is.
void Standby::call(std::unique_lock<std::mutex>&) {
  if (watching_.load(std::memory_order_relaxed) || stop_) return;
  if (asleep_ == 0) {
    if (threads_.size() == kMaxThreads) return;  // one of them looks when it is done
    try {
      threads_.emplace_back([this] { serve(); });
    } catch (const std::exception&) {
      return;  // no thread to be had: the work waits until somebody waits for it
    }
  }
  called_ = true;
  watching_.store(true, std::memory_order_release);
  called_up_.notify_one();
}

void Standby::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++asleep_;
    called_up_.wait(lock, [&] { return stop_ || called_; });
    --asleep_;
    if (stop_) return;
    called_ = false;
    keep_watch(lock);
    if (stop_) return;
  }
}

/// Looks for a queue to run until there has been no work for a while. Whoever runs a queue gives up the watch, and
/// takes it again afterwards unless another thread has it.
void Standby::keep_watch(std::unique_lock<std::mutex>& lock) {
  microseconds pause = kPatience, quiet{0};
  uint64_t pushed = 0;
  while (!stop_) {
    urged_.wait_for(lock, pause, [&] { return stop_ || urgent_; });
    urgent_ = false;
    const Look seen = look();
    if (seen.stale) {
      watching_.store(false, std::memory_order_release);
      if (seen.more) call(lock);
      run(lock, *seen.stale);
      if (watching_.load(std::memory_order_relaxed)) return;
      watching_.store(true, std::memory_order_release);
      pause = kPatience;
      quiet = microseconds{0};
      continue;
    }
    quiet = seen.pushed == pushed && !seen.more ? quiet + pause : microseconds{0};
    pushed = seen.pushed;
    pause = seen.more ? kPatience : std::min(2 * pause, kLongestPause);
    if (quiet < kAlertness) continue;
    // A launch that comes after this store calls a watcher itself; the look below sees one that came before.
    watching_.store(false, std::memory_order_release);
    const Look last = look();
    if (!last.stale && !last.more && last.pushed == pushed) return;
    watching_.store(true, std::memory_order_release);
    quiet = microseconds{0};
  }
}

Standby::Look Standby::look() {
  Look seen;
  for (const auto& m : members_) {
    seen.pushed += m->queue->pushed();
    if (m->running) continue;
    uint64_t head = 0;
    const bool waits = m->queue->unattended(head);
    const bool stale = waits && (m->urgent || (m->waited && m->head == head));
    m->waited = waits;
    m->head = head;
    if (!waits) m->urgent = false;
    if (stale && !seen.stale)
      seen.stale = m.get();
    else if (waits)
      seen.more = true;
  }
  return seen;
}

void Standby::run(std::unique_lock<std::mutex>& lock, Member& member) {
  member.running = true;
  lock.unlock();
  member.queue->run_unattended();
  lock.lock();
  member.running = member.urgent = member.waited = false;
  finished_.notify_all();
}

}  // namespace kiln::cpu
