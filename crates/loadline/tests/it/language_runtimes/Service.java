import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** A service that makes garbage on each request. */
public class Service {
    static volatile byte[][] kept;

    public static void main(String[] arguments) throws Exception {
        var server = HttpServer.create(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])), 0);
        server.createContext("/", exchange -> {
            // One MiB, of arrays that no collector holds for large ones.
            kept = new byte[64][1 << 14];
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
    }
}
