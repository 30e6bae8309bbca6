package io.loadline.vertx;

import io.loadline.service.Orders;
import io.loadline.service.Settings;
import io.loadline.service.Telemetry;
import io.loadline.service.Values;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;

/** A verticle has one event loop, so there is one for each processor; all share what they answer from. */
public final class Service {
    private Service() {
    }

    public static void main(String[] args) {
        var settings = Settings.fromEnvironment("reactive");
        var values = new Values();
        var orders = new Orders(settings);
        var telemetry = new Telemetry();
        var vertx = Vertx.vertx();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            vertx.close().await();
            telemetry.close();
        }));
        vertx.deployVerticle(
                        () -> new HttpVerticle(settings, values, orders, telemetry),
                        new DeploymentOptions().setInstances(Runtime.getRuntime().availableProcessors()))
                .await();
    }
}
