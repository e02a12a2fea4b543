// The table of functions that the sister libraries get.
#include "api/base/private_entry.h"

#include <algorithm>
#include <cstring>

#include "api/entry/device_entry.h"
#include "api/entry/parser_entry.h"
#include "api/entry/plugin_entry.h"
#include "api/entry/status.h"
#include "api/entry/stream_entry.h"
#include "api/run/devices.h"
#include "api/run/refused_launches.h"

using namespace kiln::api;

KilnStatus kiln_private_entry(KilnPrivateEntry* entry) {
  constexpr size_t kHeader = offsetof(KilnPrivateEntry, last_error_text);
  if (!entry || entry->size < kHeader) return kKilnBadValue;
  const uint32_t wanted = entry->version;
  entry->version = kKilnEntryVersion;
  if (wanted != kKilnEntryVersion) return kKilnUnsupported;
  KilnPrivateEntry table{};
  table.size = std::min<uint32_t>(entry->size, sizeof table);
  table.version = kKilnEntryVersion;
  table.last_error_text = last_error_text;
  table.stream = stream_entry();
  table.event = event_entry();
  table.graph = graph_entry();
  table.device = device_entry();
  table.parser = parser_entry();
  table.gpu = gpu_entry();
  table.plugin = plugin_entry();
  table.tell_refused_launch = tell_refused_launch;
  table.use_host = [](int32_t on) { return int32_t{use_host(on != 0)}; };
  table.enqueue_kind = enqueue_kind;
  table.tell_failure = tell_failure;
  const uint32_t size = entry->size;
  std::memset(static_cast<void*>(entry), 0, size);
  std::memcpy(static_cast<void*>(entry), &table, table.size);
  return kKilnOk;
}
