// OnnxParser and OnnxParserRefitter: ONNX models into networks, and their weights into engines.

#include <NvOnnxParser.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "lifetime.h"

namespace kiln::python {
namespace {

using nvinfer1::ILogger, nvinfer1::INetworkDefinition, nvinfer1::IRefitter;
using nvonnxparser::ErrorCode, nvonnxparser::IParser, nvonnxparser::IParserError, nvonnxparser::IParserRefitter;

using Path = std::optional<std::string>;

const char* c_str(const Path& path) { return path ? path->c_str() : nullptr; }

Given<IParser> create_parser(nb::handle_t<INetworkDefinition> network, nb::handle_t<ILogger> logger) {
  auto& to = as(logger);
  auto& of = as(network);
  auto* parser = without_gil([&] { return nvonnxparser::createParser(of, to); });
  Given<IParser> result = give_new(parser, {network, logger}, "no parser could be made; the log says why");
  remember_logger(logger, to);
  return result;
}

Given<IParserRefitter> create_refitter(nb::handle_t<IRefitter> refitter, nb::handle_t<ILogger> logger) {
  auto& to = as(logger);
  auto& of = as(refitter);
  auto* parser = without_gil([&] { return nvonnxparser::createParserRefitter(of, to); });
  Given<IParserRefitter> result = give_new(parser, {refitter, logger}, "no parser could be made; the log says why");
  remember_logger(logger, to);
  return result;
}

/// Calls a function of the parser that reads a model's bytes, without the GIL.
template <class Parser, class Call>
bool read_bytes(Parser& self, const BufferObject& model, Call call) {
  const Buffer bytes(model);
  return without_gil(self, [&] { return call(bytes.data(), bytes.size_bytes()); });
}

/// A class with the behaviour of a list, as TensorRT's module has for what supports_model answers.
nb::object list_class(nb::module_& m, const char* name, const char* doc) {
  nb::dict members;
  members["__doc__"] = doc;
  members["__module__"] = m.attr("__name__");
  nb::object type = nb::borrow(reinterpret_cast<PyObject*>(&PyType_Type))(
      name, nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(&PyList_Type))), members);
  m.attr(name) = type;
  return type;
}

void bind_support(nb::module_& m, nb::class_<IParser>& cls) {
  // The classes stay for good: the function outlives the module's attributes.
  const nb::handle indices = list_class(m, "NodeIndices", "A list of the indices of nodes.").release();
  const nb::handle subgraphs =
      list_class(m, "SubGraphCollection", "A list of pairs: indices of nodes, and whether they are supported.")
          .release();
  cls.def(
         "supports_model",
         [indices, subgraphs](IParser& self, const BufferObject& model,
                              const Path& path) -> nb::typed<nb::tuple, bool, SubGraphCollection_t> {
           SubGraphCollection_t found;
           const bool supported = read_bytes(self, model, [&](const void* data, size_t size) {
             return self.supportsModel(data, size, found, c_str(path));
           });
           nb::object list = subgraphs();
           for (const auto& [nodes, is_supported] : found)
             list.attr("append")(nb::make_tuple(indices(nb::cast(nodes)), is_supported));
           return nb::make_tuple(supported, list);
         },
         "model"_a, "path"_a = nb::none(),
         "Whether a model is supported, and its parts with whether each is. Deprecated: use supports_model_v2.")
      .def(
          "supports_model_v2",
          [](IParser& self, const BufferObject& model, const Path& path) {
            return read_bytes(self, model, [&](const void* data, size_t size) {
              return self.supportsModelV2(data, size, c_str(path));
            });
          },
          "model"_a, "path"_a = nb::none(),
          "Whether a serialized model is supported; num_subgraphs and its like tell of its parts then.")
      .def("supports_operator", &IParser::supportsOperator, "op_name"_a, "Whether an ONNX operator is supported.")
      .def_prop_ro("num_subgraphs", &IParser::getNbSubgraphs, "The number of parts that supports_model_v2 found.")
      .def("is_subgraph_supported", &IParser::isSubgraphSupported, "index"_a, "Whether a part is supported.")
      .def(
          "get_subgraph_nodes",
          [](IParser& self, int64_t index) {
            int64_t count = 0;
            const int64_t* nodes = self.getSubgraphNodes(index, count);
            return nodes == nullptr ? std::vector<int64_t>() : std::vector<int64_t>(nodes, nodes + count);
          },
          "index"_a, "The indices of a part's nodes.");
}

void bind_parsing(nb::class_<IParser>& cls) {
  cls.def(
         "parse",
         [](IParser& self, const BufferObject& model, const Path& path) {
           return read_bytes(self, model,
                             [&](const void* data, size_t size) { return self.parse(data, size, c_str(path)); });
         },
         "model"_a, "path"_a = nb::none(),
         "Adds a serialized model to the network; `path` is where files of weights are looked for beside. False, and "
         "errors, where that fails.")
      .def(
          "parse_with_weight_descriptors",
          [](IParser& self, const BufferObject& model) {
            return read_bytes(self, model, [&](const void* data, size_t size) {
              return self.parseWithWeightDescriptors(data, size);
            });
          },
          "model"_a, "Adds a serialized model to the network. Deprecated.")
      .def(
          "parse_from_file",
          [](IParser& self, const std::string& model) {
            return without_gil(self, [&] { return self.parseFromFile(model.c_str(), 0); });
          },
          "model"_a, "Adds a model of a file to the network. False, and errors, where that fails.")
      .def(
          "load_model_proto",
          [](IParser& self, const BufferObject& model, const Path& path) {
            return read_bytes(self, model, [&](const void* data, size_t size) {
              return self.loadModelProto(data, size, c_str(path));
            });
          },
          "model"_a, "path"_a = nb::none(),
          "Loads a model, whose weights load_initializer may give before it is parsed.")
      .def(
          "load_initializer",
          [](IParser& self, const std::string& name, size_t data, size_t size) {
            return self.loadInitializer(name.c_str(), to_pointer(data), size);
          },
          "name"_a, "data"_a, "size"_a,
          "Gives the bytes of an initializer by their address, which have to stay until the network is built.")
      .def(
          "parse_model_proto", [](IParser& self) { return without_gil(self, [&] { return self.parseModelProto(); }); },
          "Adds the model that was loaded to the network.")
      .def(
          "set_builder_config",
          [](IParser& self, const nvinfer1::IBuilderConfig* config) {
            const bool is_set = self.setBuilderConfig(config);
            hold_item(&self, "builder_config", config);
            return is_set;
          },
          "builder_config"_a.none(), "Tells of the configuration that the network is to be built with.");
}

/// Text of an error. It quotes the model, so it need not be UTF-8.
nb::str shown(const std::string& text) { return nb::borrow<nb::str>(to_str(text.c_str())); }

/// A copy of an error: the parser's own goes with its next call.
struct ParserError {
  explicit ParserError(const IParserError& error)
      : code(error.code()),
        desc(error.desc()),
        file(error.file()),
        line(error.line()),
        func(error.func()),
        node(error.node()),
        node_name(error.nodeName()),
        node_operator(error.nodeOperator()) {
    const char* const* stack = error.localFunctionStack();
    if (stack != nullptr) functions.assign(stack, stack + error.localFunctionStackSize());
  }
  std::string describe() const {
    const std::string what = str("(", func, "): ", nb::cast<std::string>(nb::cast(code).attr("name")), ": ", desc);
    if (code == ErrorCode::kMODEL_DESERIALIZE_FAILED || code == ErrorCode::kREFIT_FAILED) return what;
    return str("In node ", node, " with name: ", node_name, " and operator: ", node_operator, " ", what);
  }

  nb::str text() const { return shown(describe()); }

  ErrorCode code;
  std::string desc, file;
  int line;
  std::string func;
  int node;
  std::string node_name, node_operator;
  std::vector<std::string> functions;
};

void bind_errors(nb::module_& m) {
  nb::class_<ParserError>(m, "ParserError", "What a parser refused, and why.")
      .def(
          "code", [](const ParserError& self) { return self.code; }, "The kind of the error.")
      .def(
          "desc", [](const ParserError& self) { return shown(self.desc); }, "What is wrong.")
      .def(
          "file", [](const ParserError& self) { return shown(self.file); }, "The source file that found it.")
      .def(
          "line", [](const ParserError& self) { return self.line; }, "The line of that file.")
      .def(
          "func", [](const ParserError& self) { return shown(self.func); }, "The function that found it.")
      .def(
          "node", [](const ParserError& self) { return self.node; }, "The index of the node; -1 where it is none's.")
      .def(
          "node_name", [](const ParserError& self) { return shown(self.node_name); }, "The name of the node.")
      .def(
          "node_operator", [](const ParserError& self) { return shown(self.node_operator); },
          "The operator of the node.")
      .def(
          "local_function_stack",
          [](const ParserError& self) {
            std::vector<nb::str> names;
            for (const std::string& name : self.functions) names.push_back(shown(name));
            return names;
          },
          "The names of the model's functions that the node is inside of, the outermost first.")
      .def(
          "local_function_stack_size", [](const ParserError& self) { return self.functions.size(); },
          "How many functions it is inside of.")
      .def("__str__", &ParserError::text, "The node, the kind of the error and its text.")
      .def("__repr__", &ParserError::text, "The node, the kind of the error and its text.");
}

/// The calls that parsers of both kinds share.
template <class Parser>
void bind_error_list(nb::class_<Parser>& cls) {
  cls.def_prop_ro("num_errors", &Parser::getNbErrors, "The number of errors.")
      .def(
          "get_error",
          [](const Parser& self, int32_t index) -> std::optional<ParserError> {
            const IParserError* error = self.getError(index);
            return error == nullptr ? std::nullopt : std::optional<ParserError>(*error);
          },
          "index"_a, "An error; None for an index out of range.")
      .def("clear_errors", &Parser::clearErrors, "Forgets all errors.");
}

void bind_refitter_of_models(nb::module_& m) {
  nb::class_<IParserRefitter> cls(m, "OnnxParserRefitter", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots),
                                  "Gives an engine the weights of a model.");
  cls.def(nb::new_(&create_refitter), "refitter"_a, "logger"_a, "Makes a parser for a refitter.")
      .def(
          "refit_from_bytes",
          [](IParserRefitter& self, const BufferObject& model, const Path& path) {
            return read_bytes(self, model, [&](const void* data, size_t size) {
              return self.refitFromBytes(data, size, c_str(path));
            });
          },
          "model"_a, "path"_a = nb::none(),
          "Gives the refitter the weights of a serialized model; whether that worked.")
      .def(
          "refit_from_file",
          [](IParserRefitter& self, const std::string& model) {
            return without_gil(self, [&] { return self.refitFromFile(model.c_str()); });
          },
          "model"_a, "Gives the refitter the weights of a model of a file; whether that worked.")
      .def(
          "load_model_proto",
          [](IParserRefitter& self, const BufferObject& model, const Path& path) {
            return read_bytes(self, model, [&](const void* data, size_t size) {
              return self.loadModelProto(data, size, c_str(path));
            });
          },
          "model"_a, "path"_a = nb::none(), "Loads a model, whose weights load_initializer may give.")
      .def(
          "load_initializer",
          [](IParserRefitter& self, const std::string& name, size_t data, size_t size) {
            return self.loadInitializer(name.c_str(), to_pointer(data), size);
          },
          "name"_a, "data"_a, "size"_a, "Gives the bytes of an initializer by their address.")
      .def(
          "refit_model_proto",
          [](IParserRefitter& self) { return without_gil(self, [&] { return self.refitModelProto(); }); },
          "Gives the refitter the weights of the model that was loaded.");
  bind_error_list(cls);
}

}  // namespace

void bind_parser(nb::module_& m) {
  bind_errors(m);
  nb::class_<IParser> cls(m, "OnnxParser", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots),
                          "Adds ONNX models to a network.");
  cls.def(nb::new_(&create_parser), "network"_a, "logger"_a, "Makes a parser for a network.");
  bind_parsing(cls);
  bind_support(m, cls);
  bind_error_list(cls);
  cls.def_prop_rw("flags", &IParser::getFlags, &IParser::setFlags,
                  "All choices of OnnxParserFlag, a bit each: 1 << int(flag).")
      .def("clear_flag", &IParser::clearFlag, "flag"_a, "Takes a choice back.")
      .def("set_flag", &IParser::setFlag, "flag"_a, "Makes a choice.")
      .def("get_flag", &IParser::getFlag, "flag"_a, "Whether a choice was made.")
      .def("get_layer_output_tensor", &IParser::getLayerOutputTensor, "name"_a, "i"_a,
           nb::rv_policy::reference_internal,
           "An output of the layer that a node has become; None where there is none.")
      .def(
          "get_used_vc_plugin_libraries",
          [](const IParser& self) {
            int64_t count = 0;
            const char* const* paths = self.getUsedVCPluginLibraries(count);
            if (count < 0) throw std::runtime_error("the plugin libraries are not known; the log says why");
            return std::vector<std::string>(paths, paths + count);
          },
          "The paths of the plugin libraries that the model needs when it is version-compatible.")
      .def("__del__", &ignore_del<IParser>, kIgnoreDel);
  bind_refitter_of_models(m);
  m.def("get_nv_onnx_parser_version", &getNvOnnxParserVersion, "The version of the parser, as 100 * minor.");
}

}  // namespace kiln::python
