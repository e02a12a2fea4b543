#include "api/run/plugin_services.h"

#include "api/run/devices.h"
#include "api/run/stream_table.h"

namespace kiln::api {
namespace {

constexpr uint32_t kFollowsNobody = 1;  // what plugins queue waits for nothing of the program's

class TableStreams final : public plugin::HostStreams {
  Result<void*> create() override { return StreamTable::instance().create(kFollowsNobody, 0); }
  void destroy(void* stream) override { static_cast<void>(StreamTable::instance().destroy(stream)); }
  Status synchronize(void* stream) override { return TRY(StreamTable::instance().find(stream)).get().synchronize(); }
};

}  // namespace

Result<plugin::Services> plugin_services() {
  static TableStreams streams;
  plugin::Services services;
  if (TRY(default_device()).get().is_host()) services.host_streams = &streams;
  return services;
}

}  // namespace kiln::api
