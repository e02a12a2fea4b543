/// A process that is forked off by a test.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace kiln::test {

/// What `body` returned in a child of this process; -1 if the child crashed, or did not end in 20 s.
template <class F>
int in_child(F body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(body());
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace kiln::test
