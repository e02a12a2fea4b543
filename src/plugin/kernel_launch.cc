#include "plugin/kernel_launch.h"

#include <algorithm>
#include <cstring>

#include "plugin/api_tensors.h"

namespace kiln::plugin {

namespace nv = nvinfer1;

namespace {

constexpr int32_t kMostArguments = 4096;  // a wrong count would else be an allocation of any size; a kernel has fewer

Result<int> bytes_of(nv::PluginArgDataType type, std::string_view what) {
  switch (type) {
    case nv::PluginArgDataType::kINT8: return 1;
    case nv::PluginArgDataType::kINT16: return 2;
    case nv::PluginArgDataType::kINT32: return 4;
  }
  return error(Code::kInvalidArgument, what, " is of data type ", static_cast<int32_t>(type),
               ", which no PluginArgDataType has");
}

/// Whether `set` succeeds; else the first failure is kept. The plugin's code calls it, which no exception may reach.
template <class F>
bool kept(Status& failure, F set) noexcept {
  Status done;
  try {
    done = set();
  } catch (CheckFailed& failed) {
    done = std::unexpected(Error{Code::kInternal, std::move(failed.message)});
  } catch (...) {
    done = std::unexpected(Error{Code::kOutOfMemory, "out of memory"});  // which a string has room for
  }
  const bool is_done = done.has_value();
  if (!is_done && failure) failure = std::move(done);
  return is_done;
}

/// The bytes of a kernel as a driver loads them: a cubin, or PTX with a 0 behind it.
Result<Bytes> code_of(std::string_view given) {
  constexpr std::string_view kCubin =
      "\x7f"
      "ELF";
  std::string_view text = given.substr(0, given.find('\0'));
  const bool is_ptx = !given.starts_with(kCubin) && text.find(".version") != text.npos;
  if (!is_ptx && !given.starts_with(kCubin))
    return error(Code::kUnsupported, "getKernel gave ", given.size(),
                 " bytes that are neither PTX (text with a line .version) nor a cubin (an ELF file)");
  const std::string_view whole = is_ptx ? text : given;
  const auto bytes = std::as_bytes(std::span(whole));
  Bytes code(bytes.begin(), bytes.end());
  if (is_ptx) code.push_back({});
  return code;
}

}  // namespace

Result<sym::Expr> read_expression(nv::ISymExpr* given, const ShapeExpressions& expressions, std::string_view what) {
  if (!given) return error(Code::kInvalidArgument, what, " is null");
  if (const nv::PluginArgType type = given->getType(); type != nv::PluginArgType::kINT)
    return error(Code::kInvalidArgument, what, " is of type ", static_cast<int32_t>(type), "; kINT is the only one");
  const void* const expression = given->getExpr();
  if (!expression) return error(Code::kInvalidArgument, what, " has no expression (getExpr returned null)");
  const sym::Expr* const value = expressions.find(expression);
  if (!value)
    return error(Code::kInvalidArgument, what,
                 " is of an expression that neither this call's IExprBuilder made nor its inputs have");
  if (!value->is_valid()) return error(Code::kInvalidArgument, what, ": ", value->why_invalid());
  return *value;
}

bool LaunchNumbers::set(LaunchNumber which, nv::ISymExpr* by) noexcept {
  return kept(failure_, [&]() -> Status {
    const auto i = static_cast<size_t>(which);
    numbers_[i] = TRY(read_expression(by, expressions_, kLaunchNumberNames[i]));
    given_[i] = by;
    return {};
  });
}

nv::ISymExpr* ExtraArguments::getSymExpr(int32_t index) const noexcept {
  return index >= 0 && index < getNbSymExprs() ? arguments_[static_cast<size_t>(index)].given : nullptr;
}

bool ExtraArguments::setSymExpr(int32_t index, nv::ISymExpr* by) noexcept {
  return kept(failure_, [&]() -> Status {
    TRY(require(index >= 0 && index < getNbSymExprs(), "extra argument ", index, " is outside [0, ", getNbSymExprs(),
                "), as setNbSymExprs has it"));
    const std::string what = str("extra argument ", index);
    const sym::Expr value = TRY(read_expression(by, expressions_, what));
    const int bytes = TRY(bytes_of(by->getDataType(), what));
    arguments_[static_cast<size_t>(index)] = {by, value, bytes};
    return {};
  });
}

bool ExtraArguments::setNbSymExprs(int32_t count) noexcept {
  return kept(failure_, [&]() -> Status {
    TRY(require(count >= 0 && count <= kMostArguments, "setNbSymExprs got ", count, "; 0 to ", kMostArguments,
                " extra arguments are possible"));
    arguments_.resize(static_cast<size_t>(count));
    return {};
  });
}

Status ExtraArguments::take(PluginKernel& kernel) const {
  TRY(failure_);
  for (size_t i = 0; i < arguments_.size(); ++i) {
    TRY(require(arguments_[i].bytes > 0, "extra argument ", i, " of ", arguments_.size(), " was not set"));
    kernel.scalars.push_back(arguments_[i].value);
    kernel.scalar_bytes.push_back(arguments_[i].bytes);
  }
  return {};
}

Result<PluginKernel> ask_kernel(nv::IPluginV3QuickAOTBuild& plugin, const PluginIdentity& identity,
                                std::span<const nv::DimsExprs> shapes, ShapeExpressions& expressions,
                                std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) {
  PluginKernel kernel;
  const auto num_in = static_cast<int32_t>(inputs.size()), num_out = static_cast<int32_t>(outputs.size());
  std::vector<nv::DynamicPluginTensorDesc> all = dynamic_descs_of(inputs);
  std::ranges::copy(dynamic_descs_of(outputs), std::back_inserter(all));
  LaunchNumbers numbers(expressions);
  ExtraArguments extra(expressions);
  TRY(returned(identity, "getLaunchParams",
               plugin.getLaunchParams(shapes.data(), all.data(), num_in, num_out, &numbers, &extra, expressions)));
  const auto where = [&] { return str(identity, ": getLaunchParams"); };
  TRY(in_context(numbers.failure(), where));
  TRY(in_context(extra.take(kernel), where));
  kernel.launch = numbers.numbers();

  const auto in = descs_of(inputs), out = descs_of(outputs);
  const char* name = nullptr;
  char* code = nullptr;
  int32_t size = 0;
  TRY(returned(identity, "getKernel", plugin.getKernel(in.data(), num_in, out.data(), num_out, &name, &code, &size)));
  TRY(require(name && *name, identity, ": getKernel gave no name of the kernel"));
  TRY(require(code && size > 0, identity, ": getKernel gave no code: ", size, " bytes at ", code ? "an" : "no",
              " address"));
  kernel.entry = name;
  kernel.code = TRY(in_context(code_of({code, static_cast<size_t>(size)}), [&] { return str(identity); }));
  return kernel;
}

}  // namespace kiln::plugin
