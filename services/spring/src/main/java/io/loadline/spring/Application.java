package io.loadline.spring;

import io.loadline.service.Orders;
import io.loadline.service.Settings;
import io.loadline.service.Telemetry;
import io.loadline.service.Values;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** The mode is a Spring profile: each has its properties, and the controller and filter of its stack. */
@SpringBootApplication(proxyBeanMethods = false)
public class Application {
    public static void main(String[] args) {
        var application = new SpringApplication(Application.class);
        application.setAdditionalProfiles(settings().mode());
        application.run(args);
    }

    @Bean
    static Settings settings() {
        return Settings.fromEnvironment("platform", "virtual", "reactive");
    }

    @Bean
    Orders orders(Settings settings) {
        return new Orders(settings);
    }

    @Bean
    Values values() {
        return new Values();
    }

    @Bean
    Telemetry telemetry() {
        return new Telemetry();
    }
}
