package io.loadline.dropwizard;

import io.dropwizard.configuration.EnvironmentVariableSubstitutor;
import io.dropwizard.configuration.ResourceConfigurationSourceProvider;
import io.dropwizard.configuration.SubstitutingSourceProvider;
import io.dropwizard.core.Application;
import io.dropwizard.core.Configuration;
import io.dropwizard.core.setup.Bootstrap;
import io.dropwizard.core.setup.Environment;
import io.dropwizard.lifecycle.AutoCloseableManager;
import io.loadline.service.Orders;
import io.loadline.service.Settings;
import io.loadline.service.Telemetry;
import io.loadline.service.Values;

public final class Service extends Application<Configuration> {
    private final Settings settings = Settings.fromEnvironment("platform");

    public static void main(String[] args) throws Exception {
        new Service().run("server", "config.yml");
    }

    @Override
    public void initialize(Bootstrap<Configuration> bootstrap) {
        bootstrap.setConfigurationSourceProvider(new SubstitutingSourceProvider(
                new ResourceConfigurationSourceProvider(), new EnvironmentVariableSubstitutor(false)));
    }

    @Override
    public void run(Configuration configuration, Environment environment) {
        var telemetry = new Telemetry();
        environment.lifecycle().manage(new AutoCloseableManager(telemetry));
        var jersey = environment.jersey();
        jersey.register(new HelloResource(new Values()));
        jersey.register(new OrdersResource(new Orders(settings), telemetry));
        jersey.register(new CpuResource());
        jersey.register(new StateResource(telemetry));
        jersey.register(new RequestFilter(telemetry));
    }
}
