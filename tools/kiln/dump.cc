/// kiln dump: the graph as text.
#include <cstdio>
#include <string>

#include "builder/specialize.h"
#include "cli/files.h"
#include "commands.h"
#include "network.h"
#include "passes/pass.h"

namespace kiln {
namespace {
struct DumpWanted {
  std::string pass;
  bool verify = false;
  bool count = false;
  std::string text;
};
Status after_pass(void* user, std::string_view pass, const ir::Graph& graph) {
  auto& wanted = *static_cast<DumpWanted*>(user);
  if (pass == wanted.pass) wanted.text = ir::print(graph);
  if (wanted.count) std::fprintf(stderr, "%6d nodes  %s\n", count_nodes(graph), str(pass).c_str());
  if (wanted.verify) TRY(in_context(ir::verify(graph), [&] { return str("after ", pass); }));
  return {};
}
class PassTimes final : public Log {
 public:
  void write(Severity, std::string_view message) override { std::fprintf(stderr, "%s\n", str(message).c_str()); }
};
}  // namespace

Status run_dump(const cli::Arguments& arguments) {
  ir::Graph graph = TRY(import_file(arguments.operands()[1]));
  const cli::NamedRanges shapes = read_shapes(arguments).build;
  if (!shapes.empty()) graph = TRY(specialize(graph, profile_of(graph, shapes))).graph;
  DumpWanted wanted{arguments.text("--after"), arguments.has("--verify"), arguments.has("--count"), {}};
  if (wanted.pass == "import") return cli::write_stdout(ir::print(graph), "graph"), Status{};
  std::string names = "import";
  bool known = wanted.pass.empty();
  for (const passes::NamedPass& pass : passes::pipeline()) {
    names += str(", ", pass.name);
    known |= pass.name == wanted.pass;
  }
  TRY(require(known, "no pass is called '", wanted.pass, "'; there are ", names));
  NullLog silence;
  PassTimes times;
  passes::PassContext cx{arguments.has("--verbose") ? static_cast<Log&>(times) : silence};
  cx.after = after_pass;
  if (wanted.count) TRY(after_pass(&wanted, "import", graph));
  cx.after_user = &wanted;
  TRY(passes::run_pipeline(graph, cx));
  cli::write_stdout(wanted.pass.empty() ? ir::print(graph) : wanted.text, "graph");
  return {};
}

}  // namespace kiln
