// SPDX-License-Identifier: Apache-2.0
// PageFiles: the page, read into memory when the daemon starts. A request is answered by looking
// its path up among the names, so no spelling of a path can reach another file, and nothing can be
// listed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "shared/result.hpp"

namespace ringscope {

struct PageFile {
    std::string_view content_type;
    std::string content;
    std::string etag;
};

class PageFiles {
  public:
    // No page: nothing is found.
    PageFiles() = default;

    // All regular files below `folder`; links are not followed. Errors: no index.html, a file that
    // cannot be read, more than a page's worth of bytes.
    static Result<PageFiles> load(const std::string& folder);

    // "/" is "/index.html". Null when there is none.
    const PageFile* find(std::string_view path) const;

    bool empty() const { return files_.empty(); }

  private:
    std::map<std::string, PageFile, std::less<>> files_;  // by path, "/index.html"
};

}  // namespace ringscope
