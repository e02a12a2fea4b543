/// Streams, events and graphs for the CUDA runtime's functions.
#pragma once

#include "api/base/private_entry.h"

namespace kiln::api {

KilnStreamEntry stream_entry();
KilnEventEntry event_entry();
KilnGraphEntry graph_entry();

}  // namespace kiln::api
