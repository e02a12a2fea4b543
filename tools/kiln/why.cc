/// kiln why: what could have run a layer, and why it is run as it is.
#include "base/mapped_file.h"
#include "cli/files.h"
#include "commands.h"
#include "explain.h"
#include "plan/reader.h"

namespace kiln {

Status run_why(const cli::Arguments& arguments) {
  const auto operands = arguments.operands();
  const std::string& path = operands[1];
  const auto file = TRY(MappedFile::open(path));
  const auto plan = TRY(in_context(plan::read_plan(file->bytes(), file), [&] { return path; }));
  const std::string text = operands.size() == 2 ? list_steps(*plan) : TRY(explain(*plan, operands[2]));
  cli::write_stdout(text, "layers");
  return {};
}

}  // namespace kiln
