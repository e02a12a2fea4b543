/// The ONNX parser for its library.
#pragma once

#include "api/base/private_entry.h"

namespace kiln::api {

KilnParserEntry parser_entry();

}  // namespace kiln::api
