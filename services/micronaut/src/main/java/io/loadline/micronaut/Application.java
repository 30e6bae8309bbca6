package io.loadline.micronaut;

import io.loadline.service.Order;
import io.loadline.service.Settings;
import io.micronaut.runtime.Micronaut;
import io.micronaut.serde.annotation.SerdeImport;
import java.util.Map;

/** The mode is a property, by which Micronaut takes the controller that has it. */
@SerdeImport(Order.class)
public class Application {
    public static void main(String[] args) {
        var settings = Settings.fromEnvironment("platform", "virtual", "reactive");
        Micronaut.build(args)
                .mainClass(Application.class)
                .properties(Map.of("service.mode", settings.mode()))
                .singletons(settings)
                .start();
    }
}
