#include "ops/if_input.h"

#include "ops/define.h"
#include "ops/group.h"

namespace kiln {
template const OpInfo& op_info<ops::IfInput>();

namespace ops {

Status IfInput::infer(InferContext& cx) const { return cx.set_output(0, TRY(cx.input_type(0))); }

Status IfInput::reference(ReferenceContext&) const { return boundary_has_no_reference(name); }

}  // namespace ops
}  // namespace kiln
