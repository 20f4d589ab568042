// SPDX-License-Identifier: Apache-2.0
// Starts the page's C++: the inputs of the default run, which the first picture shows. The page's
// script takes it from there (bridge.cpp).
#include "web/platform.hpp"

int main() {
    ringscope::App& app = ringscope::the_app();
    RS_CHECK(ringscope::show_inputs(app, app.run));
    ringscope::stay();
    return 0;
}
