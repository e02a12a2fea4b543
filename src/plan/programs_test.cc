#include "plan/programs.h"

#include <gtest/gtest.h>

#include "sym/program_words.h"
#include "sym/table.h"

namespace kiln::plan {
namespace {

/// Makes programs, each of a symbol of its own.
struct Programs {
  sym::Program next() { return sym::Program::compile(table.fresh("s")); }
  sym::Guard guard() {
    sym::Guard result;
    result.lhs = next(), result.rhs = next();
    return result;
  }
  size_t count() const { return table.symbols().size(); }
  sym::Table table;
};

void fill(Block& block, Programs& programs) {
  block.known_sizes = {{0, programs.next()}};
  Tensor tensor;
  tensor.extents = {programs.next(), programs.next()};
  tensor.place = Place::kView;
  tensor.offset = programs.next();
  block.tensors = {tensor};
  Step step;
  step.params = {programs.next()};
  step.sizes = {{1, programs.next()}};
  step.alternatives.resize(1);
  step.alternatives[0].params = {programs.next(), programs.next()};
  block.steps = {step};
}

/// How many symbols are read, each once.
template <class T>
size_t num_read(const T& holder) {
  std::vector<int> symbols;
  for_each_program(holder, [&](const sym::Program& program) {
    for (const int symbol : sym::operands_of(program).symbols) symbols.push_back(symbol);
  });
  std::ranges::sort(symbols);
  EXPECT_TRUE(std::ranges::adjacent_find(symbols) == symbols.end());
  return symbols.size();
}

TEST(Programs, OfABlockAreAllVisited) {
  Programs programs;
  Profile profile;
  fill(profile, programs);
  EXPECT_EQ(num_read<Block>(profile), programs.count());
}
TEST(Programs, OfABodyAreAllVisited) {
  Programs programs;
  Body body;
  fill(body, programs);
  body.inputs.resize(1), body.outputs.resize(1);
  body.inputs[0].extents = {programs.next()};
  body.outputs[0].extents = {programs.next()}, body.outputs[0].values = {programs.next()};
  body.guards = {programs.guard()};
  EXPECT_EQ(num_read(body), programs.count());
}

}  // namespace
}  // namespace kiln::plan
