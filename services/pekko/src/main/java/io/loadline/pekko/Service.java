package io.loadline.pekko;

import io.loadline.service.Orders;
import io.loadline.service.Settings;
import io.loadline.service.Telemetry;
import io.loadline.service.Values;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.Done;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.http.javadsl.Http;

public final class Service {
    private Service() {
    }

    public static void main(String[] args) {
        var settings = Settings.fromEnvironment("reactive");
        var telemetry = new Telemetry();
        var routes = new Routes(new Values(), new Orders(settings), telemetry);
        var system = ActorSystem.create(Behaviors.empty(), "service");
        // A task of the shutdown, which the JVM waits for: it does not wait for what follows the system's termination.
        CoordinatedShutdown.get(system).addTask(CoordinatedShutdown.PhaseBeforeActorSystemTerminate(), "push metrics",
                () -> CompletableFuture.supplyAsync(() -> {
                    telemetry.close();
                    return Done.getInstance();
                }));
        Http.get(system)
                .newServerAt("0.0.0.0", settings.port())
                .bind(routes.all())
                .thenAccept(binding -> binding.addToCoordinatedShutdown(Duration.ofSeconds(4), system))
                .exceptionally(e -> {
                    system.log().error("cannot listen on port {}", settings.port(), e);
                    system.terminate();
                    return null;
                });
    }
}
