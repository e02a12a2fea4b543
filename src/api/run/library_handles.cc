#include "api/run/library_handles.h"

#include "backend/cuda/device/cublas.h"
#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/device/cudnn.h"

namespace kiln::api {
namespace {

namespace nv = nvinfer1;

/// The libraries that handles are made of; null: they get none of it.
struct Libraries {
  const cuda::Cudnn* cudnn = nullptr;
  const cuda::Cublas* cublas = nullptr;
};

/// One copy's handles, on one device.
class CudaHandles final : public plugin::LibraryHandles {
 public:
  static Result<std::unique_ptr<plugin::LibraryHandles>> make(const cuda::CudaDevice& device,
                                                              const Libraries& libraries) {
    auto made = std::make_unique<CudaHandles>(device, libraries);
    const cuda::CurrentContext current(device);
    if (libraries.cudnn) {
      cuda::CudnnContext* context = nullptr;
      TRY(libraries.cudnn->check(libraries.cudnn->create(&context), "a cuDNN handle for the plugin"));
      made->cudnn = reinterpret_cast<cudnnContext*>(context);
    }
    if (libraries.cublas) {
      cuda::CublasContext* context = nullptr;
      if (const int status = libraries.cublas->create(&context))
        return error(Code::kDevice, "a cuBLAS handle for the plugin: cuBLAS answers ", status);
      made->cublas = reinterpret_cast<cublasContext*>(context);
    }
    return made;
  }
  CudaHandles(const cuda::CudaDevice& device, const Libraries& libraries) : device_(device), libraries_(libraries) {}
  ~CudaHandles() override {
    const cuda::CurrentContext current(device_);
    if (cudnn) libraries_.cudnn->destroy(reinterpret_cast<cuda::CudnnContext*>(cudnn));
    if (cublas) libraries_.cublas->destroy(reinterpret_cast<cuda::CublasContext*>(cublas));
  }

 private:
  const cuda::CudaDevice& device_;
  const Libraries libraries_;
};

/// The library, if the sources have it and it can be loaded.
template <class Library>
const Library* library_of(nv::TacticSource source, const char* name, const char* flag, nv::TacticSources sources,
                          Log& log) {
  const std::string what = str("plugins of version 2 get null as the ", name, " handle of attachToContext: ");
  if (!(sources >> static_cast<uint32_t>(source) & 1U)) {
    log.info(what, "TacticSource::", flag, " is not among the build's tactic sources");
    return nullptr;
  }
  const Result<Ref<const Library>> found = Library::instance();
  if (!found) {
    log.warning(what, found.error().message);
    return nullptr;
  }
  return &found->get();
}

}  // namespace

plugin::MakeLibraryHandles library_handles(Device& device, nv::TacticSources sources, Log& log) {
  if (device.kind() != DeviceKind::kCuda) {
    log.info("plugins of version 2 get null as the cuDNN and cuBLAS handles of attachToContext: they run on the CPU");
    return nullptr;
  }
  const Libraries libraries{
      .cudnn = library_of<cuda::Cudnn>(nv::TacticSource::kCUDNN, "cuDNN", "kCUDNN", sources, log),
      .cublas = library_of<cuda::Cublas>(nv::TacticSource::kCUBLAS, "cuBLAS", "kCUBLAS", sources, log)};
  if (!libraries.cudnn && !libraries.cublas) return nullptr;
  const auto& on = static_cast<const cuda::CudaDevice&>(device);
  return [&on, libraries] { return CudaHandles::make(on, libraries); };
}

}  // namespace kiln::api
