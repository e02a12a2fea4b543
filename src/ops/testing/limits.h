/// Fails a test for what takes much time or memory, and ends the process, with a word, for what takes forever.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>

namespace kiln {

/// One at a time: the timer and its signal are the process's. Times are of the processor, so that a machine that is
/// busy with other things changes nothing.
class Limits {
 public:
  explicit Limits(double most_seconds) : most_seconds_(most_seconds), peak_kib_(peak_kib()) {
    std::signal(SIGVTALRM, say_and_end);
  }
  ~Limits() {
    set_timer(0);
    EXPECT_LT(peak_kib() - peak_kib_, kMostKib) << "by the end of " << current();
  }
  /// Runs `work`, which messages call `name`.
  template <class Work>
  void run(std::string name, Work work) {
    current() = std::move(name);
    set_timer(kForever);
    const std::clock_t start = std::clock();
    work();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, most_seconds_) << current();
  }
  /// The case that runs.
  static std::string& current() {
    static std::string name;
    return name;
  }

 private:
  static constexpr int kForever = 60;
  static constexpr int64_t kMostKib = int64_t{1} << 20;
  static void say_and_end(int) {
    const std::string text = "this does not end: " + current() + "\n";
    static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
    _exit(1);
  }
  static int64_t peak_kib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  }
  static void set_timer(int seconds) {
    const itimerval timer{{0, 0}, {seconds, 0}};
    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
  }

  double most_seconds_;
  int64_t peak_kib_;
};

}  // namespace kiln
