/// The shapes of inputs that the command line asks for: those to build for and those to run at.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flags.h"
#include "shapes.h"

namespace kiln::cli {

/// The shapes of a tensor, or the values of a shape tensor, that a plan has to run.
struct ShapeRange {
  Extents min, opt, max;
};
using NamedRanges = std::vector<std::pair<std::string, ShapeRange>>;

struct RequestedShapes {
  NamedRanges build;
  NamedExtents run;
};

/// Reads --minShapes, --optShapes, --maxShapes and --shapes. One of the first three that is missing takes the shapes of
/// another one, with a warning; the build and the run take each other's for tensors that their own flags don't name.
RequestedShapes read_shapes(const Arguments& arguments, std::vector<std::string>& warnings);

/// One entry a profile; at least one.
struct RequestedProfiles {
  std::vector<NamedRanges> build;
  NamedExtents run;
};

/// The same with several optimization profiles: each --profile=N is followed by the shapes of profile N. The run uses
/// profile `used`. Fails where profiles are missing, given twice, or without shapes.
RequestedProfiles read_profiles(const Arguments& arguments, int used, std::vector<std::string>& warnings);

/// Shapes of --minShapesCalib, --optShapesCalib and --maxShapesCalib: the second alone or all three, as TensorRT has
/// it.
NamedRanges read_calibration_shapes(const Arguments& arguments);

}  // namespace kiln::cli
