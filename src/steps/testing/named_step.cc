#include "steps/testing/named_step.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::NamedStep>();
