package io.loadline.spark;

import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ThreadPool;
import spark.embeddedserver.VirtualThreadAware;
import spark.embeddedserver.jetty.JettyServerFactory;

/** Spark's own Jetty, but one that answers the requests it has begun before it stops. */
final class GracefulJetty extends VirtualThreadAware.Base implements JettyServerFactory {
    @Override
    public Server create(int maxThreads, int minThreads, int threadTimeoutMillis) {
        return create(null);
    }

    @Override
    public Server create(ThreadPool none) {
        var threads = new QueuedThreadPool();
        if (useVThread) {
            threads.setVirtualThreadsExecutor(VirtualThreads.getDefaultVirtualThreadsExecutor());
        }
        var server = new Server(threads);
        server.setStopTimeout(5_000);
        return server;
    }
}
