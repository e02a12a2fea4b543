#include "backend/cuda/compile/kernel_source.h"

#include <algorithm>

#include "backend/cuda/compile/embedded.h"

namespace kiln::cuda {

std::string_view embedded_source(std::string_view file) {
  for (const EmbeddedFile& embedded : embedded_files())
    if (embedded.name == file) return embedded.text;
  return {};
}

namespace {

/// Before the path of a header that the host's compiler includes too.
constexpr std::string_view kShared = "backend/cuda/kernels/";

/// The name that a line includes; empty if it includes nothing.
std::string_view included_name(std::string_view line) {
  const auto skip = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  skip();
  if (!line.starts_with('#')) return {};
  line.remove_prefix(1);
  skip();
  if (!line.starts_with("include")) return {};
  line.remove_prefix(7);
  skip();
  if (!line.starts_with('"') && !line.starts_with('<')) return {};
  const size_t end = line.find_first_of("\">", 1);
  return end == line.npos ? std::string_view() : line.substr(1, end - 1);
}

Status add_headers(std::string_view text, std::string_view from, KernelText& out) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view name = included_name(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (name.empty() || std::ranges::any_of(out.headers, [&](const auto& h) { return h.first == name; })) continue;
    std::string_view header = embedded_source(str("include/", name));
    if (header.empty()) header = embedded_source(name.starts_with(kShared) ? name.substr(kShared.size()) : name);
    if (header.empty())
      return error(Code::kNotFound, "kernel file '", from, "' includes '", name, "', which is not embedded in Kiln");
    out.headers.emplace_back(name, header);
    TRY(add_headers(header, name, out));
  }
  return {};
}

std::string text_of_choices(const Record& choices) {
  std::string types, numbers;
  for (const auto& [name, value] : choices.entries())
    if (const auto* type = std::get_if<std::string>(&value.variant()))
      types += str("using ", name, " = ", *type, ";\n");
    else
      numbers += str(std::holds_alternative<bool>(value.variant()) ? "  bool " : "  int ", name, " = ", value, ";\n");
  return str("#include \"ptx/floats.cuh\"\nnamespace kiln {\n", types, "constexpr struct {\n", numbers,
             "} kTile;\n}  // namespace kiln\n");
}

}  // namespace

void add_choices(KernelSource& source, const Record& parameters, std::span<const std::string_view> unread) {
  for (const auto& [name, value] : parameters.entries())
    if (const auto* nested = std::get_if<Record>(&value.variant()))
      add_choices(source, *nested, unread);
    else if (!std::holds_alternative<std::string>(value.variant()) && !std::ranges::count(unread, name))
      source.choices.set(name, value);
}

std::string entry_text(std::string_view entry, std::string_view bounds, std::string_view parameters,
                       std::string_view call) {
  return str("extern \"C\" __global__ void __launch_bounds__(", bounds, ") ", entry, '(', parameters,
             ") {\n  using namespace kiln;\n  ", call, ";\n}\n");
}
std::string struct_parameter(std::string_view type) { return str("const __grid_constant__ kiln::", type, " args"); }

Result<KernelText> text_of(const KernelSource& source) {
  KernelText result;
  result.main = source.prelude;
  if (!source.choices.empty()) result.main += text_of_choices(source.choices);
  if (!source.file.empty()) {
    const std::string_view text = embedded_source(source.file);
    if (text.empty()) return error(Code::kNotFound, "there is no kernel file '", source.file, "'");
    if (!result.main.empty()) result.main += str("\n#line 1 \"", source.file, "\"\n");
    result.main += text;
  }
  result.main += source.end;
  TRY(add_headers(result.main, source.file.empty() ? "prelude" : source.file, result));
  return result;
}

}  // namespace kiln::cuda
