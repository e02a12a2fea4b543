#include "ops/recorded_try.h"

namespace kiln {
namespace {
thread_local int num_under_way = 0;
}

RecordedTry::RecordedTry() { ++num_under_way; }
RecordedTry::~RecordedTry() { --num_under_way; }
bool RecordedTry::is_under_way() { return num_under_way > 0; }

}  // namespace kiln
