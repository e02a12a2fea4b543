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
std::vector<std::string> names_of(const Picture& picture) {
  std::vector<std::string> names;
  for (const DrawnStep& step : picture.steps) names.push_back(step.name);
  return names;
}
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
  EXPECT_EQ(names_of(*read_info(R"("conv1")")), std::vector<std::string>{"conv1"}) << "what an inspector tells of one";
  EXPECT_EQ(problem_of_info(R"({"Layers": 3})"), "entry 'Layers' is 3; a list is needed");
  EXPECT_EQ(problem_of_info(R"({"Layers": ["a", 3]})"), "layer 1 is 3; a name or an object is needed");
  EXPECT_EQ(problem_of_info(R"({"Layers": [{"Nam": "a"}]})"), "layer 0: entry 'Name' is missing");
  EXPECT_TRUE(problem_of_times("[]").starts_with("no profile: a list is needed"));
  EXPECT_EQ(problem_of_times(R"([{"count": 2}, 7])"), "entry 1 of the profile is 7; an object is needed");
  EXPECT_EQ(problem_of_times(R"([{"count": 2}, {"name": "a"}])"),
            "layer 'a' of the profile: entry 'averageMs' is missing");
  EXPECT_EQ(problem_of_times(R"([{"count": 2}, {"name": "a", "averageMs": -1}])"),
            "layer 'a' of the profile: averageMs is -1; a time is not negative, and less than 1e+15 ms");
  EXPECT_TRUE(problem_of_times(R"([{"count": 2}, {"name": "a", "averageMs": 1e308}])")
                  .starts_with("layer 'a' of the profile: averageMs is 1e+308"));
}

/// The page follows views to their ends.
TEST(LayerFiles, ViewsInACircleAreRefused) {
  const auto views = [](std::string_view list) {
    return str(R"({"Layers": [{"Name": "l", "Inputs": [)", list, R"(], "Outputs": [{"Name": "y"}]}]})");
  };
  EXPECT_EQ(problem_of_info(views(R"({"Name": "a", "ViewOf": "b"}, {"Name": "b", "ViewOf": "a"})")),
            "tensor 'a' is a view of itself: \"ViewOf\" leads from it to 'b' and back; a view is needed that ends at a "
            "tensor with memory of its own");
  EXPECT_TRUE(problem_of_info(views(R"({"Name": "t", "ViewOf": "a"}, {"Name": "a", "ViewOf": "b"},
                                       {"Name": "b", "ViewOf": "c"}, {"Name": "c", "ViewOf": "a"})"))
                  .starts_with("tensor 'a' is a view of itself"));
  EXPECT_EQ(problem_of_info(views(R"({"Name": "a", "ViewOf": "c"}, {"Name": "b", "ViewOf": "c"},
                                     {"Name": "c", "ViewOf": "d"}, {"Name": "e", "ViewOf": "b"})")),
            "none");
}

TEST(LayerFiles, TimesFindTheirLayers) {
  Picture picture = *read_info(kInfo);
  const ProfileTimes times = *read_times(
      R"([{"count": 12}, {"name": "pool1", "timeMs": 9, "averageMs": 3, "medianMs": 2}, {"name": "z", "averageMs": 1}])");
  ASSERT_TRUE(add_times(times, picture));
  EXPECT_EQ(picture.steps[0].ms, -1);
  EXPECT_EQ(picture.steps[1].ms, 2);
  EXPECT_EQ(picture.times, "from a profile of 12 runs");
  EXPECT_EQ(picture.notes.back(), "The profile has times of 1 layer not among these.");
  const Status strange = add_times(*read_times(R"([{"count": 1}, {"name": "q", "averageMs": 1}])"), picture);
  EXPECT_EQ(strange.error().message,
            "the profile has 1 layer, none of which is called as a layer of the engine; it is of another one");
}

/// As TensorRT writes an engine of two profiles: all their layers in one list, those of the second marked.
constexpr std::string_view kTwoProfiles = R"({"Layers": [
  {"Name": "a + b", "LayerType": "kgen", "Inputs": [{"Name": "x", "Dimensions": [-1,4], "Format/Datatype": "N/A due to dynamic shapes"}],
   "Outputs": [{"Name": "y", "Dimensions": [-1,4], "Format/Datatype": "N/A due to dynamic shapes"}], "Metadata": "[ONNX Layer: a]\u001f[ONNX Layer: b]"},
  {"Name": "Reformatting CopyNode for Input Tensor 0 to a + b [profile 1]", "LayerType": "Reformat",
   "Inputs": [{"Name": "x [profile 1]", "Dimensions": [-1,4], "Format/Datatype": "Float"}], "Outputs": [{"Name": "r [profile 1]", "Dimensions": [-1,4], "Format/Datatype": "Half"}]},
  {"Name": "a + b [profile 1]", "LayerType": "kgen", "Inputs": [{"Name": "r [profile 1]", "Dimensions": [-1,4], "Format/Datatype": "Half"}],
   "Outputs": [{"Name": "y [profile 1]", "Dimensions": [-1,4], "Format/Datatype": "Float"}]}
  ], "Bindings": ["x", "y", "x [profile 1]", "y [profile 1]"]})";

TEST(LayerFiles, OfSeveralProfilesOneIsShown) {
  const Picture first = *read_info(kTwoProfiles);
  EXPECT_EQ(names_of(first), std::vector<std::string>{"a + b"});
  EXPECT_EQ(first.steps[0].origins, (std::vector<std::string>{"[ONNX Layer: a]", "[ONNX Layer: b]"}));
  EXPECT_EQ(first.blocks[0].tensors[0].extents, (Extents{-1, 4}));
  EXPECT_EQ(first.facts.size(), 2U);
  EXPECT_EQ(first.notes.back(), "The file has 2 layers of other profiles; --useProfile=1 shows those of profile 1.");
  const Picture second = *read_layer_info(*plan::parse_json(kTwoProfiles), 1);
  EXPECT_EQ(names_of(second), (std::vector<std::string>{"Reformatting CopyNode for Input Tensor 0 to a + b [profile 1]",
                                                        "a + b [profile 1]"}));
  EXPECT_EQ(second.facts[1].text, "y [profile 1]");
  EXPECT_EQ(second.blocks[0].tensors.size(), 3U);
  EXPECT_EQ(read_layer_info(*plan::parse_json(kTwoProfiles), 2).error().message,
            "the file has no layers of profile 2; it has those of profile 0, 1");
  EXPECT_EQ(names_of(*read_info(R"({"Layers": ["a [profile x]", "b [profile 1", "c[profile]"]})")).size(), 3U);
}

/// What a layer reads and none writes is no input where the file says which tensors are bound; and an output that other
/// layers read is one all the same.
TEST(LayerFiles, BindingsAreInputsAndOutputs) {
  constexpr std::string_view kText = R"({"Layers": [
    {"Name": "a", "Inputs": [{"Name": "x"}, {"Name": "weights of a"}], "Outputs": [{"Name": "h"}]},
    {"Name": "b", "Inputs": [{"Name": "h"}], "Outputs": [{"Name": "y"}, {"Name": "unread"}]}], "Bindings": ["x", "h", "y"]})";
  const Picture picture = *read_info(kText);
  const DrawnBlock& block = picture.blocks[0];
  const auto names = [&](const std::vector<int>& ids) {
    std::vector<std::string> list;
    for (const int id : ids) list.push_back(block.tensors[static_cast<size_t>(id)].name);
    return list;
  };
  EXPECT_EQ(names(block.inputs), std::vector<std::string>{"x"});
  EXPECT_EQ(names(block.outputs), (std::vector<std::string>{"h", "y"}));
}

/// `IEngineInspector::getLayerInformation` tells one layer; scripts collect these in a list.
TEST(LayerFiles, LayersOfAnInspectorAreShownToo) {
  EXPECT_EQ(names_of(*read_info(R"({"Name": "a", "LayerType": "Reformat"})")), std::vector<std::string>{"a"});
  EXPECT_EQ(names_of(*read_info(R"([{"Name": "a"}, {"Name": "b"}])")), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(names_of(*read_info(R"(["a", "b"])")), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(problem_of_info(R"([{"Name": "a"}, {"name": "b"}])"), "layer 1: entry 'Name' is missing");
}

TEST(LayerFiles, OtherReportsOfTrtexecAreNamed) {
  EXPECT_EQ(problem_of_info(R"([{"startEnqMs": 1, "computeMs": 0.5, "latencyMs": 0.5}])"),
            "no layer information: an object with \"Layers\" is needed, as trtexec --exportLayerInfo writes it; these "
            "are times of whole runs, as trtexec --exportTimes writes them; those of layers are in the file of "
            "--exportProfile");
  EXPECT_TRUE(problem_of_info(R"([{"name": "y", "dimensions": "1x4", "values": [1, 2]}])")
                  .ends_with("these are values of outputs, as trtexec --exportOutput writes them"));
  for (const char* text : {"[]", "3", "null", "[3]", "[[]]"})
    EXPECT_TRUE(problem_of_info(text).starts_with("no layer information")) << text;
}

/// Older versions of TensorRT write no medians, and some tools keep no count.
TEST(LayerFiles, ProfilesOfOlderVersionsAreRead) {
  const ProfileTimes times =
      *read_times(R"([{"count": 3}, {"name": "a", "timeMs": 6, "averageMs": 2, "percentage": 100}])");
  EXPECT_EQ(times.num_runs, 3);
  EXPECT_EQ(times.layers[0].ms, 2);
  EXPECT_EQ(read_times(R"([{"name": "a", "averageMs": 2}])")->layers.size(), 1U);
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
