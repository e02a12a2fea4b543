/// Cases of an op, declared beside its tests: every backend and every claiming tactic runs them against `reference`.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "ops/op.h"
#include "tensor/host_tensor.h"

namespace kiln {

/// How an input's elements are made; all are seeded by the case's name.
enum class Fill : uint8_t {
  kNormal,    ///< float: standard normal. integer: uniform in [-5, 5] ([0, 5] unsigned). bool: even odds
  kPositive,  ///< float: uniform in [0.1, 2]. integer: uniform in [1, 5]
  kHuge,      ///< float: normal times 1e4 (3e3 in f16)
  kSpecial,   ///< float: normal with NaN, infinities and zeros of both signs sprinkled in
  kIndex      ///< integer: uniform in [-count, count) of CaseInput::count
};

/// An input of a case: its type and either a way to fill it or literal elements.
struct CaseInput {
  Extents extents;
  DType dtype = DType::kF32;
  Fill fill = Fill::kNormal;
  std::vector<double> literal;  ///< used if not empty
  int64_t count = 1;            ///< of Fill::kIndex
  bool absent = false;          ///< an optional input that is not there
  bool constant = false;        ///< must be a Constant in the graph (weights, shapes); others are network inputs
};

struct Case {
  std::string name;
  Op op;
  std::vector<CaseInput> inputs;
  double tolerance = 0;  ///< relative to the largest output; 0: derived from the output type
};

/// Every case registered by CaseTable objects of this executable, in order of registration.
std::vector<Case>& all_cases();
/// The elements of an input, from the case's name and the input's position.
HostTensor fill_input(const Case& c, int input);

/// Registers cases of one op: `const CaseTable<Softmax> kCases{{"outermost", {.axis = 0}, {{{4, 5}}}}, ...};`
template <class T>
struct CaseTable {
  struct Row {
    std::string name;
    T op;
    std::vector<CaseInput> inputs;
    double tolerance = 0;
  };
  CaseTable(std::initializer_list<Row> rows) {
    for (const Row& row : rows)
      all_cases().push_back({str(T::name, ": ", row.name), row.op, row.inputs, row.tolerance});
  }
};

/// Runs an op's reference on float inputs given as nested literals; CHECKs that it succeeds. For known answers.
std::vector<double> run_reference_numbers(const Op& op, const std::vector<CaseInput>& inputs);
/// The message of the error that inference gives for these inputs; empty if it succeeds.
std::string infer_error(const Op& op, const std::vector<CaseInput>& inputs);

}  // namespace kiln
