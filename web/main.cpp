// SPDX-License-Identifier: Apache-2.0
// Starts the page's C++: the default run, at rest. The page's script takes it from there
// (bridge.cpp).
#include "web/platform.hpp"

int main() {
    ringscope::App& app = ringscope::the_app();
    RS_CHECK(ringscope::show_simulation(app, app.run, ringscope::Keep::nothing));
    ringscope::stay();
    return 0;
}
