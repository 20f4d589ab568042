// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an Error that tells a person which field, which value and what is allowed.
//
// For what the world does wrong: input, files, devices. Never for our own mistakes (check.hpp).
// Use:  Result<int64_t> bytes = parse_bytes("bytes", text);
//       if (!bytes) return bytes.error();
//       use(*bytes);
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "shared/check.hpp"

namespace ringscope {

enum class ErrorKind { invalid_argument, unsupported, device };

// `field`, `value` and `allowed` are empty where the error is not about one field.
struct Error {
    ErrorKind kind = ErrorKind::invalid_argument;
    std::string message;
    std::string field;
    std::string value;
    std::string allowed;
};

// "ranks=0: must be 1 to 4096". Long values are cut for the message, so that hostile input stays
// short.
Error invalid_field(std::string field, std::string value, std::string allowed);

// An error without a field: "this build has no CUDA engine".
Error plain_error(ErrorKind kind, std::string message);

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value)
        : state_(std::in_place_index<0>, std::move(value)) {
    }  // NOLINT(google-explicit-constructor)
    Result(Error error)
        : state_(std::in_place_index<1>, std::move(error)) {
    }  // NOLINT(google-explicit-constructor)

    explicit operator bool() const { return state_.index() == 0; }
    T& operator*() {
        RS_CHECK(state_.index() == 0);
        return *std::get_if<0>(&state_);
    }
    const T& operator*() const {
        RS_CHECK(state_.index() == 0);
        return *std::get_if<0>(&state_);
    }
    T* operator->() { return &**this; }
    const T* operator->() const { return &**this; }
    const Error& error() const {
        RS_CHECK(state_.index() == 1);
        return *std::get_if<1>(&state_);
    }

  private:
    std::variant<T, Error> state_;
};

// The Result of something that returns nothing.
struct Done {};
using Status = Result<Done>;

}  // namespace ringscope
