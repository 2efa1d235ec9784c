/* SPDX-License-Identifier: Apache-2.0 */
#include "base/deadline.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

int dg_deadline_open(double seconds)
{
    static const double least = 1e-9, most = 1e9;   /* zero would stop it, a year is for ever */
    double limit = seconds > most ? most : seconds > least ? seconds : least;
    struct itimerspec timer = { .it_value.tv_sec = (time_t)limit };
    timer.it_value.tv_nsec = (long)((limit - (double)timer.it_value.tv_sec) * 1e9);
    int deadline = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (deadline >= 0 && timerfd_settime(deadline, 0, &timer, NULL) != 0) {
        close(deadline);
        return -1;
    }
    return deadline;
}

bool dg_deadline_read(int deadline, int input)
{
    struct pollfd ready[] = { { .fd = deadline, .events = POLLIN },
                              { .fd = input, .events = POLLIN } };
    int count;
    do
        count = poll(ready, 2, -1);
    while (count < 0 && errno == EINTR);
    return count > 0 && ready[0].revents == 0;
}

/* A child says nothing when it ends, so it is asked again every millisecond. */
static bool ended(int deadline, pid_t pid, int *status)
{
    struct pollfd ready = { .fd = deadline, .events = POLLIN };
    for (int wait = 0; poll(&ready, 1, wait) <= 0; wait = 1) {
        pid_t done = waitpid(pid, status, WNOHANG);
        if (done < 0 && errno != EINTR)
            *status = 255 << 8;
        if (done == pid || (done < 0 && errno != EINTR))
            return true;
    }
    return false;
}

bool dg_deadline_reap(int deadline, pid_t pid, int *status)
{
    if (ended(deadline, pid, status))
        return true;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        continue;
    return false;
}
