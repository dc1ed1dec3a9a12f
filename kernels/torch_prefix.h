// Precompiled for every unit that uses LibTorch: reading these headers is most of such a unit's compile time.
#pragma once

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>
