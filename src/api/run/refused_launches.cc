#include "api/run/refused_launches.h"

namespace kiln::api {

namespace {
thread_local int64_t refused = 0;
}

void tell_refused_launch() { ++refused; }
int64_t num_refused_launches() { return refused; }

}  // namespace kiln::api
