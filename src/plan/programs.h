/// The programs of a plan's blocks: what a block reads of symbols.
#pragma once

#include "base/function_ref.h"
#include "plan/plan.h"

namespace kiln::plan {

using VisitProgram = FunctionRef<void(const sym::Program&)>;

/// Calls `visit` with the programs of a guard, of an input or output, and of all that a block or a body holds itself.
/// Bodies of a block's steps are not entered.
void for_each_program(const sym::Guard& guard, VisitProgram visit);
void for_each_program(const IoTensor& io, VisitProgram visit);
void for_each_program(const Block& block, VisitProgram visit);
void for_each_program(const Body& body, VisitProgram visit);

}  // namespace kiln::plan
