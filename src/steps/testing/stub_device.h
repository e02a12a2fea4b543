/// A device for tests of what loads and runs steps.
#pragma once

#include <string>
#include <utility>

#include "device/device.h"
#include "steps/executor.h"

namespace kiln {

/// A host without streams that is its own executor, under its device's name. A test says what it loads.
class StubDevice : public Device, public Executor {
 public:
  explicit StubDevice(std::string name) : name_(std::move(name)) {}
  DeviceKind kind() const override { return DeviceKind::kCpu; }
  std::string identity() const override { return name_; }
  int64_t total_memory_bytes() const override { return 0; }
  Result<Buffer> allocate(int64_t size_bytes) override {
    return Buffer(::operator new(static_cast<size_t>(size_bytes)), size_bytes, nullptr,
                  [](void*, void* data, int64_t) { ::operator delete(data); });
  }
  Result<std::unique_ptr<Stream>> create_stream() override { return error(Code::kUnsupported, "none"); }
  Status copy_to_host(void*, const void*, int64_t, Stream&) override { return {}; }
  Status copy_from_host(void*, const void*, int64_t, Stream&) override { return {}; }
  Result<Ref<Executor>> executor(std::string_view) override { return Ref<Executor>(*this); }
  std::string_view name() const override { return name_; }

 private:
  std::string name_;
};

}  // namespace kiln
