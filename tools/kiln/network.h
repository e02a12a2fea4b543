/// The network that a command is about, and the shapes that it is built for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "builder/build.h"
#include "cli/requested_shapes.h"
#include "ir/graph.h"

namespace kiln {

/// The graph of an ONNX file. Every problem of the model is in the error.
Result<ir::Graph> import_file(const std::string& path);

/// Whether a file's bytes begin as plans do, TensorRT's included.
bool is_plan(std::span<const std::byte> bytes);

/// The number of nodes, constants and bodies aside.
int count_nodes(const ir::Graph& graph);

std::vector<std::string> input_names(const ir::Graph& graph);

/// Reads shapes by `cli::read_shapes`, whose warnings go to the standard error.
cli::RequestedShapes read_shapes(const cli::Arguments& arguments);

/// The profile of these shapes; dynamic inputs without one have 1 for every dynamic axis. Throws cli::Failure at names
/// that no input has.
ProfileRequest profile_of(const ir::Graph& graph, const cli::NamedRanges& shapes);

}  // namespace kiln
