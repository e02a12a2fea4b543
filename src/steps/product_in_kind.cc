#include "steps/product_in_kind.h"

#include "steps/define.h"
#include "steps/product_shape.h"
#include "tensor/compute_types.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::ProductInKind>();

namespace kiln::steps {

Status ProductInKind::check(const StepTypes& types) const {
  const DType a = types.inputs[0].dtype, b = types.inputs[1].dtype, y = types.outputs[0].dtype;
  TRY(require(is_own_kind(a) && a == b && a == y, "a product of ", a, " and ", b, " that makes ", y,
              "; f64, i32 and i64 are computed in their own type"));
  TRY(require_linear(types, 0));
  return require_linear(types, 1);
}

Status ProductInKind::check(const StepTypes&, const StepShapes& shapes) const { return check_product(op, shapes); }

}  // namespace kiln::steps
