// A stand-in for cuBLAS and cuDNN that makes handles and computes nothing: KILN_CUBLAS and KILN_CUDNN name it.
#include <atomic>
#include <cstddef>

namespace {

std::atomic<int> alive = 0;

int make(void** handle) {
  *handle = new char;
  ++alive;
  return 0;
}
int drop(void* handle) {
  delete static_cast<char*>(handle);
  --alive;
  return 0;
}

}  // namespace

extern "C" {

/// cuBLAS handles that were made and not destroyed.
int kiln_fake_cublas_handles() { return alive; }
int cublasCreate_v2(void** handle) { return make(handle); }
int cublasDestroy_v2(void* handle) { return drop(handle); }
int cublasSetStream_v2(void*, void*) { return 0; }
int cublasSscal_v2(void*, int, const float*, float*, int) { return 0; }

size_t cudnnGetVersion() { return 91'400; }
const char* cudnnGetErrorString(int) { return "a status of the stand-in"; }
void cudnnGetLastErrorString(char* message, size_t most) {
  if (most > 0) *message = '\0';
}
int cudnnCreate(void** handle) {
  *handle = new char;
  return 0;
}
int cudnnDestroy(void* handle) {
  delete static_cast<char*>(handle);
  return 0;
}
int cudnnSetStream(void*, void*) { return 0; }
int cudnnBackendCreateDescriptor(int, void**) { return 3000; }  // not supported
int cudnnBackendDestroyDescriptor(void*) { return 0; }
int cudnnBackendFinalize(void*) { return 3000; }
int cudnnBackendSetAttribute(void*, int, int, long, const void*) { return 3000; }
int cudnnBackendGetAttribute(void*, int, int, long, long*, void*) { return 3000; }
int cudnnBackendExecute(void*, void*, void*) { return 3000; }

}  // extern "C"
