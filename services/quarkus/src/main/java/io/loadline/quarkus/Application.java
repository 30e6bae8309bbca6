package io.loadline.quarkus;

import io.loadline.service.Orders;
import io.loadline.service.Settings;
import io.loadline.service.Telemetry;
import io.loadline.service.Values;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.Startup;
import io.quarkus.runtime.annotations.QuarkusMain;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

@QuarkusMain
public class Application {
    public static void main(String... args) {
        settings();
        Quarkus.run(args);
    }

    @Produces
    @Singleton
    static Settings settings() {
        return Settings.fromEnvironment("platform", "virtual", "reactive");
    }

    @Produces
    @Singleton
    @Startup
    Orders orders(Settings settings) {
        return new Orders(settings);
    }

    @Produces
    @Singleton
    @Startup
    Values values() {
        return new Values();
    }

    @Produces
    @Singleton
    @Startup
    Telemetry telemetry() {
        return new Telemetry();
    }

    void close(@Disposes Telemetry telemetry) {
        telemetry.close();
    }
}
