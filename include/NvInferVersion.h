// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Version of the API that these headers declare: TensorRT 10.16.

#ifndef KILN_NV_INFER_VERSION_H
#define KILN_NV_INFER_VERSION_H

#define TRT_MAJOR_ENTERPRISE 10                       //!< Major version of the API.
#define TRT_MINOR_ENTERPRISE 16                       //!< Minor version of the API.
#define TRT_PATCH_ENTERPRISE 0                        //!< Patch version of the API.
#define TRT_BUILD_ENTERPRISE 72                       //!< Build number of the API.
#define NV_TENSORRT_MAJOR TRT_MAJOR_ENTERPRISE        //!< Major version; it changes when programs have to be adapted.
#define NV_TENSORRT_MINOR TRT_MINOR_ENTERPRISE        //!< Minor version; it changes when something is added.
#define NV_TENSORRT_PATCH TRT_PATCH_ENTERPRISE        //!< Patch version; it changes when defects are mended.
#define NV_TENSORRT_BUILD TRT_BUILD_ENTERPRISE        //!< Build number.
#define NV_TENSORRT_LWS_MAJOR 0                       //!< Major version of the lightweight safety API; there is none.
#define NV_TENSORRT_LWS_MINOR 0                       //!< Minor version of the lightweight safety API; there is none.
#define NV_TENSORRT_LWS_PATCH 0                       //!< Patch version of the lightweight safety API; there is none.
#define NV_TENSORRT_RELEASE_TYPE_EARLY_ACCESS 0       //!< A preview for trying out.
#define NV_TENSORRT_RELEASE_TYPE_RELEASE_CANDIDATE 1  //!< A release that is still being tested.
#define NV_TENSORRT_RELEASE_TYPE_GENERAL_AVAILABILITY 2  //!< A release for production.
#define NV_TENSORRT_RELEASE_TYPE \
  NV_TENSORRT_RELEASE_TYPE_GENERAL_AVAILABILITY  //!< Which of the three the API level is.

#endif  // KILN_NV_INFER_VERSION_H
