/// Layers in groups: loops, conditionals and attentions, which are the layers at their boundaries.
#pragma once

#include <NvInfer.h>

#include <string>
#include <utility>

namespace kiln::api {

namespace nv = nvinfer1;
class Network;

/// A loop, a conditional or an attention of a network. What belongs to a loop or conditional is found from its
/// boundaries when the network is built (passes/structure_regions.h); the object has no more than a name and the id
/// that the boundaries carry.
class Group {
 public:
  Group(Network& network, int id, std::string name) : network_(network), id_(id), name_(std::move(name)) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  virtual ~Group() = default;
  const std::string& name() const { return name_; }
  virtual nv::ILoop* loop() { return nullptr; }
  virtual nv::IIfConditional* conditional() { return nullptr; }
  virtual nv::IAttention* attention() { return nullptr; }

 protected:
  Network& network() const { return network_; }
  int id() const { return id_; }
  bool set_name(const char* name, const char* call) noexcept;  ///< false on an error

 private:
  Network& network_;
  const int id_;
  std::string name_;
};

}  // namespace kiln::api
