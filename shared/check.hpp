// SPDX-License-Identifier: Apache-2.0
// RS_CHECK(condition): what we did wrong, as opposed to what the world did wrong (see result.hpp).
//
// On in every build. A failed check ends the process; in the page it ends the module and the page
// shows the message with a reload button, in the daemon only the worker process ends.
#pragma once

namespace ringscope {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace ringscope

#define RS_CHECK(condition)                                            \
    do {                                                               \
        if (!(condition)) [[unlikely]] {                               \
            ::ringscope::check_failed(#condition, __FILE__, __LINE__); \
        }                                                              \
    } while (false)
