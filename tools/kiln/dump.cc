/// kiln dump m.onnx --after=PASS: the graph as text.
#include <cstdio>
#include <string>

#include "arguments.h"
#include "commands.h"
#include "passes/pass.h"

namespace kiln {
namespace {
struct Wanted {
  std::string pass;
  std::string text;
};
Status keep(void* user, std::string_view pass, const ir::Graph& graph) {
  auto& wanted = *static_cast<Wanted*>(user);
  if (pass == wanted.pass) wanted.text = ir::print(graph);
  return {};
}
}  // namespace

Status run_dump(const Arguments& arguments) {
  TRY(require(arguments.words.size() == 2, "usage: kiln dump m.onnx [--after=PASS]"));
  ir::Graph graph = TRY(import_file(arguments.words[1]));
  Wanted wanted{arguments.get("after"), {}};
  if (wanted.pass == "import") return std::fputs(ir::print(graph).c_str(), stdout), Status{};
  std::string names = "import";
  bool known = wanted.pass.empty();
  for (const passes::NamedPass& pass : passes::pipeline()) {
    names += str(", ", pass.name);
    known |= pass.name == wanted.pass;
  }
  TRY(require(known, "no pass is called '", wanted.pass, "'; there are ", names));
  NullLog log;
  passes::PassContext cx{log};
  cx.after = keep;
  cx.after_user = &wanted;
  TRY(passes::run_pipeline(graph, cx));
  std::fputs(wanted.pass.empty() ? ir::print(graph).c_str() : wanted.text.c_str(), stdout);
  return {};
}

}  // namespace kiln
