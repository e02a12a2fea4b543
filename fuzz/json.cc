// Whatever a text is, the reader of JSON makes data of it or explains; what it makes survives a round trip, and
// `kiln show` makes a picture of it or explains.
#include <cstdint>
#include <string_view>

#include "kiln/layer_files.h"
#include "plan/json.h"

namespace kiln {
namespace {

void demand(bool holds) {
  if (!holds) __builtin_trap();
}

/// Numbers of tensors and blocks in a picture are of those that there are.
void check(const Picture& picture) {
  demand(picture.layers.size() == picture.steps.size() && !picture.blocks.empty());
  for (const DrawnStep& step : picture.steps) {
    demand(static_cast<size_t>(step.block) < picture.blocks.size());
    const size_t count = picture.blocks[static_cast<size_t>(step.block)].tensors.size();
    for (const auto* ids : {&step.inputs, &step.outputs})
      for (const int id : *ids) demand(static_cast<size_t>(id) < count);
    for (const int body : step.bodies) demand(body > 0 && static_cast<size_t>(body) < picture.blocks.size());
  }
}

void show(const Datum& data, int profile) {
  if (const auto times = read_profile(data)) {
    Picture picture = picture_of(*times);
    check(picture);
    if (const Status added = add_times(*times, picture); !added) demand(!added.error().message.empty());
  } else {
    demand(!times.error().message.empty());
  }
  const auto picture = read_layer_info(data, profile);
  if (picture)
    check(*picture);
  else
    demand(!picture.error().message.empty());
}

void read(std::string_view text) {
  const auto data = plan::parse_json(text);
  if (!data) return demand(!data.error().message.empty());
  for (const int indent : {-1, 1}) {
    const auto again = plan::parse_json(plan::to_json(*data, indent));
    demand(again && *again == *data);
  }
  show(*data, 0);
  show(*data, 1);
}

}  // namespace
}  // namespace kiln

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kiln::read({reinterpret_cast<const char*>(data), size});
  return 0;
}
