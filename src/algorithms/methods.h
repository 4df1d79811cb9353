#pragma once
#include "fedvg/method.h"
