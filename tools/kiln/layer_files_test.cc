#include "layer_files.h"

#include <gtest/gtest.h>

#include "plan/json.h"

namespace kiln {
namespace {

/// As TensorRT 10's trtexec writes it, shortened.
constexpr std::string_view kInfo = R"({"Layers": [{
  "Name": "conv1 + relu1", "LayerType": "CaskConvolution",
  "Inputs": [{"Name": "x", "Location": "Device", "Dimensions": [1,3,8,8], "Format/Datatype": "Row major linear FP32"}],
  "Outputs": [{"Name": "h", "Location": "Device", "Dimensions": [1,4,8,8], "Format/Datatype": "Channel major FP16 format where channel % 8 == 0"}],
  "ParameterType": "Convolution", "TacticName": "sm90_xmma_fprop", "StreamId": 0,
  "Metadata": "[ONNX Layer: conv1]\u001e[ONNX Layer: relu1]"
},{
  "Name": "pool1", "LayerType": "Pooling",
  "Inputs": [{"Name": "h", "Dimensions": [1,4,8,8], "Format/Datatype": "Channel major FP16 format where channel % 8 == 0"}],
  "Outputs": [{"Name": "y", "Dimensions": [1,4,4,4], "Format/Datatype": "Row major linear FP32"}]
}], "Bindings": ["x", "y"]})";

Result<Picture> read_info(std::string_view text) { return read_layer_info(*plan::parse_json(text)); }
std::string problem_of_info(std::string_view text) {
  const Result<Picture> read = read_info(text);
  return read ? "none" : read.error().message;
}
Result<ProfileTimes> read_times(std::string_view text) { return read_profile(*plan::parse_json(text)); }
std::string problem_of_times(std::string_view text) {
  const Result<ProfileTimes> read = read_times(text);
  return read ? "none" : read.error().message;
}

TEST(LayerFiles, EdgesAreTensorsOfOneName) {
  const Picture picture = *read_info(kInfo);
  ASSERT_EQ(picture.steps.size(), 2U);
  ASSERT_EQ(picture.blocks.size(), 1U);
  const DrawnBlock& block = picture.blocks[0];
  ASSERT_EQ(block.tensors.size(), 3U);
  EXPECT_EQ(picture.steps[0].outputs, picture.steps[1].inputs);
  EXPECT_EQ(block.tensors[1].name, "h");
  EXPECT_EQ(block.tensors[1].extents, (Extents{1, 4, 8, 8}));
  EXPECT_EQ(block.inputs, std::vector<int>{0});
  EXPECT_EQ(block.outputs, std::vector<int>{2});
  EXPECT_EQ(picture.steps[0].origins, (std::vector<std::string>{"[ONNX Layer: conv1]", "[ONNX Layer: relu1]"}));
  EXPECT_EQ(picture.notes, std::vector<std::string>{"Layer information does not say where tensors lie in memory."});
}

TEST(LayerFiles, NamesAloneAreLayersToo) {
  const Picture picture = *read_info(R"({"Layers": ["a", "b"], "Bindings": []})");
  ASSERT_EQ(picture.steps.size(), 2U);
  EXPECT_EQ(picture.steps[1].name, "b");
  EXPECT_TRUE(picture.notes[0].starts_with("The file has the names of layers only")) << picture.notes[0];
  EXPECT_EQ(read_info(R"({"Layers": []})")->steps.size(), 0U);
}

TEST(LayerFiles, BodiesAreBlocksOfTheLayerThatTheyName) {
  const Picture picture = *read_info(R"({"Layers": [{"Name": "a"}, {"Name": "v"},
      {"Name": "t", "Body": "iteration of Loop 'v'"}, {"Name": "u", "Body": "iteration of Loop 'v'"}, {"Name": "b"}]})");
  ASSERT_EQ(picture.blocks.size(), 2U);
  EXPECT_EQ(picture.blocks[1].around, 1);
  EXPECT_EQ(picture.steps[1].bodies, std::vector<int>{1});
  EXPECT_EQ(picture.steps[3].block, 1);
  EXPECT_EQ(picture.steps[4].block, 0);
}

TEST(LayerFiles, SayWhatIsWrong) {
  EXPECT_TRUE(problem_of_info("{}").starts_with("no layer information: an object with \"Layers\" is needed"));
  EXPECT_EQ(problem_of_info(R"({"Layers": 3})"), "entry 'Layers' is 3; a list is needed");
  EXPECT_EQ(problem_of_info(R"({"Layers": ["a", 3]})"), "layer 1 is 3; a name or an object is needed");
  EXPECT_EQ(problem_of_info(R"({"Layers": [{"Nam": "a"}]})"), "layer 0: entry 'Name' is missing");
  EXPECT_TRUE(problem_of_times("[]").starts_with("no profile: a list is needed"));
  EXPECT_EQ(problem_of_times(R"([{"count": 2}, 7])"), "entry 1 of the profile is 7; an object is needed");
  EXPECT_EQ(problem_of_times(R"([{"count": 2}, {"name": "a"}])"),
            "layer 'a' of the profile: entry 'averageMs' is missing");
  EXPECT_EQ(problem_of_times(R"([{"count": 2}, {"name": "a", "averageMs": -1}])"),
            "layer 'a' of the profile: averageMs is -1; a time is not negative");
}

TEST(LayerFiles, TimesFindTheirLayers) {
  Picture picture = *read_info(kInfo);
  const ProfileTimes times = *read_times(
      R"([{"count": 12}, {"name": "pool1", "timeMs": 9, "averageMs": 3, "medianMs": 2}, {"name": "z", "averageMs": 1}])");
  ASSERT_TRUE(add_times(times, picture));
  EXPECT_EQ(picture.steps[0].ms, -1);
  EXPECT_EQ(picture.steps[1].ms, 2);
  EXPECT_EQ(picture.times, "from a profile of 12 runs");
  EXPECT_EQ(picture.notes.back(), "The profile has times of 1 layers that are not among these.");
  const Status strange = add_times(*read_times(R"([{"count": 1}, {"name": "q", "averageMs": 1}])"), picture);
  EXPECT_EQ(strange.error().message,
            "the profile has 1 layers, none of which is called as a layer of the engine; it is of another one");
}

/// trtexec counts layers of one name as one.
TEST(LayerFiles, LayersOfOneNameShareTheirTime) {
  Picture picture = *read_info(R"({"Layers": ["a", "b", "a"]})");
  ASSERT_TRUE(add_times(*read_times(R"([{"count": 1}, {"name": "a", "averageMs": 4}])"), picture));
  EXPECT_EQ(picture.steps[0].ms, 2);
  EXPECT_EQ(picture.steps[2].ms, 2);
  EXPECT_EQ(picture.notes.back(), "2 layers share their name, and so their time in the profile, with others.");
}

}  // namespace
}  // namespace kiln
