#include "ops/enqueue_kind.h"

#include <utility>

namespace kiln {
namespace {
// Aligned to 8 bytes: mold 1.10 may put a program's thread-local variables, where none of them is, alone at the end of
// a page that nothing maps, and the program cannot be loaded ("cannot apply additional memory protection").
alignas(8) thread_local EnqueueKind current = EnqueueKind::kRun;
}  // namespace

EnqueueScope::EnqueueScope(EnqueueKind kind) : before_(std::exchange(current, kind)) {}
EnqueueScope::~EnqueueScope() { current = before_; }
EnqueueKind EnqueueScope::kind() { return current; }

}  // namespace kiln
