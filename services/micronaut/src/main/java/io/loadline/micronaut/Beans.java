package io.loadline.micronaut;

import io.loadline.service.Orders;
import io.loadline.service.Settings;
import io.loadline.service.Telemetry;
import io.loadline.service.Values;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Factory;

@Factory
class Beans {
    @Context
    Orders orders(Settings settings) {
        return new Orders(settings);
    }

    @Context
    Values values() {
        return new Values();
    }

    @Context
    @Bean(preDestroy = "close")
    Telemetry telemetry() {
        return new Telemetry();
    }
}
