#include "support/worker_pool.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>

#include "base/str.h"

namespace kiln::conformance {
namespace {

using Clock = std::chrono::steady_clock;

/// A child and the items it still owes: the first is the one it runs.
struct Worker {
  pid_t pid = -1;
  int pipe = -1;
  std::deque<std::string> items;
  std::string received;  ///< the beginning of a line
  Clock::time_point started;
  bool killed = false;
};

void write_all(int pipe, const std::string& text) {
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = write(pipe, text.data() + at, text.size() - at);
    if (n <= 0) _exit(1);  // nobody listens
    at += static_cast<size_t>(n);
  }
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) return str("crashed: ", strsignal(WTERMSIG(status)));
  return str("the process ended with status ", WEXITSTATUS(status));
}

class Pool {
 public:
  Pool(const std::vector<std::string>& items, const PoolOptions& options,
       const std::function<std::string(const std::string&)>& run,
       const std::function<std::string(const std::string&, const std::string&)>& failed,
       const std::function<void(const std::string&, const std::string&)>& done)
      : queue_(items.begin(), items.end()), options_(options), run_(run), failed_(failed), done_(done) {}

  void run_all() {
    while (true) {
      while (!queue_.empty() && workers_.size() < static_cast<size_t>(options_.num_workers)) start();
      if (workers_.empty()) return;
      wait_for_news();
      for (Worker& worker : workers_) end_if_late(worker);
    }
  }

 private:
  void start() {
    Worker worker;
    for (int i = 0; i < options_.batch_size && !queue_.empty(); ++i) {
      worker.items.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    int ends[2];
    if (pipe(ends) != 0) std::perror("pipe"), std::exit(2);
    std::fflush(nullptr);
    worker.pid = fork();
    if (worker.pid < 0) std::perror("fork"), std::exit(2);
    if (worker.pid == 0) {
      close(ends[0]);
      if (options_.memory_bytes) {
        const rlimit limit{options_.memory_bytes, options_.memory_bytes};
        setrlimit(RLIMIT_AS, &limit);
      }
      for (const std::string& item : worker.items) write_all(ends[1], one_line(run_(item)) + "\n");
      _exit(0);
    }
    close(ends[1]);
    worker.pipe = ends[0];
    worker.started = Clock::now();
    workers_.push_back(std::move(worker));
  }

  void wait_for_news() {
    std::vector<pollfd> polls;
    for (const Worker& worker : workers_) polls.push_back({worker.pipe, POLLIN, 0});
    if (poll(polls.data(), polls.size(), 200) <= 0) return;
    for (size_t i = polls.size(); i-- > 0;)
      if (polls[i].revents && !receive(workers_[i])) {
        finish(workers_[i]);
        workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
      }
  }

  /// False at the pipe's end.
  bool receive(Worker& worker) {
    char buffer[65536];
    const ssize_t n = read(worker.pipe, buffer, sizeof buffer);
    if (n <= 0) return false;
    worker.received.append(buffer, static_cast<size_t>(n));
    for (size_t end; (end = worker.received.find('\n')) != std::string::npos;) {
      done_(worker.items.front(), worker.received.substr(0, end));
      worker.items.pop_front();
      worker.received.erase(0, end + 1);
      worker.started = Clock::now();
    }
    return true;
  }

  void finish(Worker& worker) {
    close(worker.pipe);
    int status = 0;
    waitpid(worker.pid, &status, 0);
    if (worker.items.empty()) return;
    const std::string reason =
        worker.killed ? str("took longer than ", options_.timeout_s, " s") : describe_end(status);
    done_(worker.items.front(), one_line(failed_(worker.items.front(), reason)));
    worker.items.pop_front();
    while (!worker.items.empty()) {
      queue_.push_front(std::move(worker.items.back()));
      worker.items.pop_back();
    }
  }

  void end_if_late(Worker& worker) {
    if (worker.killed || Clock::now() - worker.started < std::chrono::duration<double>(options_.timeout_s)) return;
    worker.killed = true;
    kill(worker.pid, SIGKILL);
  }

  std::deque<std::string> queue_;
  const PoolOptions& options_;
  const std::function<std::string(const std::string&)>& run_;
  const std::function<std::string(const std::string&, const std::string&)>& failed_;
  const std::function<void(const std::string&, const std::string&)>& done_;
  std::vector<Worker> workers_;
};

}  // namespace

void run_in_workers(const std::vector<std::string>& items, const PoolOptions& options,
                    const std::function<std::string(const std::string& item)>& run,
                    const std::function<std::string(const std::string& item, const std::string& reason)>& failed,
                    const std::function<void(const std::string& item, const std::string& text)>& done) {
  Pool(items, options, run, failed, done).run_all();
}

}  // namespace kiln::conformance
