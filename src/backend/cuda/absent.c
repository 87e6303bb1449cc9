/* The CUDA functions of a build without CUDA: errors that say so. */
#include "backend/device.h"
#include "base/status.h"

#if !TALUS_CUDA_BACKEND
bool tl_device_has_cuda(void) { return false; }

void tl_device_describe_cuda(char *text, size_t size) {
  if (size > 0)
    text[0] = '\0';
}

talus_status tl_device_open_cuda(tl_device **device) {
  *device = NULL;
  return tl_fail(TALUS_ERROR_UNSUPPORTED, "this build has no backend cuda; build it where nvcc is, "
                                          "with -DTALUS_WITH_CUDA=ON");
}
#else
typedef int tl_has_cuda; /* a file must not be empty */
#endif
