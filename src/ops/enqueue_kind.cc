#include "ops/enqueue_kind.h"

#include <utility>

namespace kiln {
namespace {
thread_local EnqueueKind current = EnqueueKind::kRun;
}

EnqueueScope::EnqueueScope(EnqueueKind kind) : before_(std::exchange(current, kind)) {}
EnqueueScope::~EnqueueScope() { current = before_; }
EnqueueKind EnqueueScope::kind() { return current; }

}  // namespace kiln
