/// A network built and run through the public API, as a program written for TensorRT does it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/tensor_file.h"

namespace kiln::conformance {

/// The extents that an input may have while the engine lives; the three are the same where nothing varies.
struct InputRange {
  std::vector<int64_t> min, opt, max;
};

struct BuildOptions {
  int optimization_level = 0;
  bool tf32 = true, fp16 = false, bf16 = false;
  /// One tensor an input, in any order: the shapes (and, of shape inputs, the values) that the engine is for.
  std::vector<Tensor> examples;
  /// Extents of inputs that vary, by name; the others have those of their example.
  std::map<std::string, InputRange> extents;
  /// Values of shape inputs, likewise.
  std::map<std::string, InputRange> values;
  /// Gives inputs and outputs formats at random; without it they are linear.
  std::optional<uint64_t> formats_seed = {};
};

using PlanBytes = std::vector<std::byte>;

/// Parses an ONNX file and builds a plan of it. The error has everything that the parser or the logger reported.
Result<PlanBytes> build_plan(const std::string& onnx_path, const BuildOptions& options);

/// Whether the parser knows an operator of the domain ai.onnx.
bool parser_supports(const std::string& op_type);

/// A plan, loaded, with one context and one stream. Contexts of one session are used one run at a time.
class Session {
 public:
  static Result<std::unique_ptr<Session>> load(std::span<const std::byte> plan);
  ~Session();

  /// Inputs by name; the outputs in the engine's order.
  Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs);

  /// Tactic of each step, as the engine inspector has it.
  Result<std::vector<std::string>> tactics();

 private:
  struct Objects;
  explicit Session(std::unique_ptr<Objects> objects);
  std::unique_ptr<Objects> objects_;
};

/// Whether a tactic's name is that of the fallback.
bool is_reference(const std::string& tactic);

}  // namespace kiln::conformance
