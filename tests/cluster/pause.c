// What holds a pod's namespaces open while its containers come and go.
#include <signal.h>
#include <unistd.h>

static void end(int signal) { _exit(signal == SIGTERM ? 0 : 1); }

int main(void) {
    signal(SIGTERM, end);
    signal(SIGINT, end);
    // Ignored, so that the kernel reaps what the pod's containers orphan (wait(2), notes).
    signal(SIGCHLD, SIG_IGN);
    for (;;) pause();
}
