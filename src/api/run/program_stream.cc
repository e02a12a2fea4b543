#include "api/run/program_stream.h"

#include "api/run/stream_table.h"

namespace kiln::api {

Result<Ref<Stream>> ProgramStream::open(Device& device, void* handle) {
  if (device.kind() == DeviceKind::kCuda)
    return Ref<Stream>(
        wrapped_.emplace(static_cast<cuda::CudaDevice&>(device), static_cast<cuda::StreamHandle>(handle)));
  cpu::HostStream& stream = TRY(StreamTable::instance().find_for_work(handle));
  return Ref<Stream>(stream);
}

Status check_stream(Device& device, void* handle) {
  if (device.kind() == DeviceKind::kCuda) return {};  // nobody can tell without a call that uses it
  TRY(StreamTable::instance().find(handle));
  return {};
}

}  // namespace kiln::api
