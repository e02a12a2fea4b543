/// Targets of libnvonnxparser's create functions, through the private entry.
#pragma once

#include <cstdint>

namespace kiln::api {

/// An nvonnxparser::IParser that fills `network`, an nvinfer1::INetworkDefinition; null where an argument is null or
/// the headers of `version` (the parser's) are not for this library.
void* create_parser(void* network, void* logger, int32_t version);
/// An nvonnxparser::IParserRefitter for an nvinfer1::IRefitter.
void* create_parser_refitter(void* refitter, void* logger, int32_t version);

}  // namespace kiln::api
