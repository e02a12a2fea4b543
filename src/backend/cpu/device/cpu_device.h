/// The CPU as a device: host memory, host streams, one team of threads, one executor.
#pragma once

#include <memory>
#include <optional>

#include "backend/cpu/device/cpu.h"
#include "backend/cpu/device/team.h"
#include "device/device.h"

namespace kiln::cpu {

class HostStream;
class Standby;

class CpuDevice final : public Device {
 public:
  /// Fails if the machine lacks the instructions that every kernel needs, or those asked for, and names them; and if
  /// another device of this process computes by other ones.
  static Result<std::unique_ptr<CpuDevice>> create(int team_size = default_team_size(),
                                                   std::optional<Target> instructions = std::nullopt);

  ~CpuDevice() override;

  DeviceKind kind() const override { return DeviceKind::kCpu; }
  std::string identity() const override;
  int64_t total_memory_bytes() const override;
  Result<Buffer> allocate(int64_t size_bytes) override;
  Result<std::unique_ptr<Stream>> create_stream() override;
  Status copy_to_host(void* host, const void* device, int64_t size_bytes, Stream& stream) override;
  Status copy_from_host(void* device, const void* host, int64_t size_bytes, Stream& stream) override;
  Result<Ref<Executor>> executor(std::string_view name) override;

  /// Called once by whoever composes backends: exec/ lies above device/.
  void set_executor(std::unique_ptr<Executor> executor);
  Team& team() { return team_; }
  /// Creates a stream like `create_stream`, with what the CUDA runtime's functions need beside: events, captures.
  std::unique_ptr<HostStream> create_host_stream();

 private:
  CpuDevice(int team_size, TargetUse instructions);

  TargetUse instructions_;
  Team team_;
  std::shared_ptr<Standby> standby_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace kiln::cpu
