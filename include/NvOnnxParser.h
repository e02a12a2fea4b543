// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading ONNX models into networks, and their weights into engines.

#ifndef KILN_NV_ONNX_PARSER_H
#define KILN_NV_ONNX_PARSER_H

#include <stddef.h>
#include <string>
#include <vector>

#include "NvInfer.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

#define NV_ONNX_PARSER_MAJOR 0  //!< Major version of the parser's API.
#define NV_ONNX_PARSER_MINOR 1  //!< Minor version of the parser's API.
#define NV_ONNX_PARSER_PATCH 0  //!< Patch version of the parser's API.

//! The version of the parser's API as one number.
static constexpr int32_t NV_ONNX_PARSER_VERSION =
    ((NV_ONNX_PARSER_MAJOR * 10000) + (NV_ONNX_PARSER_MINOR * 100) + NV_ONNX_PARSER_PATCH);

//! The nodes of a part of a model, by index, and whether the part can be run.
typedef std::pair<std::vector<size_t>, bool> SubGraph_t;
//! The parts that a model falls into.
typedef std::vector<SubGraph_t> SubGraphCollection_t;

//! Creates a parser for headers of the given version; call nvonnxparser::createParser instead.
extern "C" TENSORRTAPI void* createNvOnnxParser_INTERNAL(void* network, void* logger, int version) noexcept;
//! Creates a parser refitter for headers of the given version; call nvonnxparser::createParserRefitter instead.
extern "C" TENSORRTAPI void* createNvOnnxParserRefitter_INTERNAL(void* refitter, void* logger,
                                                                 int32_t version) noexcept;
//! NV_ONNX_PARSER_VERSION of the parser library that is loaded.
extern "C" TENSORRTAPI int getNvOnnxParserVersion() noexcept;

namespace nvonnxparser {

//! Number of enumerators of T, as the API counts them: different values; of the parser's ErrorCode all but the last.
template <typename T>
constexpr inline int32_t EnumMax() noexcept;

//! Bits 1 << OnnxParserFlag.
using OnnxParserFlags = uint32_t;

//! Kind of a parser's error.
enum class ErrorCode : int {
  kSUCCESS = 0,                     //!< No error.
  kINTERNAL_ERROR = 1,              //!< A defect of the parser.
  kMEM_ALLOC_FAILED = 2,            //!< Not enough memory.
  kMODEL_DESERIALIZE_FAILED = 3,    //!< The file or buffer is not a valid model.
  kINVALID_VALUE = 4,               //!< An argument that the call does not accept.
  kINVALID_GRAPH = 5,               //!< The graph contradicts itself.
  kINVALID_NODE = 6,                //!< A node contradicts its operator's definition.
  kUNSUPPORTED_GRAPH = 7,           //!< The graph has something that the parser cannot do.
  kUNSUPPORTED_NODE = 8,            //!< An operator that the parser does not know.
  kUNSUPPORTED_NODE_ATTR = 9,       //!< A value of an attribute that is not supported.
  kUNSUPPORTED_NODE_INPUT = 10,     //!< An input that is not supported.
  kUNSUPPORTED_NODE_DATATYPE = 11,  //!< A type that is not supported.
  kUNSUPPORTED_NODE_DYNAMIC = 12,   //!< A shape or value that has to be known and is not.
  kUNSUPPORTED_NODE_SHAPE = 13,     //!< A shape that is not supported.
  kREFIT_FAILED = 14,               //!< Weights could not be replaced.
};

//! Number of enumerators.
template <>
constexpr inline int32_t EnumMax<ErrorCode>() noexcept {
  return 14;
}

//! One problem that a parser found, and where.
class IParserError {
 public:
  //! Kind of the error.
  virtual ErrorCode code() const = 0;
  //! What is wrong, in words.
  virtual char const* desc() const = 0;
  //! Source file of the parser that found it.
  virtual char const* file() const = 0;
  //! Line in that file.
  virtual int line() const = 0;
  //! Function in that file.
  virtual char const* func() const = 0;
  //! Index of the node, or -1.
  virtual int node() const = 0;
  //! Name of the node.
  virtual char const* nodeName() const = 0;
  //! Operator of the node.
  virtual char const* nodeOperator() const = 0;
  //! Local functions that the node is in, outermost first.
  virtual char const* const* localFunctionStack() const = 0;
  //! Number of them.
  virtual int32_t localFunctionStackSize() const = 0;

 protected:
  virtual ~IParserError() noexcept {}
};

//! Choices for parsing; a bit number in OnnxParserFlags.
enum class OnnxParserFlag : int32_t {
  //! Instance normalizations become a layer, not a plugin. On by default.
  kNATIVE_INSTANCENORM = 0,
  //! Accept unsigned and asymmetric quantization, for accelerators.
  kENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA = 1,
  //! Ask whether an accelerator can run a node when support is reported.
  kREPORT_CAPABILITY_DLA = 2,
  //! A registered plugin of an operator's name goes before the parser's own import.
  kENABLE_PLUGIN_OVERRIDE = 3,
  //! Change the network so that more of it can run on an accelerator.
  kADJUST_FOR_DLA = 4,
};

//! Number of enumerators.
template <>
constexpr inline int32_t EnumMax<OnnxParserFlag>() noexcept {
  return 5;
}

//! Reads an ONNX model into a network.
class IParser {
 public:
  //! Adds a serialized model to the network; false, with errors, on a problem. The path finds weights that are stored
  //! beside it.
  virtual bool parse(void const* serialized_onnx_model, size_t serialized_onnx_model_size,
                     char const* model_path = nullptr) noexcept = 0;
  //! Adds a model in a file to the network; false, with errors, on a problem. Verbosity is an ILogger::Severity.
  virtual bool parseFromFile(char const* onnxModelFile, int verbosity) noexcept = 0;
  //! Whether all nodes are supported, and in which parts. Deprecated: use supportsModelV2.
  TRT_DEPRECATED virtual bool supportsModel(void const* serialized_onnx_model, size_t serialized_onnx_model_size,
                                            SubGraphCollection_t& sub_graph_collection,
                                            char const* model_path = nullptr) noexcept = 0;
  //! As parse, weights being descriptors. Deprecated: use parse.
  TRT_DEPRECATED virtual bool parseWithWeightDescriptors(void const* serialized_onnx_model,
                                                         size_t serialized_onnx_model_size) noexcept = 0;
  //! Whether an operator of this name is supported at all; it may still depend on types and attributes.
  virtual bool supportsOperator(char const* op_name) const noexcept = 0;
  //! Number of errors since the last clearErrors.
  virtual int getNbErrors() const noexcept = 0;
  //! The error of this index, valid until clearErrors; null if out of range.
  virtual IParserError const* getError(int index) const noexcept = 0;
  //! Forgets all errors.
  virtual void clearErrors() noexcept = 0;
  virtual ~IParser() noexcept = default;
  //! Paths of plugin libraries that a version-compatible plan has to carry, and their number.
  virtual char const* const* getUsedVCPluginLibraries(int64_t& nbPluginLibs) const noexcept = 0;
  //! Replaces all flags.
  virtual void setFlags(OnnxParserFlags onnxParserFlags) noexcept = 0;
  //! All flags.
  virtual OnnxParserFlags getFlags() const noexcept = 0;
  //! Clears one flag.
  virtual void clearFlag(OnnxParserFlag onnxParserFlag) noexcept = 0;
  //! Sets one flag.
  virtual void setFlag(OnnxParserFlag onnxParserFlag) noexcept = 0;
  //! Whether a flag is set.
  virtual bool getFlag(OnnxParserFlag onnxParserFlag) const noexcept = 0;
  //! Output i of the layer that was made of the node of this name; null if there is none.
  virtual nvinfer1::ITensor const* getLayerOutputTensor(char const* name, int64_t i) noexcept = 0;
  //! Whether all of a model is supported; what is and is not can then be asked by parts.
  virtual bool supportsModelV2(void const* serializedOnnxModel, size_t serializedOnnxModelSize,
                               char const* modelPath = nullptr) noexcept = 0;
  //! Number of parts that supportsModelV2 found.
  virtual int64_t getNbSubgraphs() noexcept = 0;
  //! Whether a part is supported; false if the index is out of range.
  virtual bool isSubgraphSupported(int64_t index) noexcept = 0;
  //! Indices of a part's nodes and their number; null if the index is out of range.
  virtual int64_t* getSubgraphNodes(int64_t index, int64_t& subgraphLength) noexcept = 0;
  //! Reads a model without adding it to the network; false, with errors, on a problem.
  virtual bool loadModelProto(void const* serializedOnnxModel, size_t serializedOnnxModelSize,
                              char const* modelPath = nullptr) noexcept = 0;
  //! Supplies weights of the model that was read, which must live until it is parsed; false if the name or size does
  //! not fit.
  virtual bool loadInitializer(char const* name, void const* data, size_t size) noexcept = 0;
  //! Adds the model that was read to the network; false, with errors, on a problem.
  virtual bool parseModelProto() noexcept = 0;
  //! Choices of the build that the model is for; false on an error.
  virtual bool setBuilderConfig(nvinfer1::IBuilderConfig const* builderConfig) noexcept = 0;
};

//! Takes the weights of an ONNX model to refit an engine.
class IParserRefitter {
 public:
  //! Takes the weights of a serialized model and hands them to the refitter; false, with errors, on a problem.
  virtual bool refitFromBytes(void const* serializedOnnxModel, size_t serializedOnnxModelSize,
                              char const* modelPath = nullptr) noexcept = 0;
  //! The same from a file.
  virtual bool refitFromFile(char const* onnxModelFile) noexcept = 0;
  //! Number of errors since the last clearErrors.
  virtual int32_t getNbErrors() const noexcept = 0;
  //! The error of this index; null if out of range.
  virtual IParserError const* getError(int32_t index) const noexcept = 0;
  //! Forgets all errors.
  virtual void clearErrors() = 0;
  virtual ~IParserRefitter() noexcept = default;
  //! Reads a model; false, with errors, on a problem.
  virtual bool loadModelProto(void const* serializedOnnxModel, size_t serializedOnnxModelSize,
                              char const* modelPath = nullptr) noexcept = 0;
  //! Supplies weights of the model that was read; false if the name or size does not fit.
  virtual bool loadInitializer(char const* name, void const* data, size_t size) noexcept = 0;
  //! Hands the weights of the model that was read to the refitter; false, with errors, on a problem.
  virtual bool refitModelProto() noexcept = 0;
};

namespace {

//! Creates a parser that adds to the network; null, with a message to the logger, if the library does not fit these
//! headers. The network must outlive it; the caller deletes it.
inline IParser* createParser(nvinfer1::INetworkDefinition& network, nvinfer1::ILogger& logger) noexcept {
  return static_cast<IParser*>(createNvOnnxParser_INTERNAL(&network, &logger, NV_ONNX_PARSER_VERSION));
}

//! Creates a parser that takes weights from a model to refit an engine; null on an error. The refitter must outlive it;
//! the caller deletes it.
inline IParserRefitter* createParserRefitter(nvinfer1::IRefitter& refitter, nvinfer1::ILogger& logger) noexcept {
  return static_cast<IParserRefitter*>(createNvOnnxParserRefitter_INTERNAL(&refitter, &logger, NV_ONNX_PARSER_VERSION));
}

}  // namespace
}  // namespace nvonnxparser

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_NV_ONNX_PARSER_H
