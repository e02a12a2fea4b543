/// Plans from and to what programs hold: bytes in memory, and streams that they read for us.
#pragma once

#include <NvInferRuntime.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace kiln::api {

/// `bytes` need to stay during the call only.
Result<std::shared_ptr<const plan::Plan>> read_plan_bytes(std::span<const std::byte> bytes);
Result<std::shared_ptr<const plan::Plan>> read_plan_stream(nvinfer1::IStreamReader& reader);
Result<std::shared_ptr<const plan::Plan>> read_plan_stream(nvinfer1::IStreamReaderV2& reader);
Result<std::vector<std::byte>> write_plan_bytes(const plan::Plan& plan);

}  // namespace kiln::api
