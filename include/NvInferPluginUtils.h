// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters of plugins in the standard plugin library.

#ifndef KILN_NV_INFER_PLUGIN_UTILS_H
#define KILN_NV_INFER_PLUGIN_UTILS_H

#include "NvInferRuntimeCommon.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace nvinfer1 {
namespace plugin {

//! Parameters of the PriorBox plugin, which makes the default boxes of a detector.
struct PriorBoxParameters {
  float* minSize;           //!< Smallest box edges, pixels.
  float* maxSize;           //!< Largest box edges, pixels.
  float* aspectRatios;      //!< Width divided by height.
  int32_t numMinSize;       //!< Number of smallest edges.
  int32_t numMaxSize;       //!< Number of largest edges.
  int32_t numAspectRatios;  //!< Number of ratios.
  bool flip;                //!< Also use the inverse ratios.
  bool clip;                //!< Limit boxes to the image.
  float variance[4];        //!< Factors for encoding boxes.
  int32_t imgH;             //!< Height of the image, or 0: that of the input.
  int32_t imgW;             //!< Width of the image, or 0: that of the input.
  float stepH;              //!< Rows between boxes, or 0: from the sizes.
  float stepW;              //!< Columns between boxes, or 0: from the sizes.
  float offset;             //!< Position of the centre in a cell, 0 to 1.
};

//! Parameters of the RPROI plugin: region proposals and pooling of regions.
struct RPROIParams {
  int32_t poolingH;           //!< Rows of a pooled region.
  int32_t poolingW;           //!< Columns of a pooled region.
  int32_t featureStride;      //!< Pixels of the image for an element of the features.
  int32_t preNmsTop;          //!< Boxes kept before suppression.
  int32_t nmsMaxOut;          //!< Boxes kept after it.
  int32_t anchorsRatioCount;  //!< Number of aspect ratios.
  int32_t anchorsScaleCount;  //!< Number of scales.
  float iouThreshold;         //!< Overlap above which a box is suppressed.
  float minBoxSize;           //!< Smallest box edge before scaling.
  float spatialScale;         //!< Element of the features for a pixel of the image.
};

//! Parameters of the GridAnchor plugin, which makes the default boxes of feature maps.
struct GridAnchorParameters {
  float minSize;            //!< Scale of the first feature map's boxes.
  float maxSize;            //!< Scale of the last feature map's boxes.
  float* aspectRatios;      //!< Width divided by height.
  int32_t numAspectRatios;  //!< Number of ratios.
  int32_t H;                //!< Rows of the feature map.
  int32_t W;                //!< Columns of the feature map.
  float variance[4];        //!< Factors for encoding boxes.
};

//! How a detector encodes a box. Deprecated with DetectionOutputParameters.
enum class CodeTypeSSD : int32_t {
  //! Offsets of the corners. Deprecated: nothing replaces it.
  CORNER TRT_DEPRECATED_ENUM = 0,
  //! Offset of the centre, logarithm of the size. Deprecated: nothing replaces it.
  CENTER_SIZE TRT_DEPRECATED_ENUM = 1,
  //! Offsets of the corners relative to the size. Deprecated: nothing replaces it.
  CORNER_SIZE TRT_DEPRECATED_ENUM = 2,
  //! As CENTER_SIZE, in the order y, x, height, width. Deprecated: nothing replaces it.
  TF_CENTER TRT_DEPRECATED_ENUM = 3,
};

//! Parameters of the DetectionOutput plugin: boxes from locations and confidences. Deprecated: use INMSLayer.
struct TRT_DEPRECATED DetectionOutputParameters {
  bool shareLocation;            //!< All classes have the same boxes.
  bool varianceEncodedInTarget;  //!< The factors are in the locations already.
  int32_t backgroundLabelId;     //!< Class of the background, or -1.
  int32_t numClasses;            //!< Number of classes.
  int32_t topK;                  //!< Boxes kept before suppression.
  int32_t keepTopK;              //!< Boxes kept after it.
  float confidenceThreshold;     //!< Least confidence.
  float nmsThreshold;            //!< Overlap above which a box is suppressed.
  CodeTypeSSD codeType;          //!< Encoding of boxes.
  int32_t inputOrder[3];         //!< Which input holds locations, confidences, default boxes.
  bool confSigmoid;              //!< Apply a sigmoid to the confidences.
  bool isNormalized;             //!< Boxes are in 0 to 1, not in pixels.
  bool isBatchAgnostic = true;   //!< Images have no batch dimension of default boxes.
};

//! Hierarchy of classes over which softmaxes are computed.
struct softmaxTree {
  int32_t* leaf;         //!< Whether a class has no children.
  int32_t n;             //!< Number of classes.
  int32_t* parent;       //!< Parent of a class, or -1.
  int32_t* child;        //!< First child of a class, or -1.
  int32_t* group;        //!< Group of a class.
  char** name;           //!< Name of a class.
  int32_t groups;        //!< Number of groups.
  int32_t* groupSize;    //!< Number of classes of a group.
  int32_t* groupOffset;  //!< First class of a group.
};

//! Parameters of the Region plugin of YOLO version 2.
struct RegionParameters {
  int32_t num;          //!< Boxes of a cell.
  int32_t coords;       //!< Numbers of a box.
  int32_t classes;      //!< Number of classes.
  softmaxTree* smTree;  //!< Hierarchy of classes, or null.
};

//! Parameters of the BatchedNMS plugin. Deprecated: use INMSLayer.
struct TRT_DEPRECATED NMSParameters {
  bool shareLocation;         //!< All classes have the same boxes.
  int32_t backgroundLabelId;  //!< Class of the background, or -1.
  int32_t numClasses;         //!< Number of classes.
  int32_t topK;               //!< Boxes kept before suppression.
  int32_t keepTopK;           //!< Boxes kept after it.
  float scoreThreshold;       //!< Least score.
  float iouThreshold;         //!< Overlap above which a box is suppressed.
  bool isNormalized;          //!< Boxes are in 0 to 1, not in pixels.
};

}  // namespace plugin
}  // namespace nvinfer1

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_NV_INFER_PLUGIN_UTILS_H
