/// The files of `trtexec --exportLayerInfo` and `--exportProfile`, Kiln's and TensorRT's, as pictures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/record.h"
#include "picture.h"

namespace kiln {

/// The times of layers by name, in the order of a profile's file.
struct ProfileTimes {
  struct Layer {
    std::string name;
    double ms = 0;  ///< the median where the file has one, else the mean
  };
  int64_t num_runs = 0;
  std::vector<Layer> layers;
};

/// Whether the data is a profile: a list whose first entry has a count.
bool is_profile(const Datum& file);

/// Fails at what is no file of `--exportProfile`, and says where.
Result<ProfileTimes> read_profile(const Datum& file);

/// The picture of what tells of layers: a file of `--exportLayerInfo`, one layer of an inspector, or a list of such
/// layers. Edges are tensors of one name. TensorRT names the layers and tensors of profiles but the first "NAME
/// [profile N]"; those of `profile` are shown. Fails at anything else, and says where and, if that is known, what the
/// file is; and where it has no layers of the profile.
Result<Picture> read_layer_info(const Datum& file, int profile = 0);

/// The picture of layers of which only times are known.
Picture picture_of(const ProfileTimes& times);

/// Gives each layer the time that the profile has under its name. Layers that share a name and a time share it evenly.
/// Fails where the profile has a time for none of them: it is of another engine.
Status add_times(const ProfileTimes& times, Picture& picture);

}  // namespace kiln
