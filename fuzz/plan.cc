// Whatever the bytes are, the plan reader accepts or explains; what it accepts survives a round trip, and its plugins
// are asked for. The last byte chooses what the bytes before it are: a file as it is, a file whose checksums are made
// right, or a file's metadata alone.
#include <cstdint>
#include <span>

#include "plan/json.h"
#include "plan/reader.h"
#include "plan/testing/repair_checksums.h"
#include "plan/writer.h"
#include "plan_metadata.h"
#include "plan_plugins.h"

namespace kiln::plan {
namespace {

void demand(bool holds) {
  if (!holds) __builtin_trap();
}

void survives(const Plan& plan) {
  const auto bytes = write_plan(plan);
  demand(bytes.has_value());
  const auto again = read_plan(*bytes);
  demand(again.has_value());
  demand(*write_plan(**again) == *bytes);
  read_plugin_fields(plan);
}

void read_file(std::span<const std::byte> bytes) {
  const auto plan = read_plan(bytes);
  if (!plan) return demand(!plan.error().message.empty());
  survives(**plan);
}

void read_metadata(std::span<const std::byte> bytes) {
  const auto record = from_cbor(bytes);
  if (!record) return demand(!record.error().message.empty());
  demand(!to_json(*record).empty());
  demand(*to_cbor(*from_cbor(*to_cbor(*record))) == *to_cbor(*record));
  const auto plan = plan_of_metadata(*record);
  if (!plan) return demand(!plan.error().message.empty());
  survives(*plan);
}

}  // namespace
}  // namespace kiln::plan

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size - 1));
  switch (data[size - 1] % 3) {
    case 0: kiln::plan::read_file(bytes); break;
    case 1: {
      std::vector<std::byte> repaired(bytes.begin(), bytes.end());
      kiln::plan::repair_checksums(repaired);
      kiln::plan::read_file(repaired);
      break;
    }
    default: kiln::plan::read_metadata(bytes);
  }
  return 0;
}
