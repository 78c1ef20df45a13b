// The table's entries that end nonblocking requests.
#pragma once

namespace forebay::pnc {

int wait(void*, int count, int* requests, int* statuses, int how);
int cancel(void*, int count, int* requests, int* statuses);

}  // namespace forebay::pnc
