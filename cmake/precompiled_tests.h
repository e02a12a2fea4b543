// What nearly every test includes, compiled once (KilnBuildTime.cmake).
#pragma once

#include <gtest/gtest.h>

#include "precompiled.h"
